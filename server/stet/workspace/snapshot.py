"""The workspace at one moment: open documents over the disk, seen through the privacy filter.

A snapshot is frozen and cheap; a turn reads from one while the user goes on typing. `show` and
`walk` are the only paths by which text of the workspace reaches a tool or a model. They read the
disk: call them in a worker thread if the caller runs on the event loop.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from stet.privacy.redactor import Redactor
from stet.settings.values import Settings
from stet.system.system import FileKind, System
from stet.text.block_codec import InlineBlock
from stet.text.document import TextDocument
from stet.text.position import Range
from stet.text.stripped_document import StrippedDocument, strip_blocks
from stet.workspace.activity import ActivityView
from stet.workspace.disk_text import MAX_FILE_BYTES, decode, is_binary
from stet.workspace.ignore_rules import IgnoreRules
from stet.workspace.names import without_folders
from stet.workspace.paths import Located, Locator, Root
from stet.workspace.privacy_filter import PrivacyFilter
from stet.workspace.uris import canonical, path_of
from stet.workspace.walk import WalkMemory, WorkspaceWalk

NO_TEXT = frozenset({"binary", "too-large"})
"""Rules of `NotShown` for a file that exists and that no privacy rule refuses."""

_LINES_AROUND = 50
"""The number of lines around the shown lines of a very long text that are searched for secrets.

A secret may begin or end there."""
_LONG_LINE = 600_000
"""The number of code points of one line that are searched; the rest is never shown."""
_PIECE = 50_000
"""The number of code points that are searched at a time; the search holds the interpreter lock."""
_OVERLAP = 5
"""The number of lines that a piece shares with the piece before."""
_KEY_LINES = 500
"""Twice the maximum number of lines of a private key."""


class NotShown(Exception):
    """A document that can't be shown to a model, or may not be.

    Attributes:
        uri: The URI of the document.
        rule: A rule of the privacy filter, or `missing`, `special`, `binary`, `too-large`,
            `unreadable`.
        message: A sentence for a person or a model.
    """

    def __init__(self, uri: str, rule: str, message: str) -> None:
        self.uri = uri
        self.rule = rule
        self.message = without_folders(message)
        super().__init__(self.message)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The workspace at one moment.

    Attributes:
        system: The disk below the open documents.
        roots: The roots of the workspace.
        documents: The open documents, by canonical URI; look one up with `document`.
        activity: The user's location.
        settings: The settings in force.
        rules: The ignore files, read when needed and shared between snapshots.
        question_uri: URI of the document that the current question is about; None if there is none.
        is_question: Whether the snapshot is for a question: then only `question_uri` counts as
            asked about. Otherwise the active document counts.
        blocks: By canonical URI, the ids of hunks that may be in a text as blocks, which are no
            part of the file's content.
        placed: By canonical URI, the blocks in open texts that are too long to be searched.
        walk_memory: The decisions of walks, if they are kept; shared between snapshots.
        redactor: The redactor, which learns the private keys of shown texts: a part of a key alone
            can't be recognised.
    """

    system: System
    roots: tuple[Root, ...]
    documents: Mapping[str, TextDocument]
    activity: ActivityView
    settings: Settings
    rules: IgnoreRules
    question_uri: str | None = None
    is_question: bool = False
    blocks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    placed: Mapping[str, tuple[InlineBlock, ...]] = field(default_factory=dict)
    redactor: Redactor = field(default_factory=Redactor, compare=False)
    walk_memory: WalkMemory | None = field(default=None, compare=False)

    def asked_about(self, uri: str | None) -> "Snapshot":
        """Return the same snapshot for a question about this document only.

        Args:
            uri: The document; None if the question is about no document (see
                `stet.workspace.privacy_filter`).
        """
        return replace(self, question_uri=uri, is_question=True)

    def document(self, uri: str) -> TextDocument | None:
        """Return an open document, or None if the document is not open. The privacy filter is not
        applied: the text is for internal use.
        """
        return self.documents.get(canonical(uri))

    def exists(self, uri: str) -> bool:
        """Return whether a document is open or its path exists. The privacy filter is not applied,
        since no text is returned.
        """
        path = path_of(uri)
        return self.document(uri) is not None or (
            path is not None and self.system.stat(path) is not None
        )

    def show(self, uri: str) -> TextDocument:
        """Return the text of a document without blocks of proposals. Open text precedes the text on
        disk.

        Raises:
            NotShown: If the document may not be shown, or has no text.
        """
        document = self.document_with_blocks(uri)
        self._learn_private_keys(document)
        return self._without_blocks(document)

    def show_or_none(self, uri: str) -> TextDocument | None:
        """Return the text of a document as `show` does, or None if `show` raises `NotShown`."""
        try:
            return self.show(uri)
        except NotShown:
            return None

    def show_and_learn(self, uri: str) -> TextDocument:
        """Return the text as `show` does, and learn its secrets, so that any part can be shown.

        Raises:
            NotShown: As `show`.
        """
        document = self.show(uri)
        if self.settings.privacy.redact_secrets and not document.is_large:
            self.redactor.learn(document.text)
        return document

    def learn_around(self, document: TextDocument, first: int, end: int) -> None:
        """Learn the secrets in and around some shown lines of a very long text.

        Args:
            document: The text.
            first: The first of the lines, 0-based.
            end: The line after the last.
        """
        if self.settings.privacy.redact_secrets:
            low = max(0, first - _LINES_AROUND)
            lines = document.lines[low : end + _LINES_AROUND]
            for text in _parts(lines, first - low, end - low):
                self.redactor.learn(text)

    def show_walked(self, located: Located) -> TextDocument:
        """Return the text of a file that `walk` has just found; the walk has checked all rules.

        Raises:
            NotShown: As `show`.
        """
        path = located.path
        # A link that was created meanwhile leads to a file that was not checked.
        if path is None or self.document(located.uri) or self.system.real_path(path) != path:
            return self.show(located.uri)
        text = decode(self._read(located.uri, path))
        self.redactor.learn_private_keys(text)
        return self._without_blocks(TextDocument(located.uri, text))

    def shown_range(self, document: TextDocument, range_: Range) -> Range:
        """Return a range of an open document as a range of the text that `show` returns."""
        stripped = self.stripped(document)
        return range_ if stripped is None else stripped.to_plain_range(range_)

    def real_lines(self, document: TextDocument, first: int, end: int) -> tuple[int, int]:
        """Return a range of lines of the text that `show` returns as lines of the document."""
        stripped = self.stripped(document)
        if stripped is None:
            return first, end
        return stripped.to_real_line(first), stripped.to_real_line(end)

    def document_with_blocks(self, uri: str) -> TextDocument:
        """Return the exact text of a document, for a caller that edits the document. No model is
        shown this text.

        Raises:
            NotShown: As `show`.
        """
        path = path_of(uri)
        # Resolved once: the checked path is the path that is read, even if a link changes
        # meanwhile.
        real = None if path is None else self.system.real_path(path)
        refusal = self.privacy().check(uri, real)
        if refusal is not None:
            raise NotShown(uri, refusal.rule, refusal.message)
        document = self.document(uri)
        if document is not None:
            return document
        if real is None:
            raise NotShown(uri, "missing", f"No document {self.name_of(uri)!r} is open.")
        return TextDocument(uri, decode(self._read(uri, real)))

    def locate(self, name: str) -> Located:
        """Return the file or folder that a model or a person means by `name`. The file or folder
        need not exist.

        Names are relative to a root (`src/app.py`; with several roots `folder/src/app.py`),
        absolute, or `untitled:NAME`.

        Raises:
            PathRefused: If the name means nothing in the workspace (`stet.workspace.names`).
        """
        return self._locator().locate(name)

    def name_of(self, uri: str) -> str:
        """Return the name that models and people use for a document: the reverse of `locate`."""
        return self._locator().name_of(uri)

    def walk(self, folder: str = "", *, only_text: bool = True) -> Iterator[Located]:
        """Return the files in and below `folder` that may be shown, in a fixed order. An empty
        `folder` means all files.

        Without `only_text`, files without text, such as images, are included.

        Raises:
            PathRefused: If `folder` means nothing in the workspace.
        """
        top = self.locate(folder).path if folder.strip("/. ") else None
        return self._walk(only_text=only_text).files(top)

    def siblings(self, uri: str) -> Iterator[Located]:
        """Yield the files in a document's folder that may be shown, with the document; sorted."""
        path = path_of(uri)
        if path is not None:
            yield from self._walk().files_in(path.parent)

    def mtime(self, uri: str) -> float | None:
        """Return when a file was last written, in seconds since the epoch; None if not on disk."""
        path = path_of(uri)
        stat = None if path is None else self.system.stat(self.system.real_path(path))
        return None if stat is None else stat.mtime

    def privacy(self) -> PrivacyFilter:
        """Return the filter on what may leave the machine, for this moment and this question."""
        active = None if self.is_question else self.activity.active
        asked = {canonical(uri) for uri in (active, self.question_uri) if uri is not None}
        rules, opened = self.rules.pinned(), self.documents.keys()
        return PrivacyFilter(self.system, self.roots, self.settings, rules, opened, asked)

    def _learn_private_keys(self, document: TextDocument) -> None:
        """Learn the private keys of a text, since any part of a key may be shown later."""
        if not document.is_large:
            self.redactor.learn_private_keys(document.text)
            return
        seen = -1
        for line in document.lines_with("PRIVATE KEY"):
            if line > seen:
                seen = line + _KEY_LINES // 2
                part = document.lines[line : line + _KEY_LINES]
                self.redactor.learn_private_keys("".join(one[:_LONG_LINE] for one in part))

    def stripped(self, document: TextDocument) -> StrippedDocument | None:
        """Return a document without its blocks, which are not part of the content. Return None if
        there are no blocks.
        """
        key = canonical(document.uri)
        return strip_blocks(document, self.blocks.get(key, frozenset()), self.placed.get(key, ()))

    def _without_blocks(self, document: TextDocument) -> TextDocument:
        stripped = self.stripped(document)
        return document if stripped is None else stripped.plain

    def _read(self, uri: str, real: Path) -> bytes:
        """Return the bytes of a text file, by its real path.

        Raises:
            NotShown: If the path is no text file, or contains a link now.
        """

        def named() -> str:
            return repr(self.name_of(uri))

        stat = self.system.stat(real)
        if stat is None:
            raise NotShown(uri, "missing", f"There is no file {named()}.")
        if stat.kind is not FileKind.FILE:
            raise NotShown(uri, "special", f"{named()} is a folder or a device, not a file.")
        try:
            data = self.system.read_real(real, MAX_FILE_BYTES + 1)
        except OSError as error:
            message = f"{named()} can't be read: {error.strerror}."
            raise NotShown(uri, "unreadable", message) from error
        if is_binary(data):
            raise NotShown(uri, "binary", f"{named()} is not a text file.")
        if len(data) > MAX_FILE_BYTES:
            message = f"{named()} has {stat.size:,} bytes; the maximum is {MAX_FILE_BYTES:,}."
            raise NotShown(uri, "too-large", message)
        return data

    def _walk(self, *, only_text: bool = True) -> WorkspaceWalk:
        return WorkspaceWalk(
            self.system, self._locator(), self.privacy(), only_text, self.walk_memory
        )

    def _locator(self) -> Locator:
        return Locator(self.system, self.roots, self.documents)


def _parts(lines: Sequence[str], first: int, end: int) -> Iterator[str]:
    """Yield lines as texts to search for secrets, in pieces that block no thread for long.

    Each piece begins some lines before the end of the previous one, so that a secret of several
    lines is whole in one piece.
    """
    part: list[str] = []
    size = n_new = 0
    for nth, line in enumerate(lines):
        is_shown = first <= nth < end
        cut = line[:_LONG_LINE] if is_shown or nth >= end else line[-_LONG_LINE:]
        part.append(cut)
        size, n_new = size + len(cut), n_new + 1
        if size >= _PIECE:
            yield "".join(part)
            part = part[-_OVERLAP:] if len(part) > _OVERLAP else part[-1:]
            size, n_new = sum(map(len, part)), 0
            if size >= _PIECE:
                part, size = [], 0
    if n_new:
        yield "".join(part)
