"""What the user has attached to a question or mentions in it, found: files, folders, and the scope."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice

from stet.context.current_document import CurrentDocument
from stet.system.system import FileKind
from stet.text.document import TextDocument
from stet.workspace.attachments import Attachments
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot
from stet.workspace.uris import canonical, path_of

MAX_NAMES = 200
"""How many names of a folder's files are listed."""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that was named, or lies in a folder that was.

    Attributes:
        document: The file's text when it was read.
        name: What the model calls it.
        mtime: Seconds since the epoch; None where it is on no disk.
        is_whole: Whether all of it is wanted, not only its first lines.
    """

    document: TextDocument
    name: str
    mtime: float | None
    is_whole: bool


@dataclass(frozen=True, slots=True)
class AttachedFolder:
    """A folder that was named.

    Attributes:
        name: What the model calls it.
        files: Names of the files in it and below that may be shown, at most `MAX_NAMES`.
        is_cut: Whether there are more.
    """

    name: str
    files: tuple[str, ...]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class CollectedAttachments:
    """What was named.

    Attributes:
        files: In the order they were named, each once; the current file is not among them.
        folders: In that order.
        problems: What was named and can't be shown, a sentence each.
        hidden: The same where the model is not to know of it: the privacy filter is against it.
    """

    files: tuple[AttachedFile, ...] = ()
    folders: tuple[AttachedFolder, ...] = ()
    problems: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def whole_files(self) -> frozenset[str]:
        """Canonical URIs of the files that are shown whole."""
        return frozenset(canonical(file.document.uri) for file in self.files if file.is_whole)


class AttachmentCollector:
    """Takes what is named, piece by piece. Asks the disk: for a worker thread.

    Attributes:
        files: What was found so far, by canonical URI.
        folders: The folders.
    """

    def __init__(
        self, snapshot: Snapshot, current: CurrentDocument | None, exclude: Collection[str] = ()
    ) -> None:
        """Nothing is named yet; the current file and those of `exclude` (keys) stand elsewhere."""
        self.files: dict[str, AttachedFile] = {}
        self.folders: list[AttachedFolder] = []
        self._snapshot = snapshot
        self._exclude = set(exclude)
        if current is not None:
            self._exclude.add(canonical(current.document.uri))

    def is_folder(self, located: Located) -> bool:
        """Whether it is a folder that is there, and no document that is open."""
        if located.path is None or self._snapshot.document(located.uri) is not None:
            return False
        system = self._snapshot.system
        stat = system.stat(system.real_path(located.path))
        return stat is not None and stat.kind is FileKind.FOLDER

    def add_folder(self, located: Located) -> None:
        """Add the names of a folder's files, and the first lines of some files."""
        files = list(islice(self._snapshot.walk(located.name), MAX_NAMES + 1))
        names = tuple(each.name for each in files[:MAX_NAMES])
        self.folders.append(AttachedFolder(located.name, names, len(files) > MAX_NAMES))
        for file in files[: self._snapshot.settings.context.max_files]:
            self._add(file, is_whole=False)

    def add_file(self, located: Located) -> None:
        """Add a whole file.

        Raises:
            NotShown: If it can't be shown.
        """
        self._add(located, is_whole=True)

    def _add(self, located: Located, *, is_whole: bool) -> None:
        key = canonical(located.uri)
        if key in self._exclude:
            return
        if key in self.files and (self.files[key].is_whole or not is_whole):
            return
        try:
            document = self._snapshot.show(located.uri)
        except NotShown:
            if is_whole:
                raise
            return
        mtime = self._snapshot.mtime(located.uri)
        self.files[key] = AttachedFile(document, located.name, mtime, is_whole)


_NOT_HIDDEN = NO_TEXT | {"missing", "special", "unreadable"}
"""Rules of `NotShown` that say nothing of what the user hides."""


def with_scope(snapshot: Snapshot, attachments: Attachments) -> Snapshot:
    """Return the snapshot with the scope that the attachments ask for, if any."""
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
    """Return the attachments, except the files of `exclude` (keys). Reads the disk: for a worker
    thread.
    """
    collector = AttachmentCollector(snapshot, current, exclude)
    problems: list[str] = []
    hidden = list(attachments.problems)
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
            problems.append(f"{located.name}: There is no such folder.")
        else:
            try:
                collector.add_folder(located)
            except PathRefused as refused_path:
                hidden.append(f"{located.name}: {refused_path.message}")
    files, folders = tuple(collector.files.values()), tuple(collector.folders)
    return CollectedAttachments(files, folders, tuple(problems), tuple(hidden))
