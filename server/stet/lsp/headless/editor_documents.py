"""The documents of the headless client: the open texts, with the edits that were applied to them.

Nothing here writes to the disk: the shell commands save the texts, as the user of an editor would.
They get the changes from `unsaved`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsprotocol import types as lsp

from stet.outline.languages import language_named
from stet.system.system import System
from stet.text.buffer import TextBuffer
from stet.text.encoding import Encoding
from stet.text.normalized_text import BOM
from stet.workspace.uris import canonical, path_of, uri_of

MAX_FILE_BYTES = 50_000_000
"""The most bytes of a file that can be opened."""

Notice = tuple[
    str,
    lsp.DidOpenTextDocumentParams
    | lsp.DidChangeTextDocumentParams
    | lsp.DidCloseTextDocumentParams,
]
"""The method and the parameters of a notification."""

_TextEdit = lsp.TextEdit | lsp.AnnotatedTextEdit
_AnyEdit = _TextEdit | lsp.SnippetTextEdit
_Change = lsp.TextDocumentEdit | lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile


class EditUnsupported(Exception):
    """An edit can't be applied; the message is the `failureReason`."""


@dataclass(frozen=True, slots=True)
class EditorDocument:
    """One open document at one version.

    Attributes:
        uri: The URI with which the document was opened.
        path: The path of its file.
        text: The current text.
        version: The number of changes since the opening.
        on_disk: The text read from the disk; None for a file that does not exist yet.
        mark: The byte order mark of the file, or an empty text; the mark is not part of `text`.
        real: The path at the time of opening, with links resolved.
    """

    uri: str
    path: Path
    text: str
    version: int
    on_disk: str | None
    mark: str = ""
    real: Path | None = None

    @classmethod
    def read(cls, uri: str, path: Path, content: str) -> "EditorDocument":
        """Return the document that an editor loads from a file with the text `content`."""
        text = content.removeprefix(BOM)
        mark = content[: len(content) - len(text)]
        return cls(uri, path, text, 0, content, mark)

    @property
    def content(self) -> str:
        """The content of the file after saving."""
        return self.mark + self.text


@dataclass(frozen=True, slots=True)
class UnsavedChange:
    """The effect of saving on one file.

    Attributes:
        path: The path of the file.
        before: The text that was read from the file; None if it did not exist.
        after: The text after saving; None if saving deletes the file.
        real: The path at the time of opening, with links resolved; None: resolve the links now.
    """

    path: Path
    before: str | None
    after: str | None
    real: Path | None = field(default=None, compare=False)


class EditorDocuments:
    """The open documents of one headless client.

    Attributes:
        encoding: The negotiated encoding, the unit of the columns of edits.
    """

    def __init__(self, system: System) -> None:
        self.encoding = Encoding.UTF16
        self._system = system
        self._open: dict[str, EditorDocument] = {}
        self._gone: dict[str, UnsavedChange] = {}

    def open(self, path: Path) -> tuple[str, Notice]:
        """Open a file; return its URI, and the notification for the server.

        Raises:
            OSError: If the file can't be read.
            UnicodeDecodeError: If the file is not UTF-8.
        """
        uri = uri_of(path)
        content = self._system.read_bytes(path, MAX_FILE_BYTES).decode()
        return uri, self._opened(EditorDocument.read(uri, path, content))

    def text(self, uri: str) -> str | None:
        """Return the current text of an open document, or None if the document is not open."""
        document = self._open.get(canonical(uri))
        return document.text if document else None

    def read(self, uri: str) -> str | None:
        """Return the text of any document, from the disk if it is not open, or None if it can't be
        read.
        """
        try:
            return self._find_or_load(uri).text
        except EditUnsupported:
            return None

    @staticmethod
    def name(uri: str, root: Path) -> str:
        """Return the display name of a document: its path from `root` if it is below `root`."""
        path = path_of(uri)
        if path is None:
            return uri
        return str(path.relative_to(root) if path.is_relative_to(root) else path)

    def unsaved(self) -> tuple[UnsavedChange, ...]:
        """Return the changes of all documents that differ from their text when it was read."""
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
        self._open[canonical(uri)] = replace(document, on_disk=change.after)
        return document.uri

    def apply(self, edit: lsp.WorkspaceEdit) -> list[Notice]:
        """Apply a whole edit, or nothing of it; return the notifications for the server.

        Raises:
            EditUnsupported: If the edit is for another version, or for a file that can't be edited.
        """
        changes: Sequence[_Change] = edit.document_changes or [
            lsp.TextDocumentEdit(
                lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=None), list(edits)
            )
            for uri, edits in (edit.changes or {}).items()
        ]
        versions = {key: document.version for key, document in self._open.items()}
        before = dict(self._open), dict(self._gone)
        try:
            return [notice for change in changes for notice in self._apply(change, versions)]
        except EditUnsupported:
            self._open, self._gone = before
            raise

    def _apply(self, change: _Change, versions: Mapping[str, int]) -> Iterator[Notice]:
        """Apply one change; `versions` are those of the open documents before the whole edit."""
        if isinstance(change, lsp.TextDocumentEdit):
            target = change.text_document
            version = versions.get(canonical(target.uri))
            if version is not None and target.version not in {None, version}:
                raise EditUnsupported(f"{target.uri} is at version {version}, not {target.version}")
            yield from self._edit(change)
        elif isinstance(change, lsp.CreateFile):
            yield from self._create(change)
        elif isinstance(change, lsp.RenameFile):
            content = self._find_or_load(change.old_uri).content
            yield from self._remove(change.old_uri)
            moved = EditorDocument.read(change.new_uri, _local(change.new_uri), content)
            yield self._opened(replace(moved, on_disk=None))
        else:
            yield from self._remove(change.uri)

    def _create(self, change: lsp.CreateFile) -> Iterator[Notice]:
        path, options = _local(change.uri), change.options or lsp.CreateFileOptions()
        key = canonical(change.uri)
        is_open = key in self._open
        if not is_open and (key in self._gone or self._system.stat(path) is None):
            yield self._opened(EditorDocument(change.uri, path, "", 0, None))
        elif options.overwrite:
            existing = self._find_or_load(change.uri)
            yield self._opened(EditorDocument(change.uri, path, "", 0, existing.on_disk))
        elif not options.ignore_if_exists:
            raise EditUnsupported(f"{change.uri} already exists")
        elif not is_open:
            yield self._opened(self._find_or_load(change.uri))

    def _edit(self, change: lsp.TextDocumentEdit) -> Iterator[Notice]:
        uri = change.text_document.uri
        document = self._find_or_load(uri)
        if canonical(uri) not in self._open:
            yield self._opened(document)
        changes: list[lsp.TextDocumentContentChangeEvent] = []
        buffer, version = TextBuffer(document.text), document.version + 1
        for edit in _bottom_up(change.edits):
            start, end, text = edit.range.start, edit.range.end, edit.new_text
            buffer.splice(start.line, start.character, end.line, end.character, text, self.encoding)
            changes.append(lsp.TextDocumentContentChangePartial(edit.range, text))
        key = canonical(uri)
        self._open[key] = replace(self._open[key], text=buffer.text, version=version)
        target = lsp.VersionedTextDocumentIdentifier(version, document.uri)
        params = lsp.DidChangeTextDocumentParams(target, changes)
        yield lsp.TEXT_DOCUMENT_DID_CHANGE, params

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

    def _opened(self, document: EditorDocument) -> Notice:
        real = self._system.real_path(document.path)
        self._open[canonical(document.uri)] = replace(document, real=real)
        language = language_named(document.path.suffix) or "plaintext"
        item = lsp.TextDocumentItem(document.uri, language, document.version, document.text)
        return lsp.TEXT_DOCUMENT_DID_OPEN, lsp.DidOpenTextDocumentParams(item)

    def _find_or_load(self, uri: str) -> EditorDocument:
        """Return the open document, or the document that opening the file would create.

        Raises:
            EditUnsupported: If the file can't be read.
        """
        document = self._open.get(canonical(uri))
        if document:
            return document
        path = _local(uri)
        if canonical(uri) in self._gone:
            raise EditUnsupported(f"{uri} was deleted")
        try:
            content = self._system.read_bytes(path, MAX_FILE_BYTES).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise EditUnsupported(f"{uri} can't be opened: {error}") from error
        return EditorDocument.read(uri, path, content)


def _local(uri: str) -> Path:
    path = path_of(uri)
    if path is None:
        raise EditUnsupported(f"{uri} is not a file on this machine")
    return path


def _bottom_up(edits: Sequence[_AnyEdit]) -> list[_TextEdit]:
    """Return the edits from the bottom to the top, so that each range is still valid when it is
    applied.

    Of several insertions at one place the last is first: the others are then inserted before it.

    Raises:
        EditUnsupported: If an edit is a snippet.
    """
    plain = [edit for edit in edits if not isinstance(edit, lsp.SnippetTextEdit)]
    if len(plain) < len(edits):
        raise EditUnsupported("this editor does not support snippets")

    def place(numbered: tuple[int, _TextEdit]) -> tuple[int, ...]:
        number, edit = numbered
        start, end = edit.range.start, edit.range.end
        # Compare the ends too: an insertion at the start of a replacement goes before it.
        return start.line, start.character, end.line, end.character, number

    return [edit for _, edit in sorted(enumerate(plain), key=place, reverse=True)]
