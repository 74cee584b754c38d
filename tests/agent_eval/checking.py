"""Runs the check of a task in a folder of files: a process of its own with limits."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.agent_eval.task import Task

SECONDS = 20
MEMORY = 2**30
"""Bytes that a check may use: what it runs was written by a model."""
_LINE = re.compile(r'^  File "check", line (\d+)', re.MULTILINE)
_RUN = f"""\
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
sys.path.insert(0, ".")
exec(compile(sys.stdin.read(), "check", "exec"))
"""


def failure(task: Task, files: Mapping[str, str]) -> str:
    """Return why texts do not solve a task: the error and the line of the check; "" if they do."""
    with tempfile.TemporaryDirectory(prefix="check-") as made:
        folder = Path(made)
        write_files(folder, files)
        return _run(task.check, folder)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _run(check: str, folder: Path) -> str:
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-c", _RUN],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(check, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"it ran for more than {SECONDS} s"
    if process.returncode == 0:
        return ""
    reason = (errors.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
    numbers = _LINE.findall(errors)
    return f"{reason} at: {check.splitlines()[int(numbers[-1]) - 1].strip()}" if numbers else reason
