"""A forked server of a test behaves like a newly started one."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.server_processes import PYTHON, run_shell, start

STATE = """
import asyncio, atexit, gc, json, logging, os, signal, sys, threading, time
print(json.dumps({
    "argv": sys.argv,
    "name": __name__,
    "main": sys.modules["__main__"].__dict__ is globals(),
    "flags": repr(sys.flags),
    "path": sys.path,
    "environment": dict(os.environ),
    "time zone": time.tzname,
    "folder": os.getcwd(),
    "umask": os.umask(0o77),
    "group": [os.getpgrp(), os.getsid(0)],
    "descriptors": [n for n in range(64) if os.path.exists(f"/proc/self/fd/{n}")],
    "inheritable": [os.get_inheritable(n) for n in range(3)],
    "signals": {n: repr(signal.getsignal(n)) for n in signal.valid_signals()},
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "wakes": signal.set_wakeup_fd(-1),
    "threads": threading.active_count(),
    "collects": gc.isenabled(),
    "logs": repr(logging.getLogger().handlers),
    "children": os.path.exists("/proc/self/task") and open("/proc/self/task/%d/children" % os.getpid()).read(),
    "streams": [(s.fileno(), s.encoding, s.errors, s.line_buffering) for s in (sys.stdin, sys.stdout, sys.stderr)],
}), flush=True)
print("complaint", file=sys.stderr)
atexit.register(print, "last words", end="")
how = sys.stdin.read()
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=lambda: print(threading.main_thread().join())).start()
if how:
    sys.exit(int(how) if how.isdigit() else how)
"""


async def ran(script: Path, typed: bytes, *, fresh: bool) -> tuple[Any, bytes, bytes, int | None]:
    """Return the script's report, its output and error output of its end, and its exit code."""
    env = {"LANG": "C.UTF-8", "TZ": "Asia/Tokyo", "ODD": "\udcff ö"}
    server = await start([*PYTHON, str(script), "--odd", "a b"], env=env, fresh=fresh)
    output, errors = await server.communicate(typed)
    report, end = output.split(b"\n", 1)
    return json.loads(report), end, errors, server.returncode


@pytest.mark.parametrize(
    ("typed", "end", "errors", "code"),
    [
        (b"reason", b"None\nlast words", b"complaint\nreason\n", 1),
        (b"3", b"None\nlast words", b"complaint\n", 3),
        (b"", b"None\nlast words", b"complaint\n", 0),
        (b"kill", b"", b"complaint\n", -signal.SIGKILL),
    ],
)
async def test_a_forked_process_is_as_one_that_was_started_anew(
    tmp_path: Path, typed: bytes, end: bytes, errors: bytes, code: int
) -> None:
    script = tmp_path / "state.py"
    script.write_text(STATE)
    anew = await ran(script, typed, fresh=True)
    assert anew[1:] == (end, errors, code)
    assert anew[0]["environment"]["ODD"] == "\udcff ö"
    assert await ran(script, typed, fresh=False) == anew


@pytest.mark.parametrize("typed", ["reason", "3", "", "kill"])
def test_a_forked_command_is_as_one_that_was_started_anew(tmp_path: Path, typed: str) -> None:
    script = tmp_path / "state.py"
    script.write_text(STATE)
    argv = [*PYTHON, str(script), "--odd", "a b"]
    env = {"LANG": "C.UTF-8", "TZ": "Asia/Tokyo", "ODD": "\udcff ö"}
    anew = subprocess.run(
        argv, input=typed, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    forked = run_shell(argv, typed=typed, cwd=tmp_path, env=env, seconds=60)
    assert json.loads(forked.stdout.split("\n")[0])["folder"] == str(tmp_path)
    assert (forked.stdout, forked.stderr) == (anew.stdout, anew.stderr)
    assert forked.returncode == anew.returncode


def test_a_forked_command_that_does_not_end_in_time_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text("import threading\nprint('ready', flush=True)\nthreading.Event().wait()")
    with pytest.raises(subprocess.TimeoutExpired) as late:
        run_shell([*PYTHON, str(script)], typed="a\n" * 100_000, cwd=tmp_path, env={}, seconds=0.5)
    assert late.value.output == "ready\n"


async def test_one_that_is_killed_is_gone_and_that_is_reported() -> None:
    server = await start([*PYTHON, "-m", "stet.cli.main", "serve"])
    server.kill()
    assert await server.wait() == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        server.kill()


async def test_a_module_that_is_not_there_ends_it_with_a_reason() -> None:
    server = await start([*PYTHON, "-m", "stet.nothing"])
    _, errors = await server.communicate()
    assert b"No module named stet.nothing" in errors
    assert server.returncode == 1
