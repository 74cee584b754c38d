"""The common part of all test editors: the process, the connection, and waiting for messages.

Waits do not sleep: each checks again when a message has arrived.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from cattrs import Converter
from lsprotocol import types as lsp
from pygls.io_ import run_async
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, LanguageClientProtocol
from pytest_lsp.client import forward_stderr

from tests.support.editor_profiles import Quirk

log = logging.getLogger(__name__)
SERVER = (sys.executable, "-I", "-m", "stet.cli.main", "serve")
WAIT_SECONDS = 60.0


class EditorSession(LanguageClient):
    """The client's end of the connection.

    Attributes:
        quirk: A fault in addition to those of the client.
        applied: Every `workspace/applyEdit` received, applied or not.
        exit_code: The exit code of the server, once it has exited.
        n_news: The number of requests and notifications received from the server.
    """

    def __init__(self, quirk: Quirk | None) -> None:
        super().__init__(protocol_cls=EditorProtocol, converter_factory=_converter)
        self.quirk = quirk
        self.applied: list[lsp.ApplyWorkspaceEditParams] = []
        self.exit_code: int | None = None
        self.n_news = 0
        self._is_killed = False
        self._news = asyncio.Event()

    async def wait_until(
        self,
        holds: Callable[[], object],
        seconds: float = WAIT_SECONDS,
        every: float | None = None,
    ) -> None:
        """Wait until `holds`; check after each message of the server, or `every` so many seconds if
        no message announces the change.
        """
        try:
            async with asyncio.timeout(seconds):
                while not holds():
                    assert self.exit_code is None, f"the server ended with {self.exit_code}"
                    if every is not None:
                        await asyncio.sleep(every)
                        continue
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            shown = [message.message for message in self.messages]
            raise AssertionError(
                f"waited {seconds} s in vain; diagnostics: {self.diagnostics}; messages: {shown}"
            ) from None

    async def wait_for_message(self, part: str) -> str:
        """Return the first message to the user that contains `part`."""
        await self.wait_until(lambda: any(part in one.message for one in self.messages))
        return next(one.message for one in self.messages if part in one.message)

    def progress_of(self, token: lsp.ProgressToken) -> list[Any]:
        """Return the progress reported so far for a token: begin, reports, end."""
        return list(self.progress_reports.get(token, ()))

    def note_news(self) -> None:
        """Wake all waits to check again."""
        self._news.set()

    def _attend(self, server: asyncio.subprocess.Process) -> None:
        """Connect to a running server, like the framework's `start_io`."""
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
        leaving = self._server_exit()
        self._async_tasks += [start_task(reading), start_task(leaving)]
        self._stderr_forwarder = start_task(forward_stderr(server))

    @property
    def process_id(self) -> int:
        """The process id of the server."""
        assert self._server is not None
        return self._server.pid

    async def kill(self) -> None:
        """Kill the server, as a crash does; the session then has no orderly end."""
        assert self._server is not None
        self._is_killed = True
        self._server.kill()
        await self._server.wait()

    async def _leave(self) -> None:
        if self._is_killed:
            return
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

    async def _server_exit(self) -> None:
        """Watch for the exit, like the framework, but cancel pending work for the server."""
        assert self._server is not None
        await self._server.wait()
        at_work: dict[Any, Any] = self.protocol._request_futures
        for msg_id, work in list(at_work.items()):
            if isinstance(work, asyncio.Task):
                work.cancel()
                del at_work[msg_id]
        await super()._server_exit()  # type: ignore[no-untyped-call]

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        """Wake all waits: the server has exited."""
        self.exit_code = server.returncode
        self.note_news()
        await super().server_exit(server)


@cache  # compiling converters for a type takes as long as all messages of a session
def _converter() -> Converter:
    """Make pygls's converter, but tell a code action with a command from a bare command."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    converter.register_structure_hook(
        lsp.Command | lsp.CodeAction,
        lambda entry, _: converter.structure(
            entry, lsp.Command if isinstance(entry.get("command"), str) else lsp.CodeAction
        ),
    )
    return converter


class EditorProtocol(LanguageClientProtocol):
    """A protocol that wakes all waits at each message."""

    _server: EditorSession

    def handle_message(self, message: Any) -> None:
        """Handle a message as usual, but leave edits unanswered in a silent editor."""
        method = getattr(message, "method", None)
        if method == lsp.WORKSPACE_APPLY_EDIT and self._server.quirk is Quirk.SILENT:
            self._server.applied.append(message.params)
        else:
            super().handle_message(message)
        # Answers do not count: a wait that sends requests would wake itself.
        self._server.n_news += method is not None
        self._server.note_news()


def own_environment(home: str) -> dict[str, str]:
    """Make a server's environment: a home of its own, and no keys."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    folders = {
        f"XDG_{kind}_HOME": f"{home}/{kind.lower()}"
        for kind in ("CONFIG", "STATE", "CACHE", "DATA")
    }
    return {**kept, "HOME": home, **folders}
