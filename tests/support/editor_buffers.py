"""An editor's documents, and the edits of the user and the server."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor_disk import EditorDisk, Operation
from tests.support.editor_documents import (
    EditorDocument,
    place_of,
    range_of,
    to_path,
    to_uri,
    with_edits,
)
from tests.support.editor_profiles import Profile, Quirk, Stale
from tests.support.editor_session import EditorSession
from tests.support.naive_text import naive_lines


class EditorBuffers(EditorSession):
    """The documents of one editor, with a real editor's faults.

    Attributes:
        root: The first workspace folder.
        documents: The open documents by URI.
        result: The answer to `initialize`.
        looks_after: Seconds until the editor handles an edit; meanwhile the user can act.
        answers_after: Seconds from then until the editor answers.
        n_in_flight: The number of unanswered edits.
        in_flight: The number of unanswered edits by document.
        most_in_flight: The most unanswered edits of one document at one time.
        edits_within: Seconds after a command within which the editor applies edits; 0: always.
        ticks: Tells whether the user applies an edit that a preview shows.
    """

    def __init__(self, profile: Profile, root: Path | None, quirk: Quirk | None) -> None:
        super().__init__(quirk)
        self.root = root
        self.documents: dict[str, EditorDocument] = {}
        self.result: lsp.InitializeResult
        self.looks_after = 0.0
        self.answers_after = 0.0
        self.n_in_flight = 0
        self.in_flight: Counter[str] = Counter()
        self.most_in_flight = 0
        self.edits_within = profile.only_within
        self.ticks: Callable[[Any], bool] = lambda _: True
        self._profile = profile
        self._held: list[lsp.DidChangeTextDocumentParams] = []
        self._disk = EditorDisk(root, profile)
        self._last_command = float("-inf")
        self._hidden: dict[str, str] = {}

    @property
    def encoding(self) -> str:
        """Return the negotiated position encoding."""
        return str(self.result.capabilities.position_encoding or "utf-16")

    def uri(self, name: str | Path) -> str:
        """Return the URI of a name relative to the root; URIs are returned unchanged."""
        return to_uri(name, self.root)

    def text(self, name: str | Path) -> str:
        """Return the text of an open document."""
        return self.documents[self.uri(name)].text

    def range_of(self, name: str | Path, needle: str) -> lsp.Range:
        """Return the range of the one occurrence of `needle`, in the negotiated encoding."""
        return range_of(self.text(name), needle, self.encoding)

    def open(self, name: str | Path, text: str | None = None, language_id: str = "") -> str:
        """Open a document, by default with the text on the disk; return its URI."""
        uri = self.uri(name)
        text = self._hidden.pop(uri, text)
        if text is None:
            path = to_path(uri)
            assert path is not None, f"{uri} is not on the disk: give its text"
            text = path.read_bytes().decode() or ("\n" if self._profile.ends_lines else "")
        self.documents[uri] = EditorDocument(uri, self._profile.first_version, text)
        item = lsp.TextDocumentItem(uri, language_id, self._profile.first_version, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return uri

    def change(self, name: str | Path, old: str, new: str) -> None:
        """Type `new` over the one occurrence of `old`."""
        document = self.documents[self.uri(name)]
        self._change(document, [lsp.TextEdit(range_of(document.text, old, self.encoding), new)])

    def type(self, name: str | Path, line: int, column: int, new: str) -> None:
        """Type `new` at a position: 0-based, in code points."""
        document = self.documents[self.uri(name)]
        place = place_of(document.text, naive_lines(document.text)[line][0] + column, self.encoding)
        self._change(document, [lsp.TextEdit(lsp.Range(place, place), new)])

    def save(self, name: str | Path) -> None:
        """Write a document to the disk."""
        document = self.documents[self.uri(name)]
        path = to_path(document.uri)
        assert path is not None, f"{document.uri} can't be saved"
        self.write(path, document.text)
        identifier = lsp.TextDocumentIdentifier(document.uri)
        self.text_document_did_save(lsp.DidSaveTextDocumentParams(identifier))

    def close(self, name: str | Path) -> None:
        """Close a document; unsaved text is lost."""
        document = self.documents.pop(self.uri(name))
        identifier = lsp.TextDocumentIdentifier(document.uri)
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(identifier))

    def save_hidden(self, name: str | Path) -> str:
        """Write the text that `Quirk.HIDDEN` has made of a closed file; return its URI."""
        uri = self.uri(name)
        path = to_path(uri)
        assert path is not None, f"{uri} is not on the disk"
        self.write(path, self._hidden.pop(uri))
        return uri

    def write(self, path: Path, text: str) -> None:
        """Write a file, which the server must then leave unchanged."""
        self._disk.write(path, text)

    def from_server(self, *names: str | Path) -> None:
        """Accept the current state of these files on the disk as the server's wanted changes."""
        for name in names:
            path = to_path(self.uri(name))
            assert path is not None
            self._disk.take_over(path)

    def rename(self, name: str | Path, new: str | Path, *, reports: bool = False) -> str:
        """Rename an open document's file, as from the editor's file tree.

        Args:
            name: The file.
            new: The file's new name.
            reports: Whether the editor reports it by `workspace/didRenameFiles`.
        """
        old_uri, new_uri = self.uri(name), self.uri(new)
        text = self.text(name)
        self._disk.rename(old_uri, new_uri)
        self.close(old_uri)
        self.open(new_uri, text)
        if reports:
            self.workspace_did_rename_files(
                lsp.RenameFilesParams([lsp.FileRename(old_uri, new_uri)])
            )
        return new_uri

    def save_as(self, name: str | Path, new: str | Path) -> str:
        """Write a document to another file and continue with that file."""
        text, path = self.text(name), to_path(self.uri(new))
        assert path is not None
        self.write(path, text)
        self.close(name)
        return self.open(new, text)

    def flush(self) -> None:
        """Send the changes that `Quirk.SLOW` holds back; every request does so first."""
        held, self._held = self._held, []
        for params in held:
            self.text_document_did_change(params)

    def disk_is_mine(self) -> None:
        """Assert that below the root only what the editor wrote has changed."""
        self._disk.check()

    async def wait_to_look(self) -> None:
        """Wait `looks_after` seconds before an edit is handled."""
        if self.looks_after:
            await asyncio.sleep(self.looks_after)

    async def wait_to_answer(self) -> None:
        """Wait `answers_after` seconds before an edit is answered."""
        if self.answers_after:
            await asyncio.sleep(self.answers_after)

    def documents_of(self, params: lsp.ApplyWorkspaceEditParams) -> list[str]:
        """Return the URIs of the documents whose text an edit changes."""
        changes = params.edit.document_changes or ()
        named = [one.text_document.uri for one in changes if isinstance(one, lsp.TextDocumentEdit)]
        return [*(params.edit.changes or {}), *named]

    def apply_edit(
        self, params: lsp.ApplyWorkspaceEditParams
    ) -> lsp.ApplyWorkspaceEditResult | None:
        """Handle `workspace/applyEdit`, with the profile's and the quirk's faults."""
        self.applied.append(params)
        if self.quirk is Quirk.NULL:
            return None
        if self.quirk is Quirk.LIE:
            return lsp.ApplyWorkspaceEditResult(applied=True)
        if self.quirk is Quirk.REFUSE or self._is_too_late():
            return lsp.ApplyWorkspaceEditResult(applied=False)
        for uri, edits in (params.edit.changes or {}).items():
            self._edit_document(uri, edits)
        for index, change in enumerate(params.edit.document_changes or ()):
            if isinstance(change, lsp.TextDocumentEdit):
                wanted = change.text_document.version
                document = self.documents.get(change.text_document.uri)
                if document is not None and self._is_stale(wanted, document.version, index):
                    return self._stale(index)
                self._edit_document(change.text_document.uri, change.edits)
            else:
                self._operate(change)
        return lsp.ApplyWorkspaceEditResult(applied=True)

    def _is_too_late(self) -> bool:
        """Tell whether the last command is longer ago than `edits_within` allows."""
        since = asyncio.get_running_loop().time() - self._last_command
        return 0 < self.edits_within < since

    def _is_stale(self, wanted: int | None, version: int, index: int) -> bool:
        if self._profile.stale is Stale.UNKNOWN:
            return False
        if self._profile.stale is Stale.LIES:
            # Neovim checks only the first version, and only if it is neither 0 nor above its own.
            return bool(wanted) and index == 0 and version > (wanted or 0)
        return wanted not in {None, version}

    def _stale(self, index: int) -> lsp.ApplyWorkspaceEditResult:
        match self._profile.stale:
            case Stale.LIES:
                return lsp.ApplyWorkspaceEditResult(applied=True)
            case Stale.REASON:
                reason = "document has changed"
                return lsp.ApplyWorkspaceEditResult(
                    applied=False, failure_reason=reason, failed_change=index
                )
            case Stale.BARE:
                return lsp.ApplyWorkspaceEditResult(applied=False)
            case Stale.ERROR | Stale.UNKNOWN:
                raise JsonRpcException("Edits require another version")

    def _edit_document(self, uri: str, edits: Sequence[Any]) -> None:
        done = [edit for edit in edits if self.ticks(edit)]
        if self.quirk is Quirk.PARTIAL:
            done = done[:1]
        if uri in self.documents:
            self._change(self.documents[uri], done)
        elif self.quirk is Quirk.HIDDEN or self._profile.files_apart:
            path = to_path(uri)
            assert path is not None, uri
            text = with_edits(
                self._hidden.get(uri) or path.read_bytes().decode(), done, self.encoding
            )
            if self.quirk is Quirk.HIDDEN:
                self._hidden[uri] = text
            else:
                self.write(path, text)
        else:
            self._change(self.documents[self.open(uri)], done)

    def _change(self, document: EditorDocument, edits: Sequence[Any]) -> None:
        """Change a document and report the last edit first, so that all ranges remain valid."""
        # Neovim's versions are its change counter, which is above 1 before the first change.
        jump = self._profile.stale is Stale.LIES and document.version == 0
        document.version += 4 if jump else 1
        document.text = with_edits(document.text, edits, self.encoding)
        ordered = sorted(
            enumerate(edits),
            key=lambda one: (one[1].range.start.line, one[1].range.start.character, one[0]),
            reverse=True,
        )
        changes: list[lsp.TextDocumentContentChangeEvent] = [
            lsp.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
            for _, edit in ordered
        ]
        if self._profile.full_sync:
            changes = [lsp.TextDocumentContentChangeWholeDocument(document.text)]
        identifier = lsp.VersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
        self._held.append(lsp.DidChangeTextDocumentParams(identifier, changes))
        if self.quirk is not Quirk.SLOW:
            self.flush()

    def _operate(self, change: Operation) -> None:
        if not self._disk.operate(change) or self._profile.files_apart:
            return
        old = change.old_uri if isinstance(change, lsp.RenameFile) else change.uri
        if old in self.documents and not isinstance(change, lsp.CreateFile):
            text = self.text(old)
            self.close(old)
            if isinstance(change, lsp.RenameFile):
                self.open(change.new_uri, text)
