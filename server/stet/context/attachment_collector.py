"""Find the files of a question: attached files, mentioned files, and those of `context.scope`.

The user attaches files and folders, or mentions them as `@path`, `@folder/` and `@selection`:

    Compare @src/app.py with @"my notes/old draft.md" and the files in @docs/

A mention begins a word. A name that contains a blank is put in double quotes. A bare word (`add
@property`) is a mention only if there is such a file. A name with a dot or a slash that names no
file is reported to the model and the user; it is no error. Files of the scope are found breadth
first.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from stet.context.context_values import CurrentDocument
from stet.links.link_scan import LinkGraph, scan_links
from stet.system.system import FileKind
from stet.text.document import TextDocument
from stet.workspace.attachments import Attachments
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot
from stet.workspace.uris import canonical, path_of

MAX_NAMES = 200
"""The maximum number of listed names of a folder's files."""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that was named, is in a named folder, or is in scope.

    Attributes:
        document: The file's text when it was read.
        name: The file's name for the model.
        mtime: The time of the last write, in seconds since the epoch; None if it is not on disk.
        is_whole: Whether the whole file is shown, not only its first lines.
    """

    document: TextDocument
    name: str
    mtime: float | None
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class AttachedFolder:
    """A folder that was named.

    Attributes:
        name: The folder's name for the model.
        files: The names of the files that may be shown in and below it, at most `MAX_NAMES`.
        is_cut: Whether there are more files.
    """

    name: str
    files: tuple[str, ...]
    is_cut: bool


@dataclass(slots=True)
class CollectedAttachments:
    """The files and folders that were named.

    Attributes:
        files: The files by canonical URI, in the order of naming, without the current file.
        folders: The folders, in the order of naming.
        problems: One sentence for each name that can't be shown.
        hidden: The problems that only the user may read, because the privacy filter hides a file.
    """

    files: dict[str, AttachedFile] = field(default_factory=dict)
    folders: list[AttachedFolder] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    @property
    def whole_files(self) -> frozenset[str]:
        """Canonical URIs of the files that are shown whole."""
        return frozenset(uri for uri, file in self.files.items() if file.is_whole)


class AttachmentCollector:
    """The collector of named files and folders. It reads the disk: for a worker thread.

    Attributes:
        collected: The files and folders that were added.
    """

    def __init__(
        self, snapshot: Snapshot, current: CurrentDocument | None, exclude: Collection[str] = ()
    ) -> None:
        """Create an empty collector; skip the current file and the files of `exclude` (keys)."""
        self.collected = CollectedAttachments()
        self._snapshot = snapshot
        self._exclude = set(exclude)
        if current is not None:
            self._exclude.add(canonical(current.document.uri))

    def is_folder(self, located: Located) -> bool:
        """Return whether a path is an existing folder and not an open document."""
        if located.path is None or self._snapshot.document(located.uri) is not None:
            return False
        system = self._snapshot.system
        stat = system.stat(system.real_path(located.path))
        return stat is not None and stat.kind is FileKind.FOLDER

    def add_folder(self, located: Located) -> None:
        """Add the names of a folder's files, and the first lines of some files."""
        files = list(islice(self._snapshot.walk(located.name), MAX_NAMES + 1))
        names = tuple(each.name for each in files[:MAX_NAMES])
        self.collected.folders.append(AttachedFolder(located.name, names, len(files) > MAX_NAMES))
        for file in files[: self._snapshot.settings.context.max_files]:
            with suppress(NotShown):
                self.add_file(file, is_whole=False)

    def add_file(self, located: Located, *, is_whole: bool = True) -> None:
        """Add a file, or only its first lines.

        Raises:
            NotShown: If the file can't be shown.
        """
        key = canonical(located.uri)
        known = self.collected.files.get(key)
        if key in self._exclude or (known is not None and (known.is_whole or not is_whole)):
            return
        document, mtime = self._snapshot.show(located.uri), self._snapshot.mtime(located.uri)
        self.collected.files[key] = AttachedFile(document, located.name, mtime, is_whole)


_NOT_HIDDEN = NO_TEXT | {"missing", "special", "unreadable"}
"""Rules of `NotShown` that do not reveal which files the user hides."""


def with_scope(snapshot: Snapshot, attachments: Attachments) -> Snapshot:
    """Return the snapshot with the scope of the attachments, if they have one."""
    now = snapshot.settings.context
    depth = attachments.link_depth
    context = replace(
        now,
        scope=attachments.scope or now.scope,
        link_depth=now.link_depth if depth is None else depth,
    )
    return replace(snapshot, settings=replace(snapshot.settings, context=context))


def collect_attachments(
    snapshot: Snapshot,
    attachments: Attachments,
    current: CurrentDocument | None,
    exclude: Collection[str] = (),
) -> CollectedAttachments:
    """Return the attachments, except the files of `exclude` (keys). This reads the disk: call in a
    worker thread.
    """
    collector = AttachmentCollector(snapshot, current, exclude)
    problems, hidden = collector.collected.problems, collector.collected.hidden
    hidden += attachments.problems
    for uri in attachments.files:
        located = Located(uri, path_of(uri), snapshot.name_of(uri))
        try:
            collector.add_file(located)
        except NotShown as refused:
            reasons = problems if refused.rule in _NOT_HIDDEN else hidden
            reasons.append(f"{located.name}: {refused.message}")
    for uri in attachments.folders:
        located = Located(uri, path_of(uri), snapshot.name_of(uri) or ".")
        refusal = None if located.path is None else snapshot.privacy().check_folder(located.path)
        if refusal is not None:
            hidden.append(f"{located.name}: {refusal.for_model}")
        elif not collector.is_folder(located):
            problems.append(f"{located.name}: no such folder.")
        else:
            try:
                collector.add_folder(located)
            except PathRefused as refused_path:
                hidden.append(f"{located.name}: {refused_path.message}")
    return collector.collected


MAX_MENTIONS = 20

_MENTION = re.compile(r'(?:^|(?<=[\s(\[{,;:]))@(?:"(?P<quoted>[^"\r\n]+)"|(?P<bare>[^\s"`@]+))')
_TRAILING = ".,;:!?)]}'"
"""Characters that may directly follow a name and are not part of it."""
SELECTION = "selection"


def parse_mentions(prompt: str) -> dict[str, bool]:
    """Return the names mentioned in a question, in order, and whether each can only be a name.

    The names are without `@` and quotes.
    """
    mentions: dict[str, bool] = {}
    for match in _MENTION.finditer(prompt):
        if (quoted := match["quoted"]) is not None:
            mentions.setdefault(quoted, True)
        elif name := match["bare"].rstrip(_TRAILING):
            mentions.setdefault(name, "/" in name or "." in name)
    return mentions


def collect_mentioned(
    snapshot: Snapshot, prompt: str, current: CurrentDocument | None
) -> CollectedAttachments:
    """Return the files and folders that a question mentions. Call in a worker thread: reads the
    disk.
    """
    mentions = parse_mentions(prompt)
    collector = AttachmentCollector(snapshot, current)
    problems = collector.collected.problems
    for name, is_sure in islice(mentions.items(), MAX_MENTIONS):
        if name == SELECTION:
            if current is None or not current.selected:
                problems.append("@selection: nothing is selected.")
            continue
        try:
            located = snapshot.locate(name)
            if collector.is_folder(located):
                collector.add_folder(located)
            else:
                collector.add_file(located)
        except (PathRefused, NotShown) as refused:
            if is_sure:
                problems.append(f"@{name}: {refused.message}")
    if len(mentions) > MAX_MENTIONS:
        problems.append(f"Only the first {MAX_MENTIONS} of {len(mentions)} mentions are attached.")
    return collector.collected


@dataclass(frozen=True, slots=True)
class ScopeFiles:
    """The files that the scope adds to the current file.

    Attributes:
        files: The files that are shown.
        left_out: The names of the files beyond `context.maxFiles`, the nearest first.
        is_partial: Whether there are so many files that not all of their links were read.
    """

    files: tuple[AttachedFile, ...] = ()
    left_out: tuple[str, ...] = ()
    is_partial: bool = False


def find_scope_files(
    snapshot: Snapshot,
    current: CurrentDocument | None,
    graph: LinkGraph | None = None,
    exclude: Collection[str] = (),
) -> ScopeFiles:
    """Return the files in scope, except the current file and the files of `exclude` (keys).

    This function blocks on the disk. Files at fewer links' distance come first. Of files at the
    same distance, files that are not on disk come first, then the latest written, then by name: so
    the same state always results in the same context. Files that may not be shown do not count
    towards `context.maxFiles`.
    """
    context = snapshot.settings.context
    if context.scope == "linked" and graph is None and current is not None:
        graph = scan_links(snapshot)
    skipped = {*exclude}
    if current is not None:
        skipped.add(canonical(current.document.uri))
    files: list[AttachedFile] = []
    left_out: list[str] = []
    for ring in _files_by_distance(snapshot, current, graph):
        for mtime, name, uri in _latest_first(snapshot, ring, skipped):
            if len(files) >= context.max_files:
                left_out.append(name)
                continue
            with suppress(NotShown):
                files.append(AttachedFile(snapshot.show(uri), name, mtime))
    is_partial = context.scope == "linked" and graph is not None and graph.is_cut
    return ScopeFiles(tuple(files), tuple(left_out), is_partial)


def _latest_first(
    snapshot: Snapshot, ring: Iterable[str], skipped: Collection[str]
) -> list[tuple[float | None, str, str]]:
    """Return time, name and URI of the files of one distance, sorted as `find_scope_files` says."""
    uris = (uri for uri in ring if canonical(uri) not in skipped)
    candidates = [(snapshot.mtime(uri), snapshot.name_of(uri), uri) for uri in uris]
    candidates.sort(key=lambda each: (each[0] is not None, -(each[0] or 0.0), each[1]))
    return candidates


def _files_by_distance(
    snapshot: Snapshot, current: CurrentDocument | None, graph: LinkGraph | None
) -> Iterator[Iterable[str]]:
    """Yield the URIs of the files in scope, those of one distance together."""
    scope = snapshot.settings.context.scope
    if scope == "open":
        privacy = snapshot.privacy()
        uris = (document.uri for document in snapshot.documents.values())
        yield [uri for uri in uris if privacy.check(uri) is None]
    elif scope == "folder" and current is not None:
        yield [file.uri for file in snapshot.siblings(current.document.uri)]
    elif scope == "linked" and current is not None and graph is not None:
        uri, n_known = current.document.uri, 0
        for depth in range(1, snapshot.settings.context.link_depth + 1):
            near = graph.neighbours(uri, depth)
            yield near[n_known:]
            n_known = len(near)
