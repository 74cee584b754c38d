"""Ends that no handler sees: a fault in native code, an abort. Python's `faulthandler` notes where.

It writes into a file that is made at the start and goes at an orderly end. What a process that is dead
left there is made a report by the next one; a file without a fault (a kill, a power cut) is dropped.
"""

import faulthandler
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

from stet.observability.private_files import make_private, open_private
from stet.observability.report_directory import ReportDirectory
from stet.system.os_system import is_alive
from stet.text.safe_traceback import package_path

_PREFIX = "running-"
_PATTERN = f"{_PREFIX}*.txt"
_CALL = re.compile(r'\s*File "(?P<path>.*)", line (?P<line>\d+) in (?P<name>\S+)')
_NATIVE_CALL = re.compile(r'\s*Binary file "(?P<path>.*)", at (?P<place>\S+)(?: \[0x[0-9a-f]+\])?')
"""Since Python 3.14: the calls in C, each by the file of its library."""
_PATH = re.compile(r"[/\\]")
_MAX_BYTES = 100_000
_MARKS = ("Fatal Python error", "Windows fatal exception")


class FaultLog:
    """The file of this run."""

    def __init__(self, reports: ReportDirectory) -> None:
        self._reports = reports
        self._file: TextIOWrapper | None = None
        self._path = Path()

    def begin(self, facts: Sequence[str]) -> int:
        """Be ready for a fault; gives how many of earlier runs have become reports. Blocking.

        Args:
            facts: What a report is to say of this run.

        Raises:
            OSError: If nothing can be written there.
        """
        make_private(self._reports.folder)
        n_found = self._collect()
        path = self._reports.folder / f"{_PREFIX}{os.getpid()}.txt"
        descriptor = open_private(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._file = os.fdopen(descriptor, "w", encoding="utf-8")
        self._path = path
        self._file.write("\n".join([*facts, "", ""]))
        self._file.flush()
        faulthandler.enable(self._file)
        return n_found

    def end(self) -> None:
        """Let go of it: nothing happened."""
        if self._file is None:
            return
        faulthandler.disable()
        with suppress(OSError):
            self._file.close()  # which writes what a full disk has not taken before
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._file = None

    def _collect(self) -> int:
        """Make reports of what dead processes left; gives how many there were."""
        n_found = 0
        for path in sorted(self._reports.folder.glob(_PATTERN)):
            number = path.stem.removeprefix(_PREFIX)
            # The number of this process may have been another's: then that one is gone.
            is_gone = number.isdigit() and (int(number) == os.getpid() or not is_alive(int(number)))
            if not is_gone:
                continue
            text = ""
            with suppress(OSError), open(path, "rb", opener=open_private) as file:
                text = file.read(_MAX_BYTES).decode(errors="replace")
            if any(mark in text for mark in _MARKS):
                heading = "Stet crash report. It holds no text of yours, no paths and no keys.\n"
                self._reports.save(heading + _sanitize(text))
                n_found += 1
            path.unlink(missing_ok=True)
        return n_found


def _sanitize(text: str) -> str:
    """Return a note in a form that strangers may read. Each file is named by its place in its
    package; there is no other path.
    """
    start = min(text.find(mark) for mark in _MARKS if mark in text)
    return text[:start] + "".join(map(_sanitize_line, text[start:].splitlines(keepends=True)))


def _sanitize_line(line: str) -> str:
    if call := _CALL.match(line):
        return f"  {package_path(call['path'])}:{call['line']} in {call['name']}\n"
    if call := _NATIVE_CALL.match(line):
        return f"  {package_path(call['path'])} at {call['place']}\n"
    return "  (a line with a path)\n" if _PATH.search(line) else line
