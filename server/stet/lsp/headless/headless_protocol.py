"""The wire of the headless client: pygls's client, the server's stderr, and what is advertised."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from stet import __version__
from stet.lsp.tasks import Tasks

NAME = "stet headless"
_MAX_STDERR_BYTES = 8192
_LAST_WORDS_SECONDS = 1


class HeadlessProtocol(LanguageClient):
    """pygls's client with the server's stderr read: undrained, a talkative server would hang."""

    def __init__(self, on_exit: Callable[[], None]) -> None:
        super().__init__(NAME, __version__)
        self._on_exit = on_exit
        self._stderr = b""
        self._fault = ""

    async def start(self, command: Sequence[str], env: Mapping[str, str] | None) -> None:
        """Start the server in a session of its own: Ctrl-C in our terminal is for us.

        Raises:
            OSError: If it can't be started.
        """
        await self.start_io(*command, env=env, start_new_session=True)
        if self._server is not None and self._server.stderr is not None:
            # pygls keeps this list and waits for it when it stops.
            drain = Tasks().spawn(self._drain(self._server.stderr), "reading the server's stderr")
            self._async_tasks.append(drain)

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:  # noqa: ARG002 - pygls's hook
        """Wake all callers that wait for news from the server after it has exited."""
        self._on_exit()

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Keep what pygls could not make sense of, for `last_words`."""
        self._fault = f"{source.__name__}: {error}"

    async def last_words(self, otherwise: str) -> str:
        """Why the server failed: the last line it wrote to stderr, or else what is known here."""
        if self.stopped:
            await asyncio.wait(self._async_tasks, timeout=_LAST_WORDS_SECONDS)
        lines = self._stderr.decode(errors="replace").split("\n")
        last_line = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"the language server failed: {last_line or self._fault or otherwise or 'no answer'}"

    async def ended(self) -> None:
        """Wait until the server has ended, and everything here with it."""
        self._stop_event.set()
        if self._server is not None:
            await self._server.wait()
        await asyncio.gather(*self._async_tasks)

    async def kill(self) -> None:
        """End a server that would not end by itself."""
        if self._server is not None and self._server.returncode is None:
            self._server.kill()
        await self.ended()

    async def _drain(self, stderr: asyncio.StreamReader) -> None:
        while chunk := await stderr.read(_MAX_STDERR_BYTES):
            self._stderr = (self._stderr + chunk)[-_MAX_STDERR_BYTES:]


def capabilities(*, has_buttons: bool) -> lsp.ClientCapabilities:
    """Return the editor's capabilities. The server would otherwise request more than the editor can
    do.

    Args:
        has_buttons: Whether it answers a message with choices.
    """
    buttons = lsp.ShowMessageRequestClientCapabilities() if has_buttons else None
    resources = lsp.ResourceOperationKind
    return lsp.ClientCapabilities(
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
                resource_operations=[resources.Create, resources.Rename, resources.Delete],
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
