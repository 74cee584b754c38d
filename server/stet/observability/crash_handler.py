"""Reports of what fails: whatever is logged as an error with the error itself is a bug of ours.

So the boundaries that log bugs (`stet.lsp.routing`, `stet.lsp.tasks`, the agent's) need not know of
reports, and neither does a library whose callback fails in the event loop.
"""

import logging
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType

from stet.observability.log_format import anonymous_line
from stet.observability.report_directory import ReportDirectory
from stet.observability.safe_handler import SafeHandler

log = logging.getLogger(__name__)

MAX_PER_RUN = 5
"""Reports of one run; what fails at every keystroke fills no disk."""
_N_LINES = 40
_CLOSE_SECONDS = 1.0


class CrashReporter(SafeHandler):
    """Keeps the last lines of the log, and writes a report when one is about a bug.

    Attributes:
        reports: Where reports lie.
        facts: Gives what is known of program and surroundings, a line each.
    """

    def __init__(self, reports: ReportDirectory | None = None) -> None:
        super().__init__(logging.DEBUG)
        self.directory = reports or ReportDirectory()
        self.facts: Callable[[], list[str]] = list
        self._lines: deque[str] = deque(maxlen=_N_LINES)
        self._seen: set[tuple[str, str, int]] = set()
        self._writing: list[threading.Thread] = []
        self._tell: Callable[[str], None] | None = None
        self._untold = ""
        self._has_notified = False

    def emit(self, record: logging.LogRecord) -> None:
        """Note a record, and report what it tells of."""
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        self._lines.append(f"{at} {anonymous_line(record)}")
        error = record.exc_info[1] if record.exc_info else None
        if error is None or record.levelno < logging.ERROR or not self._is_new(error):
            return
        arguments = (anonymous_line(record), error, list(self._lines))
        if record.levelno >= logging.CRITICAL:  # the process ends
            self._report(*arguments)
            return
        thread = threading.Thread(target=self._report, args=arguments, daemon=True)
        self._writing.append(thread)
        thread.start()

    def notify_by(self, tell: Callable[[str], None]) -> None:
        """Have the user told of the first report, by whatever thread has written it."""
        self._tell = tell
        if self._untold:
            tell(self._untold)

    def close(self) -> None:
        """Wait a moment for what is being written."""
        for thread in self._writing:
            thread.join(_CLOSE_SECONDS)
        super().close()

    def _is_new(self, error: BaseException) -> bool:
        """Whether no such error has been reported from the same place."""
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        where = ("", 0) if last is None else (last.tb_frame.f_code.co_filename, last.tb_lineno)
        key = (type(error).__qualname__, *where)
        if key in self._seen or len(self._seen) >= MAX_PER_RUN:
            return False
        self._seen.add(key)
        return True

    def _report(self, what: str, error: BaseException, lines: list[str]) -> None:
        from stet.text.safe_traceback import (
            format_safe_traceback,  # late: nothing fails in most runs
        )

        parts = [
            "Stet crash report. It holds no text of yours, no paths and no keys.",
            f"when: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            f"what: {what}",
            *self.facts(),
            "",
            "where:",
            format_safe_traceback(error),
            "",
            "last lines of the log:",
            *lines,
        ]
        try:
            path = self.directory.save("\n".join(parts) + "\n")
        except OSError as fault:
            log.warning("no crash report is written: %s", fault)
            return
        self._notify(
            f"Stet: something failed inside Stet. A report is in {path}: it holds none of your text. "
            "Please attach it to an issue in Stet's tracker."
        )

    def _notify(self, message: str) -> None:
        if self._has_notified:
            return
        self._has_notified = True
        if self._tell is None:
            self._untold = message
        else:
            with suppress(RuntimeError):  # the session is over
                self._tell(message)


def catch_all() -> None:
    """Have what nobody catches logged, wherever it is raised, before it ends the process or a thread."""

    def ended(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, tb)
            return
        log.critical("Stet ended by an error", exc_info=(kind, error, tb))

    def thread_ended(failed: threading.ExceptHookArgs) -> None:
        if failed.exc_value is not None:
            log.error("a thread failed", exc_info=failed.exc_value)

    sys.excepthook = ended
    threading.excepthook = thread_ended
