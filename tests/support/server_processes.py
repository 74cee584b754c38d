"""Servers and commands as separate processes: forked by a Python that has imported Stet, or new.

A forked process has pipes, signals, an environment and an exit code like any process; it only saves
a second of imports. A test of the start passes `fresh=True`.
"""

import asyncio
import atexit
import io
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from asyncio.base_subprocess import BaseSubprocessTransport
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from typing import Any

from tests.support.fork_server import NUMBER

READ_AHEAD = 64 * 1024
FORK_SERVER = str(Path(__file__).with_name("fork_server.py"))
PYTHON = [sys.executable, "-I"]


async def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stderr: int = PIPE,
    limit: int = READ_AHEAD,
    fresh: bool = False,
) -> Process:
    """Start a server with piped streams.

    Args:
        argv: The command line; only `python -I` with a module or a script can be forked.
        env: The whole environment; None: ours.
        stderr: `PIPE`, `DEVNULL`, or a descriptor, which a forked server can't have.
        limit: The number of bytes of output to read ahead.
        fresh: Whether to start a process without preloaded modules.
    """
    can_fork = sys.platform == "linux" and [*argv[:2]] == PYTHON and argv[2] != "-c"
    if fresh or not can_fork or stderr not in {PIPE, DEVNULL}:
        return await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, stderr=stderr, env=env, limit=limit
        )
    loop = asyncio.get_running_loop()
    protocol = SubprocessStreamProtocol(limit, loop)
    connected = loop.create_future()
    transport = _Transport(
        loop, protocol, argv[2:], False, PIPE, PIPE, stderr, 0, connected, env=env or os.environ
    )
    await connected
    return Process(transport, protocol, loop)


def run_shell(
    argv: Sequence[str], *, typed: str, cwd: Path, env: Mapping[str, str], seconds: float
) -> CompletedProcess[str]:
    """Run a command of the shell to its end, as `subprocess.run` does with text in pipes.

    Args:
        argv: The command line, which begins with `python -I`.
        typed: The standard input.
        cwd: The working folder.
        env: The whole environment.
        seconds: The time after which the process is killed.

    Raises:
        TimeoutExpired: If the process was killed after `seconds`.
    """
    if sys.platform != "linux":
        return subprocess.run(
            argv,
            input=typed,
            cwd=cwd,
            env=env,
            timeout=seconds,
            capture_output=True,
            text=True,
            check=False,
        )
    process = _fork("shell", argv[2:], env, cwd=cwd)
    with ThreadPoolExecutor(3) as threads, process.stdout, process.stderr, process.report:
        outputs = [threads.submit(_read, stream) for stream in (process.stdout, process.stderr)]
        threads.submit(_write, process.stdin, typed.encode())
        ended, _, _ = select.select([process.report], [], [], seconds)
        if not ended:
            process.kill()
        output, errors = (one.result() for one in outputs)
        (code,) = NUMBER.unpack(process.report.read(NUMBER.size))
    if not ended:
        raise TimeoutExpired(argv, seconds, output, errors)
    return CompletedProcess(list(argv), code, output, errors)


def _read(stream: io.RawIOBase) -> str:
    with io.TextIOWrapper(io.BufferedReader(stream), "utf-8") as text:
        return text.read()


def _write(stream: io.RawIOBase, data: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError), io.BufferedWriter(stream) as writer:
        writer.write(data)


class _Transport(BaseSubprocessTransport):
    """A transport like the event loop's, but the fork server creates and reaps the process."""

    def _start(
        self,
        args: Any,
        shell: bool,
        stdin: Any,
        stdout: Any,
        stderr: Any,
        bufsize: int,
        **kwargs: Any,
    ) -> None:
        self._forked = _fork("server", args, kwargs["env"], has_errors=stderr == PIPE)
        self._proc = self._forked  # type: ignore[assignment]
        self._loop.add_reader(self._forked.report, self._ended)

    def _ended(self) -> None:
        with self._forked.report as report:
            self._loop.remove_reader(report)
            (code,) = NUMBER.unpack(report.read(NUMBER.size))
        self._process_exited(code)


class _Forked:
    """The part of `subprocess.Popen` that a transport needs, for a process that is not our child.

    Attributes:
        report: The pipe that reports the process id and the exit code.
    """

    def __init__(self, report: Any, stdin: Any, stdout: Any, stderr: Any) -> None:
        (self.pid,) = NUMBER.unpack(report.read(NUMBER.size))
        self.report = report
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _fork(
    kind: str,
    arguments: Sequence[str],
    env: Mapping[str, str],
    *,
    cwd: Path | None = None,
    has_errors: bool = True,
) -> _Forked:
    """Order a process and wait until it runs.

    Args:
        kind: The kind of the fork server.
        arguments: The arguments of Python.
        env: The whole environment.
        cwd: The working folder; None: ours.
        has_errors: Whether the standard error is a pipe; it is discarded otherwise.

    Raises:
        ChildProcessError: If the fork server has died; its output is on the standard error.
    """
    folder = None if cwd is None else str(cwd)
    order = json.dumps({"argv": list(arguments), "env": dict(env), "cwd": folder}).encode() + b"\n"
    its_stdin, stdin = (
        socket.socketpair()
    )  # as in asyncio: a pipe does not signal that its reader is gone
    stdout, its_stdout = os.pipe()
    stderr, its_stderr = os.pipe() if has_errors else (-1, os.open(os.devnull, os.O_WRONLY))
    report, its_report = os.pipe()
    with its_stdin:
        socket.send_fds(
            _orders(kind), [order], [its_stdin.fileno(), its_stdout, its_stderr, its_report]
        )
    for descriptor in (its_stdout, its_stderr, its_report):
        os.close(descriptor)
    ours = [
        os.fdopen(report, "rb", 0),
        os.fdopen(stdin.detach(), "wb", 0),
        os.fdopen(stdout, "rb", 0),
        os.fdopen(stderr, "rb", 0) if has_errors else None,
    ]
    try:
        return _Forked(*ours)
    except struct.error:
        _orders.cache_clear()
        for stream in ours:
            if stream is not None:
                stream.close()
        raise ChildProcessError("The fork server has died; its standard error says why.") from None


@cache
def _orders(kind: str) -> socket.socket:
    """Return the socket for orders to the fork server of a kind, which the first call starts."""
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(
            [*PYTHON, FORK_SERVER, str(its.fileno()), kind],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            # Without a locale Python, and so every forked process, would enable UTF-8 mode.
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
