"""Running a program for its output, with limits.

The program gets no input, one pipe for both of its outputs, and a separate process group. The group
is killed when the program ends, takes too long, writes too much, or its caller is cancelled.
"""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HEAD_BYTES = 8_000
"""The bytes of an output that are kept of its beginning, and of its end."""
MAX_BYTES = 20_000_000
"""A program that writes more bytes is killed."""
ORPHAN_SECONDS = 1.0
"""The seconds for which remaining child processes may keep the output open."""
DYING_SECONDS = 5.0
"""The seconds to wait for the end of a killed program: the kernel may delay it."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to be run.

    Attributes:
        argv: The program and its arguments; there is no shell.
        cwd: The working directory.
        env: The whole environment of the program.
        seconds: The time limit in seconds.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The output and end of a program.

    Attributes:
        code: The exit code, below 0 for the signal that ended the program; None if Stet killed it.
        head: The beginning of the output, stdout and stderr together.
        tail: The end of the output, if `head` is not the whole output.
        n_left_out: The number of bytes between `head` and `tail`.
        seconds: The duration in seconds.
        ended_for: The exceeded limit, `time` or `output`; empty if there is none.
    """

    code: int | None
    head: bytes = b""
    tail: bytes = b""
    n_left_out: int = 0
    seconds: float = 0.0
    ended_for: str = ""


async def run_program(program: Program) -> ProgramResult:
    """Run a program until its end or a limit.

    Raises:
        OSError: If the program can't be started.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    transport, collector = await loop.subprocess_exec(
        _OutputCollector,
        *program.argv,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        cwd=program.cwd,
        env=dict(program.env),
        start_new_session=True,
    )
    group, late = transport.get_pid(), False
    try:
        try:
            async with asyncio.timeout(program.seconds):
                await collector.over.wait()
        except TimeoutError:
            late = True
        finally:
            # Also on a cancel, and also after a regular end: no child process survives.
            _end(transport, group)
        # A process that has left the group may keep the pipe open: do not wait for it.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ORPHAN_SECONDS):
                await collector.closed.wait()
    finally:
        # A killed program may still be running: wait for its end, so that it is reaped.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DYING_SECONDS):
                await collector.ended.wait()
        transport.close()
    ended_for = "output" if collector.n_bytes > MAX_BYTES else "time" if late else ""
    code = None if ended_for else transport.get_returncode()
    head, tail = collector.head, collector.tail
    n_left_out = collector.n_bytes - len(head) - len(tail)
    return ProgramResult(code, head, tail, n_left_out, loop.time() - started, ended_for)


class _OutputCollector(asyncio.SubprocessProtocol):
    """The beginning and end of a program's output, and the events of its end.

    Attributes:
        over: Set when the program has ended or written too much.
        ended: Set when the program has ended.
        closed: Set when the program has ended and its output is closed.
        head: The beginning of the output.
        tail: The end of the output, without the part in `head`.
        n_bytes: The number of bytes written.
    """

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.ended = asyncio.Event()
        self.closed = asyncio.Event()
        self.head = self.tail = b""
        self.n_bytes = 0

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - asyncio's name
        """Add a part of the output."""
        self.n_bytes += len(data)
        room = HEAD_BYTES - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-HEAD_BYTES:]
        if self.n_bytes > MAX_BYTES:
            self.over.set()

    def process_exited(self) -> None:
        """Handle the end of the program itself; its child processes may be running."""
        self.over.set()
        self.ended.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        """Handle the end of the program and of its output."""
        self.process_exited()
        self.closed.set()


def _end(transport: asyncio.SubprocessTransport, group: int) -> None:
    """Kill the rest of a process group, or on Windows the program."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            transport.kill()
    except (ProcessLookupError, PermissionError):
        return  # the group has ended: macOS raises PermissionError if only zombies are left
