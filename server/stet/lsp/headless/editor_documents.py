"""The documents of an editor without a screen: what is open, and the text after an accepted edit.

Nothing here writes to the disk: the user of an editor saves its buffers, and here the commands of the
shell do, which ask for `unsaved`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types as lsp

from stet.system.system import System
from stet.text.buffer import TextBuffer
from stet.text.encoding import Encoding
from stet.text.normalized_text import BOM
from stet.workspace.uris import canonical, path_of, uri_of

MAX_FILE_BYTES = 50_000_000
"""A larger file is not opened."""

Notice = tuple[
    str,
    lsp.DidOpenTextDocumentParams
    | lsp.DidChangeTextDocumentParams
    | lsp.DidCloseTextDocumentParams,
]
"""A notification's method and its parameters."""

_TextEdit = lsp.TextEdit | lsp.AnnotatedTextEdit
_AnyEdit = _TextEdit | lsp.SnippetTextEdit
_Change = lsp.TextDocumentEdit | lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile


class EditUnsupported(Exception):
    """An edit that this editor will not apply; the message is its `failureReason`."""


@dataclass(slots=True)
class EditorDocument:
    """One open document.

    Attributes:
        uri: The URI with which it was opened.
        path: The path to which it will be saved.
        buffer: Its current text.
        version: The number of its changes, as in LSP.
        on_disk: The text read from the disk; None for a file that does not exist yet.
        mark: The byte order mark at the start of its file, or nothing: not part of the text.
        real: The target of the path when it was opened, with every link resolved.
    """

    uri: str
    path: Path
    buffer: TextBuffer
    version: int
    on_disk: str | None
    mark: str = ""
    real: Path | None = None

    @classmethod
    def read(cls, uri: str, path: Path, content: str) -> "EditorDocument":
        """Return a file with the text `content` as an editor loads it."""
        text = content.removeprefix(BOM)
        mark = content[: len(content) - len(text)]
        return cls(uri, path, TextBuffer(text), 0, content, mark)

    @property
    def content(self) -> str:
        """What its file would hold."""
        return self.mark + self.buffer.text


@dataclass(frozen=True, slots=True)
class UnsavedChange:
    """The effect of saving on one file.

    Attributes:
        path: The file.
        before: The text read from it; None if it did not exist.
        after: The text it would have; None if it would be deleted.
        real: The path with every link resolved, at the time of opening; None: at the present time.
    """

    path: Path
    before: str | None
    after: str | None
    real: Path | None = field(default=None, compare=False)


class EditorDocuments:
    """Everything that is open.

    Attributes:
        encoding: What the columns of edits count, as negotiated.
    """

    def __init__(self, system: System) -> None:
        self.encoding = Encoding.UTF16
        self._system = system
        self._open: dict[str, EditorDocument] = {}
        self._gone: dict[str, UnsavedChange] = {}

    def open(self, path: Path, language: str = "") -> tuple[str, list[Notice]]:
        """Open a file; its URI, and what to tell the server.

        Raises:
            OSError: If it can't be read.
            UnicodeDecodeError: If it is not UTF-8.
        """
        uri = uri_of(path)
        content = self._system.read_bytes(path, MAX_FILE_BYTES).decode()
        return uri, [self._opened(EditorDocument.read(uri, path, content), language)]

    def text(self, uri: str) -> str | None:
        """Return the current text of an open document, or None if the document is not open."""
        document = self._open.get(canonical(uri))
        return document.buffer.text if document else None

    def read(self, uri: str) -> str | None:
        """Return the text of any document, from the disk if it is not open, or None if there is no
        text.
        """
        try:
            return self._find_or_load(uri).buffer.text
        except EditUnsupported:
            return None

    def name(self, uri: str, root: Path) -> str:
        """Return the display name of a document: its path from `root` if it is below `root`."""
        path = path_of(uri)
        if path is None:
            return uri
        return str(path.relative_to(root) if path.is_relative_to(root) else path)

    def unsaved(self) -> tuple[UnsavedChange, ...]:
        """Return the changes that differ from the disk as it was read."""
        changed = (
            UnsavedChange(document.path, document.on_disk, document.content, document.real)
            for document in self._open.values()
            if document.content != document.on_disk
        )
        return (*self._gone.values(), *changed)

    def saved(self, change: UnsavedChange) -> str | None:
        """Record that a change has been written. Return the URI of its document, or None if the
        document is gone.
        """
        uri = uri_of(change.path)
        self._gone.pop(canonical(uri), None)
        document = self._open.get(canonical(uri))
        if document is None:
            return None
        document.on_disk = change.after
        return document.uri

    def apply(self, edit: lsp.WorkspaceEdit) -> list[Notice]:
        """Take a whole edit or nothing of it; what to tell the server afterwards.

        Raises:
            EditUnsupported: If it was made for another version, or for a file that can't be edited.
        """
        changes: Sequence[_Change] = edit.document_changes or [
            lsp.TextDocumentEdit(
                lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=None), list(edits)
            )
            for uri, edits in (edit.changes or {}).items()
        ]
        self._check(changes)
        return [notice for change in changes for notice in self._apply(change)]

    def _check(self, changes: Iterable[_Change]) -> None:
        """Refuse before anything is done."""
        created: set[str] = set()
        for change in changes:
            if isinstance(change, lsp.CreateFile):
                created.add(canonical(change.uri))
                self._check_new(change)
            elif isinstance(change, lsp.TextDocumentEdit):
                self._check_text(change.text_document, created)
                if any(isinstance(edit, lsp.SnippetTextEdit) for edit in change.edits):
                    raise EditUnsupported("this editor takes no snippets")
            elif isinstance(change, lsp.RenameFile):
                _local(change.new_uri)
                created.add(canonical(change.new_uri))
                self._find_or_load(change.old_uri)
            else:
                self._find_or_load(change.uri)

    def _check_new(self, change: lsp.CreateFile) -> None:
        options = change.options or lsp.CreateFileOptions()
        taken = canonical(change.uri) in self._open or self._system.stat(_local(change.uri))
        if taken and not (options.overwrite or options.ignore_if_exists):
            raise EditUnsupported(f"{change.uri} exists already")

    def _check_text(
        self, target: lsp.OptionalVersionedTextDocumentIdentifier, created: set[str]
    ) -> None:
        document = self._open.get(canonical(target.uri))
        if document is None and canonical(target.uri) not in created:
            self._find_or_load(target.uri)
        elif document and target.version is not None and target.version != document.version:
            raise EditUnsupported(
                f"{target.uri} is at version {document.version}, not {target.version}"
            )

    def _apply(self, change: _Change) -> Iterator[Notice]:
        if isinstance(change, lsp.TextDocumentEdit):
            yield from self._edit(change)
        elif isinstance(change, lsp.CreateFile):
            yield from self._create(change)
        elif isinstance(change, lsp.RenameFile):
            content = self._find_or_load(change.old_uri).content
            yield from self._remove(change.old_uri)
            moved = EditorDocument.read(change.new_uri, _local(change.new_uri), content)
            moved.on_disk = None
            yield self._opened(moved, "")
        else:
            yield from self._remove(change.uri)

    def _create(self, change: lsp.CreateFile) -> Iterator[Notice]:
        path = _local(change.uri)
        if self._system.stat(path) is None:
            yield self._opened(EditorDocument(change.uri, path, TextBuffer(""), 0, None), "")
        elif change.options and change.options.overwrite:
            existing = self._find_or_load(change.uri)
            new = EditorDocument(change.uri, path, TextBuffer(""), 0, existing.on_disk)
            yield self._opened(new, "")
        elif canonical(change.uri) not in self._open:
            yield self._opened(self._find_or_load(change.uri), "")

    def _edit(self, change: lsp.TextDocumentEdit) -> Iterator[Notice]:
        uri = change.text_document.uri
        document = self._find_or_load(uri)
        if canonical(uri) not in self._open:
            yield self._opened(document, "")
        changes: list[lsp.TextDocumentContentChangeEvent] = []
        for edit in _bottom_up(change.edits):
            start, end, text = edit.range.start, edit.range.end, edit.new_text
            document.buffer.splice(
                start.line, start.character, end.line, end.character, text, self.encoding
            )
            changes.append(lsp.TextDocumentContentChangePartial(edit.range, text))
        document.version += 1
        yield (
            lsp.TEXT_DOCUMENT_DID_CHANGE,
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(document.version, document.uri), changes
            ),
        )

    def _remove(self, uri: str) -> Iterator[Notice]:
        document = self._find_or_load(uri)
        if document.on_disk is not None:
            self._gone[canonical(uri)] = UnsavedChange(
                document.path, document.on_disk, None, document.real
            )
        if self._open.pop(canonical(uri), None):
            yield (
                lsp.TEXT_DOCUMENT_DID_CLOSE,
                lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(document.uri)),
            )

    def _opened(self, document: EditorDocument, language: str) -> Notice:
        document.real = self._system.real_path(document.path)
        self._open[canonical(document.uri)] = document
        item = lsp.TextDocumentItem(
            document.uri, language or "plaintext", document.version, document.buffer.text
        )
        return lsp.TEXT_DOCUMENT_DID_OPEN, lsp.DidOpenTextDocumentParams(item)

    def _find_or_load(self, uri: str) -> EditorDocument:
        """Return the open document, or the file in the state in which it would be opened.

        Raises:
            EditUnsupported: If there is no such file.
        """
        document = self._open.get(canonical(uri))
        if document:
            return document
        path = _local(uri)
        try:
            content = self._system.read_bytes(path, MAX_FILE_BYTES).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise EditUnsupported(f"{uri} can't be opened: {error}") from error
        return EditorDocument.read(uri, path, content)


def _local(uri: str) -> Path:
    path = path_of(uri)
    if path is None:
        raise EditUnsupported(f"{uri} is no file of this machine")
    return path


def _bottom_up(edits: Iterable[_AnyEdit]) -> list[_TextEdit]:
    """In the order in which each range, which is of the text before all, is still true.

    Of insertions at one place the last comes first: the others then go before it.
    """
    plain = [edit for edit in edits if not isinstance(edit, lsp.SnippetTextEdit)]

    def place(numbered: tuple[int, _TextEdit]) -> tuple[int, ...]:
        number, edit = numbered
        start, end = edit.range.start, edit.range.end
        # The end too: what is inserted where a replacement begins goes before it.
        return start.line, start.character, end.line, end.character, number

    return [edit for _, edit in sorted(enumerate(plain), key=place, reverse=True)]
