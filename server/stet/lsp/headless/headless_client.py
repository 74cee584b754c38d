"""The headless client, which `stet ask` and `stet demo` use in place of an editor.

It is a real client of a real `stet serve`: it opens documents, runs the server's commands, applies
`workspace/applyEdit` to its own buffers and answers as an editor does. It decides nothing and shows
nothing: the server's messages go to `on_event`, and the caller accepts hunks.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from stet import __version__
from stet.lsp.headless.editor_documents import EditorDocuments, EditUnsupported, UnsavedChange
from stet.lsp.tasks import Tasks
from stet.system.system import System
from stet.text.encoding import Encoding
from stet.workspace.uris import canonical, uri_of

NAME = "stet headless"
_MAX_STDERR_BYTES = 8192
_LAST_WORDS_SECONDS = 1


class HeadlessProtocol(LanguageClient):
    """The client of pygls, which also reads the server's stderr: a full pipe would block the
    server.
    """

    def __init__(self, on_exit: Callable[[], None]) -> None:
        super().__init__(NAME, __version__)
        self._on_exit = on_exit
        self._stderr = b""
        self._fault = ""

    async def start(self, command: Sequence[str], env: Mapping[str, str] | None) -> None:
        """Start the server in its own session, so that Ctrl-C in the terminal does not reach it.

        Raises:
            OSError: If the server can't be started.
        """
        await self.start_io(*command, env=env, start_new_session=True)
        if self._server is not None and self._server.stderr is not None:
            # pygls waits for the tasks of this list when it stops.
            drain = Tasks().spawn(self._drain(self._server.stderr), "reading the server's stderr")
            self._async_tasks.append(drain)

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:  # noqa: ARG002 - pygls's hook
        """Wake all callers that wait for the server, after it has exited."""
        self._on_exit()

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Store an error of pygls for `last_words`."""
        self._fault = f"{source.__name__}: {error}"

    async def last_words(self, otherwise: str) -> str:
        """Return why the server failed: the last line of its stderr, else the error that was
        stored, else `otherwise`.
        """
        if self.stopped:
            await asyncio.wait(self._async_tasks, timeout=_LAST_WORDS_SECONDS)
        last_line = self._stderr.decode(errors="replace").strip().split("\n")[-1].strip()
        return f"the language server failed: {last_line or self._fault or otherwise or 'no answer'}"

    async def ended(self) -> None:
        """Wait until the server and all tasks have ended."""
        self._stop_event.set()
        if self._server is not None:
            await self._server.wait()
        await asyncio.gather(*self._async_tasks)

    async def kill(self) -> None:
        """Kill a server that has not ended after `exit`."""
        if self._server is not None and self._server.returncode is None:
            self._server.kill()
        await self.ended()

    async def _drain(self, stderr: asyncio.StreamReader) -> None:
        while chunk := await stderr.read(_MAX_STDERR_BYTES):
            self._stderr = (self._stderr + chunk)[-_MAX_STDERR_BYTES:]


def capabilities(
    *, has_buttons: bool, wants_answers: bool, uses_daemon: bool
) -> lsp.ClientCapabilities:
    """Return the capabilities of the headless client.

    Args:
        has_buttons: Whether the client answers messages with choices.
        wants_answers: Whether the client shows an answer while the model writes it.
        uses_daemon: Whether an embedded model stays loaded for the next session.
    """
    buttons = lsp.ShowMessageRequestClientCapabilities() if has_buttons else None
    return lsp.ClientCapabilities(
        experimental={"stet": {"answers": wants_answers, "modelDaemon": uses_daemon}},
        general=lsp.GeneralClientCapabilities(
            position_encodings=[lsp.PositionEncodingKind.Utf32, lsp.PositionEncodingKind.Utf16]
        ),
        window=lsp.WindowClientCapabilities(
            work_done_progress=True,
            show_message=buttons,
            show_document=lsp.ShowDocumentClientCapabilities(support=True),
        ),
        workspace=lsp.WorkspaceClientCapabilities(
            apply_edit=True,
            configuration=True,
            workspace_folders=True,
            workspace_edit=lsp.WorkspaceEditClientCapabilities(
                document_changes=True,
                resource_operations=list(lsp.ResourceOperationKind),
                failure_handling=lsp.FailureHandlingKind.Transactional,
            ),
        ),
        text_document=lsp.TextDocumentClientCapabilities(
            synchronization=lsp.TextDocumentSyncClientCapabilities(did_save=True),
            publish_diagnostics=lsp.PublishDiagnosticsClientCapabilities(
                version_support=True, data_support=True
            ),
        ),
    )


SERVE = (sys.executable, "-I", "-m", "stet.cli.main", "serve")
"""The command of the server; with `-I`, so that no module is imported from a folder of the
workspace.
"""
OVER = frozenset({"completed", "failed", "cancelled", "limited"})
"""The states of a turn that has ended."""
UNDECIDED = frozenset({"pending", "sent"})
"""The states of a hunk whose acceptance is not finished."""

SETTINGS = {"edit": {"reviewStyle": "margin"}, "agents": {"socket": False}}
"""The section `stet` of the settings: blocks would be saved together with the accepted text, and
other programs reach the user's editor, not this client.
"""
_START_SECONDS = 30
_STOP_SECONDS = 5
_ACCEPT_SECONDS = 15
_MARK_SECONDS = 5


@dataclass(frozen=True, slots=True)
class ServerProgress:
    """The progress of the server's work.

    Attributes:
        stage: `begin`, `report` or `end`.
        title: The title of the whole work.
        message: The current step, or the outcome.
    """

    stage: str
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class MessageShown:
    """A message of the server to the user; `kind` is `error`, `warning` or `info`."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class EditApplied:
    """An edit of the server that was applied to the buffers, or refused with a reason."""

    label: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of an answer; it follows the first `start` code points of the answer."""

    start: int
    text: str


Event = ServerProgress | MessageShown | EditApplied | AnswerPiece


class ServerFailed(Exception):
    """The server did not start or has exited; the message has the last line of its stderr."""


class CommandFailed(Exception):
    """The server refused a command; `code` is the JSON-RPC error code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class HeadlessClient:
    """A client of the server without a user interface.

    Attributes:
        documents: The buffers of the client; nothing is written to the disk.
    """

    def __init__(
        self,
        system: System,
        *,
        on_event: Callable[[Event], None],
        choose: Callable[[str, Sequence[str]], Awaitable[str | None]] | None = None,
        wants_answers: bool = False,
        uses_daemon: bool = False,
    ) -> None:
        """Create a client without a server.

        Args:
            system: The access to files.
            on_event: A function that receives the server's messages.
            choose: A function that answers a question, by a choice or any text, or returns None if
                no user is present. None: the client has no buttons.
            wants_answers: Whether the client shows an answer while the model writes it.
            uses_daemon: Whether an embedded model stays loaded for the next session.
        """
        self._wants_answers = wants_answers
        self._uses_daemon = uses_daemon
        self._choose = choose
        self.documents = EditorDocuments(system)
        self._on_event = on_event
        self._titles: dict[int | str, str] = {}
        self._diagnostics: dict[str, Sequence[lsp.Diagnostic]] = {}
        self._news = asyncio.Event()
        self._wire = HeadlessProtocol(self._news.set)  # waiting callers check again
        self._register()

    @asynccontextmanager
    async def session(
        self, root: Path, *, env: Mapping[str, str] | None = None, command: Sequence[str] = SERVE
    ) -> AsyncIterator["HeadlessClient"]:
        """Start the server for the folder `root`, and stop it at the end of the block.

        Args:
            root: The only workspace folder.
            env: The server's environment; None: the environment of this process.
            command: The command that starts the server.

        Raises:
            ServerFailed: If the server does not start or does not answer.
        """
        try:
            await self._wire.start(command, env)
        except OSError as error:
            raise ServerFailed(f"{command[0]!r} can't be started: {error}") from error
        try:
            await self._initialize(root)
            yield self
        finally:
            await self._stop()

    def open(self, path: Path) -> str:
        """Open a file as an editor does; return its URI.

        Raises:
            OSError: If the file can't be read.
            UnicodeDecodeError: If the file is not UTF-8.
        """
        uri, notice = self.documents.open(path)
        self._wire.protocol.notify(*notice)
        return uri

    def saved(self, change: UnsavedChange) -> None:
        """Record that a change was written to the disk, and notify the server."""
        uri = self.documents.saved(change)
        if uri is not None:
            params = lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(uri))
            self._wire.text_document_did_save(params)

    async def command(self, name: str, *arguments: object) -> Any:
        """Run a command of the server; return its answer as JSON.

        Raises:
            CommandFailed: If the server refuses the command.
            ServerFailed: If the server has exited.
        """
        params = lsp.ExecuteCommandParams(name, list(arguments))
        try:
            return await self._wire.workspace_execute_command_async(params)
        except JsonRpcException as error:
            raise CommandFailed(str(error.message), error.code) from error
        except (RuntimeError, OSError) as error:
            raise ServerFailed(await self._wire.last_words(str(error))) from error

    async def turn_ended(self, turn: str) -> dict[str, Any]:
        """Wait until a turn has ended; return the answer of `stet.turn`.

        Raises:
            CommandFailed: If there is no such turn.
            ServerFailed: If the server exits meanwhile.
        """
        while True:
            self._news.clear()  # before the request, so that no message is missed
            state: dict[str, Any] = await self.command("stet.turn", {"turn": turn})
            if state["state"] in OVER:
                return state
            await self._news.wait()

    async def accept(self, **arguments: object) -> dict[str, Any]:
        """Accept hunks and wait until they are decided.

        Returns:
            `accepted`: the ids; `refused`: `{hunk, reason}` for each hunk that was not accepted.

        Raises:
            CommandFailed: If the server refuses the command.
            ServerFailed: If the server exits meanwhile.
        """
        answer = await self.command("stet.accept", arguments)
        hunks = answer["hunks"]
        states = await self._decided(hunks) if hunks else {}
        accepted = [hunk for hunk in hunks if states[hunk].get("state") == "accepted"]
        others = [
            {"hunk": hunk, "reason": states[hunk].get("reason") or "the editor's answer was lost"}
            for hunk in hunks
            if states[hunk].get("state") != "accepted"
        ]
        return {"accepted": accepted, "refused": [*answer["refused"], *others]}

    async def text_of(self, uri: str) -> tuple[str | None, Encoding]:
        """Return the text of a document, and the unit of its columns.

        The text is None if the document can't be read.
        """
        return self.documents.read(uri), self.documents.encoding

    async def marks(self, uri: str) -> tuple[str, ...]:
        """Return the messages of the diagnostics of a document. Wait briefly if there are none."""
        try:
            async with asyncio.timeout(_MARK_SECONDS):
                while not self._diagnostics.get(canonical(uri)):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return ()
        return tuple(str(diagnostics.message) for diagnostics in self._diagnostics[canonical(uri)])

    async def _decided(self, hunks: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Wait until all `hunks` are decided, or the time is up; return the answers of
        `stet.proposals` by hunk id.
        """
        states: dict[str, dict[str, Any]] = {hunk: {} for hunk in hunks}
        try:
            async with asyncio.timeout(_ACCEPT_SECONDS):
                while True:
                    self._news.clear()
                    listed = await self.command("stet.proposals")
                    states |= {item["hunk"]: item for item in listed}
                    if not any(states[hunk].get("state") in UNDECIDED for hunk in hunks):
                        return states
                    await self._news.wait()
        except TimeoutError:
            return states

    async def _initialize(self, root: Path) -> None:
        uri = uri_of(root)
        params = lsp.InitializeParams(
            capabilities=capabilities(
                has_buttons=self._choose is not None,
                wants_answers=self._wants_answers,
                uses_daemon=self._uses_daemon,
            ),
            client_info=lsp.ClientInfo("stet headless", __version__),
            root_uri=uri,
            workspace_folders=[lsp.WorkspaceFolder(uri, root.name)],
            initialization_options=SETTINGS,
        )
        try:
            async with asyncio.timeout(_START_SECONDS):
                result = await self._wire.initialize_async(params)
        except (TimeoutError, RuntimeError, JsonRpcException, OSError) as error:
            raise ServerFailed(await self._wire.last_words(str(error))) from error
        encoding = result.capabilities.position_encoding
        self.documents.encoding = Encoding(encoding or "utf-16")
        self._wire.initialized(lsp.InitializedParams())

    async def _stop(self) -> None:
        """Stop the server as the protocol requires; kill it if it does not end in time."""
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self._wire.shutdown_async(None)
                self._wire.exit(None)
                await self._wire.ended()
        except (TimeoutError, RuntimeError, JsonRpcException, OSError):
            await self._wire.kill()

    def _register(self) -> None:
        """Register the handlers. They are plain functions: pygls replies when they return."""
        answers: Mapping[str, Callable[[Any], object]] = {
            lsp.PROGRESS: self._progressed,
            lsp.WINDOW_WORK_DONE_PROGRESS_CREATE: _nothing,
            "$/stet/answer": self._answered,
            lsp.WINDOW_SHOW_MESSAGE: self._shown,
            lsp.WINDOW_LOG_MESSAGE: _nothing,
            lsp.WINDOW_SHOW_DOCUMENT: lambda _: lsp.ShowDocumentResult(success=True),
            lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: self._diagnosed,
            lsp.WORKSPACE_APPLY_EDIT: self._apply_edit,
            lsp.WORKSPACE_CONFIGURATION: _configuration,
            lsp.CLIENT_REGISTER_CAPABILITY: _nothing,
            lsp.CLIENT_UNREGISTER_CAPABILITY: _nothing,
            lsp.WORKSPACE_CODE_LENS_REFRESH: _nothing,
            lsp.WORKSPACE_DIAGNOSTIC_REFRESH: _nothing,
        }
        for method, answer in answers.items():
            # A partial, because pygls sets an attribute of the function, which a method refuses.
            self._wire.feature(method)(partial(answer))
        # This handler waits for the user, so it is a coroutine.
        self._wire.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)(partial(self._answer_request))

    async def _answer_request(
        self, params: lsp.ShowMessageRequestParams
    ) -> lsp.MessageActionItem | None:
        choices = [action.title for action in params.actions or ()]
        answer = None if self._choose is None else await self._choose(params.message, choices)
        return None if answer is None else lsp.MessageActionItem(title=answer)

    def _progressed(self, params: lsp.ProgressParams) -> None:
        value: Mapping[str, Any] = params.value or {}
        stage = str(value.get("kind"))
        if stage == "begin":
            self._titles[params.token] = str(value.get("title") or "")
        title, message = self._titles.get(params.token, ""), str(value.get("message") or "")
        self._on_event(ServerProgress(stage, title, message))
        if stage == "end":
            self._news.set()

    def _answered(self, params: Any) -> None:
        self._on_event(AnswerPiece(int(params.start), str(params.text)))

    def _shown(self, params: lsp.ShowMessageParams) -> None:
        self._on_event(MessageShown(params.type.name.lower(), params.message))
        self._news.set()

    def _diagnosed(self, params: lsp.PublishDiagnosticsParams) -> None:
        self._diagnostics[canonical(params.uri)] = params.diagnostics
        self._news.set()

    def _apply_edit(self, params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
        label = params.label or ""
        self._news.set()
        try:
            notices = self.documents.apply(params.edit)
        except EditUnsupported as refusal:
            self._on_event(EditApplied(label, str(refusal)))
            return lsp.ApplyWorkspaceEditResult(applied=False, failure_reason=str(refusal))
        for notice in notices:  # before the answer, as editors do
            self._wire.protocol.notify(*notice)
        self._on_event(EditApplied(label))
        return lsp.ApplyWorkspaceEditResult(applied=True)


def _nothing(_: object) -> None:
    """Answer a request that requires only a reply."""


def _configuration(params: lsp.ConfigurationParams) -> list[object]:
    return [SETTINGS if item.section == "stet" else None for item in params.items]
