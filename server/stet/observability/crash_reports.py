"""Crash reports: what is reported, what a report contains, and where reports are kept.

A record of the log at level error that has an exception is a bug of Stet. `CrashReporter` listens
to the log, so code that logs a bug (`stet.lsp.routing`, `stet.lsp.tasks`, the agent) need not know
of reports, and neither does a library whose callback fails in the event loop.

`FaultLog` covers failures that no handler sees: a fault in native code, an abort. Python's
`faulthandler` writes into a file that is created at the start and removed at an orderly end. The
next process makes a report of a file that a dead process left; a file without a fault (a kill, a
power cut) is removed.
"""

import faulthandler
import logging
import os
import re
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType

from stet.observability.log_format import anonymous_line
from stet.observability.log_handlers import SafeHandler, log_folder
from stet.observability.private_files import make_private, open_private
from stet.text.safe_traceback import format_safe_traceback, package_path

MAX_REPORTS = 10
_HEADING = "Stet crash report. It contains none of your text, no paths and no keys."


class ReportDirectory:
    """The folder of one user's reports."""

    def __init__(self, folder: Path | None = None) -> None:
        """Create the object only. The first report creates the folder, by default near the log."""
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The folder of the reports; it need not exist."""
        return self._folder or log_folder() / "crashes"

    def save(self, text: str) -> Path:
        """Write a report, and delete the oldest of too many. Blocking; any thread may call it.

        Raises:
            OSError: If the report can't be written.
        """
        make_private(self.folder)
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        path = self.folder / f"crash-{stamp}-{os.getpid()}.txt"
        with open(path, "x", encoding="utf-8", opener=open_private) as file:
            file.write(text)
        for old in self.reports()[MAX_REPORTS:]:
            old.unlink(missing_ok=True)
        return path

    def reports(self) -> list[Path]:
        """Return the existing reports, the newest first; none if the folder can't be read."""
        try:
            return sorted(self.folder.glob("crash-*.txt"), reverse=True)
        except OSError:
            return []


log = logging.getLogger(__name__)

MAX_PER_RUN = 5
"""The most reports of one run: an error at every keystroke must not fill the disk."""
_N_LINES = 40
_CLOSE_SECONDS = 1.0


class CrashReporter(SafeHandler):
    """A log handler that keeps the last lines, and writes a report when a record is about a bug.

    Attributes:
        directory: The directory of reports.
        facts: Returns the known facts about the program and its environment, a line each.
    """

    def __init__(self, reports: ReportDirectory | None = None) -> None:
        super().__init__(logging.DEBUG)
        self.directory = reports or ReportDirectory()
        self.facts: Callable[[], list[str]] = list
        self._lines: deque[str] = deque(maxlen=_N_LINES)
        self._seen: set[tuple[object, ...]] = set()
        self._writing: list[threading.Thread] = []
        self._notify_user: Callable[[str], None] | None = None
        self._unreported = ""
        self._has_notified = False

    def emit(self, record: logging.LogRecord) -> None:
        """Store a record, and report its error."""
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

    def notify_by(self, notify: Callable[[str], None]) -> None:
        """Set the function that notifies the user of the first report, from any thread."""
        self._notify_user = notify
        if self._unreported:
            notify(self._unreported)

    def close(self) -> None:
        """Wait a moment for reports that are being written."""
        for thread in self._writing:
            thread.join(_CLOSE_SECONDS)
        super().close()

    def _is_new(self, error: BaseException) -> bool:
        """Return whether no such error has been reported from the same place."""
        calls = list(traceback.walk_tb(error.__traceback__))
        last = [(frame.f_code.co_filename, line) for frame, line in calls[-1:]]
        key = (type(error).__qualname__, *last)
        if key in self._seen or len(self._seen) >= MAX_PER_RUN:
            return False
        self._seen.add(key)
        return True

    def _report(self, what: str, error: BaseException, lines: list[str]) -> None:
        parts = [
            _HEADING,
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
            f"Stet: internal error. A crash report is in {path}; it contains none of your text. "
            "Please attach it to an issue in Stet's tracker."
        )

    def _notify(self, message: str) -> None:
        if self._has_notified:
            return
        self._has_notified = True
        if self._notify_user is None:
            self._unreported = message
        else:
            with suppress(RuntimeError):  # the session is over
                self._notify_user(message)


def catch_all() -> None:
    """Log uncaught errors of any origin, before they end the process or a thread."""

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


_RUNNING_PREFIX = "running-"
_CALL = re.compile(r'\s*File "(?P<path>.*)", line (?P<line>\d+) in (?P<name>\S+)')
_NATIVE_CALL = re.compile(r'\s*Binary file "(?P<path>.*)", at (?P<place>\S+)(?: \[0x[0-9a-f]+\])?')
"""A call in C, with the file of its library; written since Python 3.14."""
_PATH = re.compile(r"[/\\]")
_MAX_BYTES = 100_000
_MARKS = ("Fatal Python error", "Windows fatal exception")


class FaultLog:
    """The file of this run into which `faulthandler` writes."""

    def __init__(self, reports: ReportDirectory) -> None:
        self._reports = reports
        self._file: TextIOWrapper | None = None
        self._path = Path()

    def begin(self, facts: Sequence[str]) -> int:
        """Enable `faulthandler`. Return the number of reports made of earlier faults. Blocking.

        Args:
            facts: The facts about this run for a report.

        Raises:
            OSError: If the file can't be written.
        """
        make_private(self._reports.folder)
        n_found = self._collect()
        self._path = self._reports.folder / f"{_RUNNING_PREFIX}{os.getpid()}.txt"
        descriptor = open_private(str(self._path), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._file = os.fdopen(descriptor, "w", encoding="utf-8")
        self._file.write("\n".join([*facts, "", ""]))
        self._file.flush()
        faulthandler.enable(self._file)
        return n_found

    def end(self) -> None:
        """Disable `faulthandler` and remove the file: no fault occurred."""
        if self._file is None:
            return
        faulthandler.disable()
        with suppress(OSError):
            self._file.close()  # this writes text that a full disk has refused
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._file = None

    def _collect(self) -> int:
        """Make reports of the files that dead processes left; return their number."""
        from stet.system.process_id import is_alive  # late: only a crash needs it

        n_found = 0
        for path in sorted(self._reports.folder.glob(f"{_RUNNING_PREFIX}*.txt")):
            number = path.stem.removeprefix(_RUNNING_PREFIX)
            # An earlier process may have had the id of this process; that process is gone.
            is_gone = number.isdigit() and (int(number) == os.getpid() or not is_alive(int(number)))
            if not is_gone:
                continue
            text = ""
            with suppress(OSError), open(path, "rb", opener=open_private) as file:
                text = file.read(_MAX_BYTES).decode(errors="replace")
            if any(mark in text for mark in _MARKS):
                self._reports.save(f"{_HEADING}\n{_sanitize(text)}")
                n_found += 1
            path.unlink(missing_ok=True)
        return n_found


def _sanitize(text: str) -> str:
    """Return a fault text without private paths: a file is named by its path in its package."""
    start = min(text.find(mark) for mark in _MARKS if mark in text)
    return text[:start] + "".join(map(_sanitize_line, text[start:].splitlines(keepends=True)))


def _sanitize_line(line: str) -> str:
    if call := _CALL.match(line):
        return f"  {package_path(call['path'])}:{call['line']} in {call['name']}\n"
    if call := _NATIVE_CALL.match(line):
        return f"  {package_path(call['path'])} at {call['place']}\n"
    return "  (a line with a path)\n" if _PATH.search(line) else line
