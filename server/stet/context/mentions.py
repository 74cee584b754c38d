"""`@path`, `@folder/` and `@selection` in a question: what the user wants attached to it.

    Compare @src/app.py with @"my notes/old draft.md" and the files in @docs/

A mention begins a word. A name that holds a blank stands between double quotes. A bare word (`add
@property`) is a mention only if there is such a file; a name with a dot or a slash that leads
nowhere is told to the model and the user, and is no error.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from stet.context.current import Current
from stet.text.document import TextDocument
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical

MAX_MENTIONS = 20
MAX_NAMES = 200
"""How many names of a folder's files are listed."""

_MENTION = re.compile(r'(?:^|(?<=[\s(\[{,;:]))@(?:"(?P<quoted>[^"\r\n]+)"|(?P<bare>[^\s"`@]+))')
_BEHIND = ".,;:!?)]}'"
"""What may follow a name without a blank and is not part of it."""
SELECTION = "selection"


@dataclass(frozen=True, slots=True)
class Mention:
    """One name as it was written.

    Attributes:
        name: Without `@` and quotes.
        is_sure: Whether it can only be meant as a name.
    """

    name: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class MentionedFile:
    """A file that was mentioned, or lies in a folder that was.

    Attributes:
        document: As it was.
        name: What the model calls it.
        mtime: Seconds since the epoch; None where it is on no disk.
        is_whole: Whether all of it is wanted, not only its first lines.
    """

    document: TextDocument
    name: str
    mtime: float | None
    is_whole: bool


@dataclass(frozen=True, slots=True)
class MentionedFolder:
    """A folder that was mentioned.

    Attributes:
        name: What the model calls it.
        files: Names of the files in it and below that may be shown, at most `MAX_NAMES`.
        is_cut: Whether there are more.
    """

    name: str
    files: tuple[str, ...]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Mentioned:
    """What a question mentions.

    Attributes:
        files: In the order they were mentioned, each once; the current file is not among them.
        folders: In that order.
        problems: What was mentioned and can't be attached, a sentence each.
    """

    files: tuple[MentionedFile, ...] = ()
    folders: tuple[MentionedFolder, ...] = ()
    problems: tuple[str, ...] = ()


def mentions_in(prompt: str) -> tuple[Mention, ...]:
    """The mentions in a question, each once, in order."""
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(prompt):
        if (quoted := match["quoted"]) is not None:
            found.setdefault(quoted, Mention(quoted, is_sure=True))
        elif name := match["bare"].rstrip(_BEHIND):
            found.setdefault(name, Mention(name, is_sure="/" in name or "." in name))
    return tuple(found.values())


def find_mentioned(snapshot: Snapshot, prompt: str, current: Current | None) -> Mentioned:
    """What a question mentions. Asks the disk: call it in a worker thread."""
    wanted = mentions_in(prompt)
    looking = _Looking(snapshot, current)
    for mention in wanted[:MAX_MENTIONS]:
        looking.take(mention)
    if len(wanted) > MAX_MENTIONS:
        looking.problems.append(
            f"Only the first {MAX_MENTIONS} of {len(wanted)} mentions are attached."
        )
    return Mentioned(tuple(looking.files.values()), tuple(looking.folders), tuple(looking.problems))


class _Looking:
    """Collects what mentions lead to."""

    def __init__(self, snapshot: Snapshot, current: Current | None) -> None:
        self.files: dict[str, MentionedFile] = {}
        self.folders: list[MentionedFolder] = []
        self.problems: list[str] = []
        self._snapshot = snapshot
        self._current = current

    def take(self, mention: Mention) -> None:
        """Attach what is mentioned, or say why not."""
        if mention.name == SELECTION:
            if self._current is None or not self._current.selected:
                self.problems.append("@selection: nothing is selected.")
            return
        try:
            located = self._snapshot.locate(mention.name)
            if located.path is not None and self._is_folder(located):
                self._folder(located)
            else:
                self._file(located, is_whole=True)
        except PathRefused as refused:
            self._missing(mention, refused.message)
        except NotShown as refused:
            self._missing(mention, refused.message)

    def _missing(self, mention: Mention, why: str) -> None:
        if mention.is_sure:
            self.problems.append(f"@{mention.name}: {why}")

    def _is_folder(self, located: Located) -> bool:
        path = located.path
        assert path is not None
        if self._snapshot.document(located.uri) is not None:
            return False
        stat = self._snapshot.system.stat(self._snapshot.system.real_path(path))
        return stat is not None and stat.kind.value == "folder"

    def _folder(self, located: Located) -> None:
        found = list(islice(self._snapshot.walk(located.name), MAX_NAMES + 1))
        names = tuple(each.name for each in found[:MAX_NAMES])
        self.folders.append(MentionedFolder(located.name, names, len(found) > MAX_NAMES))
        for each in self._attached(found):
            self._file(each, is_whole=False)

    def _attached(self, found: Sequence[Located]) -> Sequence[Located]:
        """Of a folder's files those whose first lines are shown."""
        return found[: self._snapshot.settings.context.max_files]

    def _file(self, located: Located, *, is_whole: bool) -> None:
        key = canonical(located.uri)
        if self._current is not None and key == canonical(self._current.document.uri):
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
        self.files[key] = MentionedFile(document, located.name, mtime, is_whole)
