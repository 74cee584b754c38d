"""What any editor has to do with its server: the process, the wire, and waiting for what comes.

No wait sleeps: each looks again when a message has arrived.
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
    """An editor's end of the wire.

    Attributes:
        quirk: A fault beside those of the client.
        applied: Every `workspace/applyEdit` received, applied or not.
        exit_code: Of the server, once it has ended.
        n_news: How many requests and notifications have come from the server.
    """

    def __init__(self, quirk: Quirk | None) -> None:
        super().__init__(protocol_cls=EditorProtocol, converter_factory=_converter)
        self.quirk = quirk
        self.applied: list[lsp.ApplyWorkspaceEditParams] = []
        self.exit_code: int | None = None
        self.n_news = 0
        self._news = asyncio.Event()

    async def wait_until(
        self,
        holds: Callable[[], object],
        seconds: float = WAIT_SECONDS,
        every: float | None = None,
    ) -> None:
        """Wait until `holds`; looked at whenever a message has come from the server, or `every` so
        many seconds where no message tells of it.
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
        """The first message to the user that contains `part`."""
        await self.wait_until(lambda: any(part in one.message for one in self.messages))
        return next(one.message for one in self.messages if part in one.message)

    def progress_of(self, token: lsp.ProgressToken) -> list[Any]:
        """What was shown so far of a piece of work: begin, reports, end."""
        return list(self.progress_reports.get(token, ()))

    def note_news(self) -> None:
        """Something has arrived: let those who wait look again."""
        self._news.set()

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
        leaving = self._server_exit()
        self._async_tasks += [start_task(reading), start_task(leaving)]
        self._stderr_forwarder = start_task(forward_stderr(server))

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

    async def _server_exit(self) -> None:
        """As the framework's, which can't give up what it is still at for the server."""
        assert self._server is not None
        await self._server.wait()
        at_work: dict[Any, Any] = self.protocol._request_futures
        for msg_id, work in list(at_work.items()):
            if isinstance(work, asyncio.Task):
                work.cancel()
                del at_work[msg_id]
        await super()._server_exit()  # type: ignore[no-untyped-call]

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        """The server has ended: nothing will come any more."""
        self.exit_code = server.returncode
        self.note_news()
        await super().server_exit(server)


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

    _server: EditorSession

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


def own_environment(home: str) -> dict[str, str]:
    """What a server is started with: a home of its own, and no keys."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    folders = {
        f"XDG_{kind}_HOME": f"{home}/{kind.lower()}"
        for kind in ("CONFIG", "STATE", "CACHE", "DATA")
    }
    return {**kept, "HOME": home, **folders}
