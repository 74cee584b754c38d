"""An editor for tests: keeps documents according to the protocol, and has real editors' faults.

    async with FakeEditor.start(root, client="helix", settings={"model": ...}) as editor:
        uri = editor.open("app.py")
        turn = await editor.command("stet.ask", {"prompt": "..."})
        [diagnostic] = await editor.wait_for_diagnostics(uri)

Waits do not sleep: each checks again when a message has arrived. At the end of the block the server
must exit with 0, and only the editor may have changed files below the root.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from tests.support.editor_buffers import EditorBuffers
from tests.support.editor_disk import NotApplied
from tests.support.editor_documents import (
    to_path,
    to_uri,
)
from tests.support.editor_profiles import PROFILES, Profile, Quirk
from tests.support.editor_session import SERVER, own_environment
from tests.support.server_processes import start


class FakeEditor(EditorBuffers):
    """One editor with one server.

    Attributes:
        settings_reported: Set when the editor may report its settings, for `Quirk.LATE_SETTINGS`.
        n_refreshed: The number of requests to refresh code lenses.
        shown_chats: The parameters of every `$/stet/showChat` received.
        opens_shown: Whether the editor opens files that it is asked to show, as real editors do.
        answer_message: Returns the title with which to answer `window/showMessageRequest`.
        leaves_buttons: Whether the user ignores messages with buttons until the server withdraws
            them.
        n_buttons: The number of unanswered messages with buttons.
    """

    def __init__(self, profile: Profile, root: Path | None, quirk: Quirk | None) -> None:
        super().__init__(profile, root, quirk)
        self.asked: list[lsp.ShowMessageRequestParams] = []
        self.registered: list[lsp.Registration] = []
        self.answer_message: Callable[[lsp.ShowMessageRequestParams], str | None] = lambda _: None
        self.settings_reported = asyncio.Event()
        self.n_refreshed = 0
        self.leaves_buttons = False
        self.n_buttons = 0
        self.opens_shown = False
        self.shown_chats: list[Any] = []
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
        experimental: object = None,
    ) -> AsyncIterator["FakeEditor"]:
        """Start and initialize a server.

        Args:
            root: The workspace folder, or several, or none.
            client: The editor's name, a key of `PROFILES`.
            settings: The section `stet`, which answers `workspace/configuration`.
            options: `initializationOptions`.
            env: Variables added to a clean environment, with a home of its own and no keys.
            quirk: A fault in addition to those of the client.
            command: The command line of the server.
            fresh: Whether to start a process without preloaded modules; see `starting`.
            experimental: The experimental capabilities that the editor declares.
        """
        roots = [root] if isinstance(root, Path) else list(root or ())
        editor = cls(PROFILES[client], roots[0] if roots else None, quirk)
        if settings is not None:
            editor.set_configuration(settings, section="stet")
        with tempfile.TemporaryDirectory() as home:
            server = await start(command, env={**own_environment(home), **(env or {})}, fresh=fresh)
            editor._attend(server)
            try:
                await editor._initialize(roots, options, experimental)
                yield editor
                await editor._leave()
            finally:
                await editor._end()
        editor.disk_is_mine()

    async def _initialize(
        self, roots: Sequence[Path], options: object, experimental: object
    ) -> None:
        params = self._profile.params()
        if experimental is not None:
            params.capabilities.experimental = experimental
        params.initialization_options = options
        folders = [lsp.WorkspaceFolder(to_uri(root, None), root.name) for root in roots]
        params.root_uri = folders[0].uri if folders else None
        params.workspace_folders = folders or None
        self.result = await self.initialize_session(params)

    async def command(self, name: str, *arguments: object) -> Any:
        """Execute a command of the server; return its answer as plain JSON.

        Raises:
            JsonRpcException: If the answer is an error.
        """
        self.flush()
        self._last_command = asyncio.get_running_loop().time()
        params = lsp.ExecuteCommandParams(name, list(arguments))
        return await self.workspace_execute_command_async(params)

    async def request(self, method: str, params: object = None) -> Any:
        """Send any request; objects in the answer are named tuples."""
        self.flush()
        return await self.protocol.send_request_async(method, params)  # type: ignore[no-untyped-call]

    async def actions(
        self, name: str | Path, needle: str, only: Sequence[str] | None = None
    ) -> list[lsp.CodeAction]:
        """Return the code actions at `needle`, requested with the diagnostics there."""
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
        """Execute the code action whose title begins with `title`."""
        actions = await self.actions(name, needle)
        chosen = [action for action in actions if action.title.startswith(title)]
        assert len(chosen) == 1, f"{title!r} among {[action.title for action in actions]}"
        assert chosen[0].command is not None
        return await self.command(chosen[0].command.command, *(chosen[0].command.arguments or ()))

    def focus(self, name: str | Path | None) -> None:
        """Focus a document, or none."""
        params = {} if name is None else {"textDocument": {"uri": self.uri(name)}}
        self.protocol.notify("$/stet/didFocus", params)

    def select(self, name: str | Path, needle: str) -> None:
        """Select the one occurrence of `needle`."""
        stretch = self.range_of(name, needle)
        selection = {"anchor": _json(stretch.start), "active": _json(stretch.end)}
        params = {"textDocument": {"uri": self.uri(name)}, "selections": [selection]}
        self.protocol.notify("$/stet/didChangeSelection", params)

    def stop_progress(self, token: lsp.ProgressToken) -> None:
        """Cancel work by its progress token."""
        self.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(token))

    async def wait_for_diagnostics(
        self,
        name: str | Path,
        holds: Callable[[Sequence[lsp.Diagnostic]], object] = bool,
    ) -> Sequence[lsp.Diagnostic]:
        """Return a document's diagnostics once `holds` is true; by default once any exist."""
        uri = self.uri(name)
        await self.wait_until(lambda: holds(self.diagnostics.get(uri, ())))
        return self.diagnostics.get(uri, ())


async def _apply_edit(
    editor: FakeEditor, params: lsp.ApplyWorkspaceEditParams
) -> lsp.ApplyWorkspaceEditResult | None:
    named = editor.documents_of(params)
    editor.n_in_flight += 1
    editor.in_flight.update(named)
    editor.most_in_flight = max(editor.most_in_flight, *editor.in_flight.values(), 0)
    try:
        await editor.wait_to_look()
        try:
            return editor.apply_edit(params)
        except NotApplied:
            return lsp.ApplyWorkspaceEditResult(applied=False)
        finally:
            await editor.wait_to_answer()
    finally:
        editor.n_in_flight -= 1
        editor.in_flight.subtract(named)
        editor.note_news()


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


async def _report_settings(editor: FakeEditor, params: lsp.ConfigurationParams) -> list[Any]:
    if editor.quirk is Quirk.LATE_SETTINGS:
        await editor.settings_reported.wait()
    return [
        editor.get_configuration(section=item.section, scope_uri=item.scope_uri)
        for item in params.items
    ]


def _register(editor: FakeEditor, params: lsp.RegistrationParams) -> None:
    editor.registered.extend(params.registrations)


def _unregister(editor: FakeEditor, params: lsp.UnregistrationParams) -> None:
    gone = {one.id for one in params.unregisterations}
    editor.registered = [one for one in editor.registered if one.id not in gone]


def _show_chat(editor: FakeEditor, params: Any) -> None:
    editor.shown_chats.append(params)
    if editor.opens_shown and params.uri not in editor.documents:
        editor.open(params.uri)


def _refresh_lenses(editor: FakeEditor, params: object) -> None:
    editor.n_refreshed += 1


def _accept(editor: FakeEditor, params: object) -> None:
    """Accept a refresh request: this editor has nothing to redraw."""


FEATURES = {
    lsp.WORKSPACE_APPLY_EDIT: _apply_edit,
    lsp.WINDOW_SHOW_DOCUMENT: _show_document,
    "$/stet/showChat": _show_chat,
    lsp.WINDOW_SHOW_MESSAGE_REQUEST: _ask_user,
    lsp.WORKSPACE_CONFIGURATION: _report_settings,
    lsp.CLIENT_REGISTER_CAPABILITY: _register,
    lsp.CLIENT_UNREGISTER_CAPABILITY: _unregister,
    lsp.WORKSPACE_CODE_LENS_REFRESH: _refresh_lenses,
    lsp.WORKSPACE_INLAY_HINT_REFRESH: _accept,
}


def _json(place: lsp.Position) -> dict[str, int]:
    return {"line": place.line, "character": place.character}
