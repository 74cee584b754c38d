"""Crash reports of a run, and the trace of what a model was sent and answered."""

import asyncio
import logging
from collections.abc import Callable

from stet.lsp.capabilities import ClientCapabilities
from stet.observability.crash_reports import CrashReporter, FaultLog
from stet.observability.log_format import PrivateFormatter
from stet.observability.log_handlers import LazyLogFile, log_file_path
from stet.settings.values import Settings

log = logging.getLogger(__name__)

TRACE = "model-trace"
"""The kind of log file that the trace is; it is in the folder of the log."""
_MAX_TRACE_BYTES = 20_000_000
_MAX_RECORD = 5_000_000
"""Characters of one round."""


class Observability:
    """The reports and the trace of one run.

    Attributes:
        reports: What writes reports; a handler of the log.
    """

    def __init__(self, reports: CrashReporter | None = None) -> None:
        self.reports = reports or CrashReporter()
        self._notes = FaultLog(self.reports.directory)
        self._editor: ClientCapabilities | None = None
        self._settings = Settings()
        self._tell: Callable[[str], None] = lambda _: None
        self._trace: LazyLogFile | None = None
        self.reports.facts = self._facts

    def editor_connected(self, editor: ClientCapabilities, tell: Callable[[str], None]) -> None:
        """Note the editor, and how its user is notified; called on the event loop."""
        loop = asyncio.get_running_loop()

        def tell_soon(message: str) -> None:
            loop.call_soon_threadsafe(tell, message)

        self._editor = editor
        self._tell = tell
        self.reports.notify_by(tell_soon)

    def settings_changed(self, settings: Settings) -> None:
        """Start or end the trace after the settings have changed."""
        self._settings = settings
        if not settings.log.trace_model:
            self._end_trace()
        elif self._trace is None:
            path = log_file_path(TRACE)
            self._trace = LazyLogFile(path, _MAX_TRACE_BYTES)
            self._trace.setFormatter(PrivateFormatter("%(asctime)s %(message)s", _MAX_RECORD))
            self._tell(
                f"Stet: log.traceModel is on: what a model is asked and answers is in {path}."
            )

    def tracer(self) -> Callable[[str], None] | None:
        """Return the function that writes the trace of a model, or None if no trace is wanted.

        Blocking: it is called in a worker.
        """
        trace = self._trace
        if trace is None:
            return None

        def write(text: str) -> None:
            trace.handle(logging.makeLogRecord({"msg": text, "name": __name__}))

        return write

    async def begin(self) -> None:
        """Catch fatal errors from now on, and notify the user of an earlier run that ended by one."""
        try:
            n_found = await asyncio.to_thread(lambda: self._notes.begin(self._facts()))
        except OSError as fault:
            log.warning("no fatal error could be reported: %s", fault)
            return
        if n_found:
            self._tell(
                "Stet: an earlier run ended by a fatal error. A report is in "
                f"{self.reports.directory.folder}: it holds none of your text. Please attach it to an issue "
                "in Stet's tracker."
            )

    def end(self) -> None:
        """Record that the run ended in good order."""
        self._notes.end()
        self._end_trace()

    def _end_trace(self) -> None:
        trace, self._trace = self._trace, None
        if trace is not None:
            trace.close()

    def _facts(self) -> list[str]:
        from stet.lsp.environment_facts import (
            facts,  # late: it is needed after `initialize`
        )

        return facts(self._editor, self._settings)
