"""Progress that the server starts: shown by the editor, and cancelled from there.

The token is ours and used once (clients behind a multiplexer share a name space). The editor has to
agree to it before it may be used; work does not wait for that: what is reported meanwhile is kept,
the last of it sent, and nothing at all where the editor can't show progress or never answers.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable
from concurrent.futures import Future

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from stet.lsp.connection.protocol import StetLanguageServer

log = logging.getLogger(__name__)

CREATE_SECONDS = 5.0


class Progress:
    """One piece of work as the editor shows it. Ends by `end`; what follows is ignored."""

    def __init__(
        self,
        server: StetLanguageServer,
        title: str,
        message: str = "",
        on_cancel: Callable[[], None] | None = None,
    ) -> None:
        """Ask the editor to show it.

        Args:
            server: Whose editor.
            title: What is being done; does not change.
            message: How far it is.
            on_cancel: Called, at most once, when the user stops it; None: can't be stopped.
        """
        self.token = str(uuid.uuid4())
        self._server = server
        self._on_cancel = on_cancel
        self._begin = lsp.WorkDoneProgressBegin(
            title=title, cancellable=on_cancel is not None, message=message or None
        )
        self._report: lsp.WorkDoneProgressReport | None = None
        self._end: lsp.WorkDoneProgressEnd | None = None
        self._is_shown = False
        if server.editor.progress:
            server.tasks.start(self._create(), f"progress of {title!r}")

    def report(self, message: str, percentage: int | None = None) -> None:
        """Say how far it is; `percentage` is 0 to 100."""
        self._report = lsp.WorkDoneProgressReport(message=message, percentage=percentage)
        if self._is_shown and self._end is None:
            self._server.work_done_progress.report(self.token, self._report)

    def end(self, message: str = "") -> None:
        """Say how it ended."""
        if self._end is not None:
            return
        self._end = lsp.WorkDoneProgressEnd(message=message or None)
        if self._is_shown:
            self._send_end(self._end)

    async def _create(self) -> None:
        params = lsp.WorkDoneProgressCreateParams(token=self.token)
        try:
            await self._server.protocol.ask(
                lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, params, CREATE_SECONDS
            )
        except (TimeoutError, JsonRpcException) as error:
            log.info("the editor shows no progress: %s", error)
            return
        self._is_shown = True
        # pygls cancels the future it finds here when the user stops the work.
        cancelled: Future[object] = Future()
        cancelled.add_done_callback(self._cancelled)
        progress = self._server.work_done_progress
        progress.tokens[self.token] = cancelled
        progress.begin(self.token, self._begin)
        if self._end is not None:
            self._send_end(self._end)
        elif self._report is not None:
            progress.report(self.token, self._report)

    def _send_end(self, end: lsp.WorkDoneProgressEnd) -> None:
        progress = self._server.work_done_progress
        progress.end(self.token, end)
        progress.tokens.pop(self.token, None)  # pygls keeps every token for ever

    def _cancelled(self, future: Future[object]) -> None:
        if future.cancelled() and self._end is None and self._on_cancel is not None:
            asyncio.get_running_loop().call_soon(self._on_cancel)
