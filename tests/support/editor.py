"""An editor for tests: keeps documents by the letter of the protocol, and has real editors' faults.

    async with FakeEditor.start(root, client="helix", settings={"model": ...}) as editor:
        uri = editor.open("app.py")
        turn = await editor.command("stet.ask", {"prompt": "..."})
        [diagnostic] = await editor.wait_for_diagnostics(uri)

No wait sleeps: each looks again when a message has arrived. When the block is left, the server must
have ended with 0, and nothing on the disk below the root may differ but by what the editor did.
"""

import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cattrs import Converter
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, LanguageClientProtocol
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, forward_stderr, register_lsp_features

from tests.support.editor_disk import EditorDisk, NotApplied, Operation
from tests.support.editor_documents import (
    EditorDocument,
    place_of,
    range_of,
    to_path,
    to_uri,
    with_edits,
)
from tests.support.editor_profiles import PROFILES, Profile, Quirk, Stale
from tests.support.naive_text import naive_lines
from tests.support.starting import start

log = logging.getLogger(__name__)

SERVER = (sys.executable, "-I", "-m", "stet.cli.main", "serve")
WAIT_SECONDS = 60.0


class FakeEditor(LanguageClient):
    """One editor with one server.

    Attributes:
        root: The first workspace folder.
        documents: The open ones by URI.
        applied: Every `workspace/applyEdit` received, applied or not.
        result: The answer to `initialize`.
        n_news: How many requests and notifications have come from the server.
        n_refreshed: How often the server has asked to be asked for code lenses anew.
        edits_within: How many seconds behind a command it takes edits; 0: always.
        opens_shown: Whether it opens files that it is to show, as real editors do.
        answer_message: Chooses the title to answer `window/showMessageRequest` with.
        leaves_buttons: Whether its user leaves messages with buttons standing until the server takes
            them back.
        n_buttons: How many of them stand.
        ticks: Whether its user leaves this part of an edit that they are shown in.
    """

    def __init__(self, profile: Profile, root: Path | None, quirk: Quirk | None) -> None:
        super().__init__(protocol_cls=EditorProtocol, converter_factory=_converter)
        self.root = root
        self.quirk = quirk
        self.documents: dict[str, EditorDocument] = {}
        self.applied: list[lsp.ApplyWorkspaceEditParams] = []
        self.asked: list[lsp.ShowMessageRequestParams] = []
        self.registered: list[lsp.Registration] = []
        self.answer_message: Callable[[lsp.ShowMessageRequestParams], str | None] = lambda _: None
        self.ticks: Callable[[Any], bool] = lambda _: True
        self.result: lsp.InitializeResult
        self.exit_code: int | None = None
        self._profile = profile
        self.n_news = 0
        self.n_refreshed = 0
        self.leaves_buttons = False
        self.n_buttons = 0
        self._news = asyncio.Event()
        self._held: list[lsp.DidChangeTextDocumentParams] = []
        self._disk = EditorDisk(root, profile)
        self._last_command = float("-inf")
        self.edits_within = profile.only_within
        self.opens_shown = False
        self._hidden: dict[str, str] = {}
        register_lsp_features(self, {**DEFAULT_CLIENT_FEATURES, **FEATURES})

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        root: Path | Sequence[Path] | None,
        *,
        client: str = "neovim",
        settings: Mapping[str, object] | None = None,
        options: object = None,
        env: Mapping[str, str] | None = None,
        quirk: Quirk | None = None,
        command: Sequence[str] = SERVER,
        fresh: bool = False,
    ) -> AsyncIterator["FakeEditor"]:
        """A running, initialized server.

        Args:
            root: The workspace folder, or several, or none.
            client: Which editor to be; a key of `PROFILES`.
            settings: Of the section `stet`; what `workspace/configuration` is answered with.
            options: `initializationOptions`.
            env: Added to an environment of its own, with a home of its own and no keys.
            quirk: A fault beside those of the client.
            command: The server.
            fresh: Whether it is to be a process that has imported nothing yet; see `starting`.
        """
        roots = [root] if isinstance(root, Path) else list(root or ())
        editor = cls(PROFILES[client], roots[0] if roots else None, quirk)
        if settings is not None:
            editor.set_configuration(settings, section="stet")
        with tempfile.TemporaryDirectory() as home:
            server = await start(command, env={**_environment(home), **(env or {})}, fresh=fresh)
            editor._attend(server)
            try:
                await editor._initialize(roots, options)
                yield editor
                await editor._leave()
            finally:
                await editor._end()
        editor.disk_is_mine()

    # --- what a user does -----------------------------------------------------------------------

    @property
    def encoding(self) -> str:
        """The position encoding agreed on."""
        return str(self.result.capabilities.position_encoding or "utf-16")

    def uri(self, name: str | Path) -> str:
        """A name relative to the root as a URI; URIs stay as they are."""
        return to_uri(name, self.root)

    def text(self, name: str | Path) -> str:
        """The text of an open document."""
        return self.documents[self.uri(name)].text

    def open(self, name: str | Path, text: str | None = None, language_id: str = "") -> str:
        """Open a document, by default with the text on the disk; gives its URI."""
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
        """Type `new` at a place: 0-based, in code points."""
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
        """Close a document; what is not saved is gone."""
        document = self.documents.pop(self.uri(name))
        identifier = lsp.TextDocumentIdentifier(document.uri)
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(identifier))

    def save_hidden(self, name: str | Path) -> str:
        """Write what `Quirk.HIDDEN` has made of a file that is not open; gives its URI."""
        uri = self.uri(name)
        path = to_path(uri)
        assert path is not None, f"{uri} is not on the disk"
        self.write(path, self._hidden.pop(uri))
        return uri

    def write(self, path: Path, text: str) -> None:
        """Write a file that the server must leave as it is then."""
        self._disk.write(path, text)

    def from_server(self, *names: str | Path) -> None:
        """What has become of these files on the disk is what the user wanted from the server."""
        for name in names:
            path = to_path(self.uri(name))
            assert path is not None
            self._disk.take_over(path)

    def rename(self, name: str | Path, new: str | Path, *, tells: bool = False) -> str:
        """Give an open document's file another name, as from the editor's file tree.

        Args:
            name: The file.
            new: Its new name.
            tells: Whether it is one of the editors that tell of it by `workspace/didRenameFiles`.
        """
        old_uri, new_uri = self.uri(name), self.uri(new)
        text = self.text(name)
        self._disk.rename(old_uri, new_uri)
        self.close(old_uri)
        self.open(new_uri, text)
        if tells:
            self.workspace_did_rename_files(
                lsp.RenameFilesParams([lsp.FileRename(old_uri, new_uri)])
            )
        return new_uri

    def save_as(self, name: str | Path, new: str | Path) -> str:
        """Write a document to another file and go on with that."""
        text, path = self.text(name), to_path(self.uri(new))
        assert path is not None
        self.write(path, text)
        self.close(name)
        return self.open(new, text)

    async def command(self, name: str, *arguments: object) -> Any:
        """Carry out a command of the server; gives its answer as plain JSON.

        Raises:
            JsonRpcException: If it answers with an error.
        """
        self.flush()
        self._last_command = asyncio.get_running_loop().time()
        params = lsp.ExecuteCommandParams(name, list(arguments))
        return await self.workspace_execute_command_async(params)

    async def request(self, method: str, params: object = None) -> Any:
        """Send any request; objects in the answer come as named tuples."""
        self.flush()
        return await self.protocol.send_request_async(method, params)  # type: ignore[no-untyped-call]

    def progress_of(self, token: lsp.ProgressToken) -> list[Any]:
        """What was shown so far of a piece of work: begin, reports, end."""
        return list(self.progress_reports.get(token, ()))

    async def actions(
        self, name: str | Path, needle: str, only: Sequence[str] | None = None
    ) -> list[lsp.CodeAction]:
        """The code actions for the place of `needle`, with the diagnostics there."""
        self.flush()
        uri = self.uri(name)
        stretch = self.range_of(uri, needle)
        here = [
            diagnostic
            for diagnostic in self.diagnostics.get(uri, ())
            if diagnostic.range.start.line <= stretch.end.line
            and stretch.start.line <= diagnostic.range.end.line
        ]
        context = lsp.CodeActionContext(
            diagnostics=here,
            only=None if only is None else [lsp.CodeActionKind(kind) for kind in only],
            trigger_kind=lsp.CodeActionTriggerKind.Invoked,
        )
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), stretch, context)
        found = await self.text_document_code_action_async(params) or ()
        return [action for action in found if isinstance(action, lsp.CodeAction)]

    async def choose(self, name: str | Path, needle: str, title: str) -> Any:
        """Carry out the code action with that beginning of its title."""
        actions = await self.actions(name, needle)
        chosen = [action for action in actions if action.title.startswith(title)]
        assert len(chosen) == 1, f"{title!r} among {[action.title for action in actions]}"
        assert chosen[0].command is not None
        return await self.command(chosen[0].command.command, *(chosen[0].command.arguments or ()))

    def range_of(self, name: str | Path, needle: str) -> lsp.Range:
        """Where the one occurrence of `needle` is, in the encoding agreed on."""
        return range_of(self.text(name), needle, self.encoding)

    def focus(self, name: str | Path | None) -> None:
        """Turn to a document, or away from all."""
        params = {} if name is None else {"textDocument": {"uri": self.uri(name)}}
        self.protocol.notify("$/stet/didFocus", params)

    def select(self, name: str | Path, needle: str) -> None:
        """Select the one occurrence of `needle`."""
        stretch = self.range_of(name, needle)
        selection = {"anchor": _json(stretch.start), "active": _json(stretch.end)}
        params = {"textDocument": {"uri": self.uri(name)}, "selections": [selection]}
        self.protocol.notify("$/stet/didChangeSelection", params)

    def stop_progress(self, token: lsp.ProgressToken) -> None:
        """Stop a piece of work from where its progress is shown."""
        self.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(token))

    def flush(self) -> None:
        """Send the changes that `Quirk.SLOW` holds back; every request does so first."""
        held, self._held = self._held, []
        for params in held:
            self.text_document_did_change(params)

    # --- waiting --------------------------------------------------------------------------------

    async def wait_until(self, holds: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
        """Wait until `holds`; looked at whenever a message has come from the server."""
        try:
            async with asyncio.timeout(seconds):
                while not holds():
                    assert self.exit_code is None, f"the server ended with {self.exit_code}"
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            shown = [message.message for message in self.messages]
            raise AssertionError(
                f"waited {seconds} s in vain; diagnostics: {self.diagnostics}; messages: {shown}"
            ) from None

    async def wait_for_diagnostics(
        self,
        name: str | Path,
        holds: Callable[[Sequence[lsp.Diagnostic]], object] = bool,
    ) -> Sequence[lsp.Diagnostic]:
        """The diagnostics of a document, once `holds` is true of them; by default, once there are."""
        uri = self.uri(name)
        await self.wait_until(lambda: holds(self.diagnostics.get(uri, ())))
        return self.diagnostics.get(uri, ())

    async def wait_for_message(self, part: str) -> str:
        """The first message to the user that contains `part`."""
        await self.wait_until(lambda: any(part in one.message for one in self.messages))
        return next(one.message for one in self.messages if part in one.message)

    def note_news(self) -> None:
        """Something has arrived: let those who wait look again."""
        self._news.set()

    # --- what the server asks for ---------------------------------------------------------------

    def apply_edit(
        self, params: lsp.ApplyWorkspaceEditParams
    ) -> lsp.ApplyWorkspaceEditResult | None:
        """`workspace/applyEdit`, with the profile's and the quirk's faults."""
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
        """Whether it is too long ago that the user ran a command, for an editor that minds."""
        since = asyncio.get_running_loop().time() - self._last_command
        return 0 < self.edits_within < since

    def _is_stale(self, wanted: int | None, version: int, index: int) -> bool:
        if self._profile.stale is Stale.UNKNOWN:
            return False
        if self._profile.stale is Stale.LIES:
            # Neovim: a version of 0 isn't checked, nor one above its own, nor any but the first.
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
        """Change a document and tell the server: the last edit first, so that all ranges hold."""
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

    # --- beginning and end ----------------------------------------------------------------------

    def _attend(self, server: asyncio.subprocess.Process) -> None:
        """As the framework's `start_io`, with a server that runs."""
        assert server.stdin is not None
        assert server.stdout is not None
        self._server = server
        self.protocol.set_writer(server.stdin)
        reading = run_async(
            stop_event=self._stop_event,
            reader=server.stdout,
            protocol=self.protocol,
            logger=log,
            error_handler=self.report_server_error,
        )
        start_task = asyncio.get_running_loop().create_task
        leaving = self._server_exit()  # type: ignore[no-untyped-call]
        self._async_tasks += [start_task(reading), start_task(leaving)]
        self._stderr_forwarder = start_task(forward_stderr(server))

    async def _initialize(self, roots: Sequence[Path], options: object) -> None:
        params = self._profile.params()
        params.initialization_options = options
        folders = [lsp.WorkspaceFolder(to_uri(root, None), root.name) for root in roots]
        params.root_uri = folders[0].uri if folders else None
        params.workspace_folders = folders or None
        self.result = await self.initialize_session(params)

    async def _leave(self) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            await self.shutdown_session()
        assert self._server is not None
        assert self._server.returncode == 0, f"the server ended with {self._server.returncode}"

    async def _end(self) -> None:
        if self._server is not None and self._server.returncode is None:
            self._server.kill()
        if self._server is not None and self._server.stdin is not None:
            self._server.stdin.close()
        await self.stop()  # type: ignore[no-untyped-call]

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        """The server has ended: nothing will come any more."""
        self.exit_code = server.returncode
        self.note_news()
        await super().server_exit(server)

    def disk_is_mine(self) -> None:
        """Assert that below the root only what the editor wrote has changed."""
        self._disk.check()


@cache  # what it compiles for a type takes as long as a whole session's messages
def _converter() -> Converter:
    """As pygls's, but lsprotocol takes a code action that has a command for a bare command."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    converter.register_structure_hook(
        lsp.Command | lsp.CodeAction,
        lambda entry, _: converter.structure(
            entry, lsp.Command if isinstance(entry.get("command"), str) else lsp.CodeAction
        ),
    )
    return converter


class EditorProtocol(LanguageClientProtocol):
    """Wakes those who wait at each message."""

    _server: FakeEditor

    def handle_message(self, message: Any) -> None:
        """As usual, but an editor that is silent does not answer an edit."""
        method = getattr(message, "method", None)
        if method == lsp.WORKSPACE_APPLY_EDIT and self._server.quirk is Quirk.SILENT:
            self._server.applied.append(message.params)
        else:
            super().handle_message(message)
        # Answers do not count: who asks in a loop would wake itself.
        self._server.n_news += method is not None
        self._server.note_news()


def _apply_edit(
    editor: FakeEditor, params: lsp.ApplyWorkspaceEditParams
) -> lsp.ApplyWorkspaceEditResult | None:
    try:
        return editor.apply_edit(params)
    except NotApplied:
        return lsp.ApplyWorkspaceEditResult(applied=False)


def _show_document(editor: FakeEditor, params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
    editor.shown_documents.append(params)
    path = to_path(params.uri)
    if editor.opens_shown and params.uri not in editor.documents and path and path.exists():
        editor.open(params.uri)
    return lsp.ShowDocumentResult(success=True)


async def _ask_user(
    editor: FakeEditor, params: lsp.ShowMessageRequestParams
) -> lsp.MessageActionItem | None:
    editor.asked.append(params)
    editor.n_buttons += 1
    try:
        if editor.leaves_buttons:
            await asyncio.Event().wait()
        title = editor.answer_message(params)
    finally:
        editor.n_buttons -= 1
        editor.note_news()
    return None if title is None else lsp.MessageActionItem(title)


def _register(editor: FakeEditor, params: lsp.RegistrationParams) -> None:
    editor.registered.extend(params.registrations)


def _refresh_lenses(editor: FakeEditor, params: object) -> None:
    editor.n_refreshed += 1


def _accept(editor: FakeEditor, params: object) -> None:
    """A refresh: nothing is shown here, so there is nothing to do."""


FEATURES = {
    lsp.WORKSPACE_APPLY_EDIT: _apply_edit,
    lsp.WINDOW_SHOW_DOCUMENT: _show_document,
    lsp.WINDOW_SHOW_MESSAGE_REQUEST: _ask_user,
    lsp.CLIENT_REGISTER_CAPABILITY: _register,
    lsp.WORKSPACE_CODE_LENS_REFRESH: _refresh_lenses,
    lsp.WORKSPACE_INLAY_HINT_REFRESH: _accept,
}


def _json(place: lsp.Position) -> dict[str, int]:
    return {"line": place.line, "character": place.character}


def _environment(home: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    folders = {
        f"XDG_{kind}_HOME": f"{home}/{kind.lower()}"
        for kind in ("CONFIG", "STATE", "CACHE", "DATA")
    }
    return {**kept, "HOME": home, **folders}
