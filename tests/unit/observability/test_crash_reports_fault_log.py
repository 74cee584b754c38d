"""Ends that no handler sees."""

import faulthandler
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet.observability.crash_reports import FaultLog, ReportDirectory

DIE = """
import faulthandler, sys
from pathlib import Path
from stet.observability.crash_reports import FaultLog
from stet.observability.crash_reports import ReportDirectory
import resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
FaultLog(ReportDirectory(Path(sys.argv[1]))).begin(["Stet 1.2.3", "editor: neovim"])
if sys.argv[2] == "fault":
    faulthandler._sigsegv()
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _faulthandler() -> Iterator[None]:
    was = faulthandler.is_enabled()
    yield
    if was:
        faulthandler.enable()


def dead(folder: Path, how: str) -> None:
    """Have a process die at work."""
    subprocess.run([sys.executable, "-I", "-c", DIE, str(folder), how], check=False)


def test_a_fault_in_native_code_is_a_report_of_the_next_run(tmp_path: Path) -> None:
    dead(tmp_path, "fault")
    shelf = ReportDirectory(tmp_path)
    assert shelf.reports() == []
    notes = FaultLog(shelf)
    assert notes.begin(["this run"]) == 1
    [report] = shelf.reports()
    text = report.read_text()
    assert "Stet 1.2.3\neditor: neovim" in text
    assert "Segmentation fault" in text
    assert "python/" not in text or "/lib/" not in text
    assert str(Path.home()) not in text
    assert str(tmp_path) not in text
    notes.end()
    assert [path.name for path in tmp_path.iterdir()] == [report.name]


def test_a_process_that_was_killed_leaves_no_report(tmp_path: Path) -> None:
    dead(tmp_path, "kill")
    assert len(list(tmp_path.iterdir())) == 1
    notes = FaultLog(ReportDirectory(tmp_path))
    assert notes.begin([]) == 0
    notes.end()
    assert list(tmp_path.iterdir()) == []


def test_what_a_process_that_lives_has_there_stays(tmp_path: Path) -> None:
    other = tmp_path / f"running-{os.getppid()}.txt"
    other.write_text("Fatal Python error: not yet\n")
    notes = FaultLog(ReportDirectory(tmp_path))
    assert notes.begin([]) == 0
    notes.end()
    assert other.exists()


NOTE = """Stet 1.2.3
editor: neovim 0.11/x

Fatal Python error: Segmentation fault

Current thread 0x00007f0c5e7fc740 (most recent call first):
  File "/home/me/a "b"/site-packages/ctypes/__init__.py", line 515 in string_at
  File "/home/me/.venv/lib/python3.14/site-packages/stet/cli/app.py", line 1 in <module>

Current thread's C stack trace (most recent call first):
  Binary file "/home/me/.pyenv/bin/python3.14", at _Py_DumpStack+0x31 [0x5b27f7d7147e]
  Binary file "/home/me/.pyenv/lib/python3.14/lib-dynload/_ctypes.so", at +0x32698d [0x5b27f7d85e3c]
  Binary file "/home/me/x.so" and more
  <truncated rest of calls>

Extension modules: _cffi_backend, yaml._yaml (total: 2)
C:\\Users\\me\\x.dll
"""


def test_c_frames_are_reported_without_the_paths_of_their_libraries(tmp_path: Path) -> None:
    (tmp_path / "running-999999999.txt").write_text(NOTE)
    shelf = ReportDirectory(tmp_path)
    notes = FaultLog(shelf)
    assert notes.begin([]) == 1
    notes.end()
    [report] = shelf.reports()
    text = report.read_text()
    assert "/home" not in text
    assert text.endswith(
        "Fatal Python error: Segmentation fault\n\n"
        "Current thread 0x00007f0c5e7fc740 (most recent call first):\n"
        "  ctypes/__init__.py:515 in string_at\n"
        "  stet/cli/app.py:1 in <module>\n\n"
        "Current thread's C stack trace (most recent call first):\n"
        "  python3.14 at _Py_DumpStack+0x31\n"
        "  python/lib-dynload/_ctypes.so at +0x32698d\n"
        "  (a line with a path)\n"
        "  <truncated rest of calls>\n\n"
        "Extension modules: _cffi_backend, yaml._yaml (total: 2)\n"
        "  (a line with a path)\n"
    )
    assert "editor: neovim 0.11/x" in text
