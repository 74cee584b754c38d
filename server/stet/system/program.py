"""A program that is run for its output: its permissions, its end, and its limits.

It gets no input, one pipe for both of its outputs, and its own process group. The group is ended
when the program is over, takes too long, writes without end, or its caller is cancelled.
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
"""Bytes kept of the beginning of an output, and again of its end."""
MAX_BYTES = 20_000_000
"""A program that writes more is ended."""
ORPHAN_SECONDS = 1.0
"""How long what a program has left running may keep its output open once it was ended."""
DYING_SECONDS = 5.0
"""How long one that was killed is waited for: the kernel may hold it."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be run.

    Attributes:
        argv: The program and its arguments; there is no shell.
        cwd: Where.
        env: All that is in its environment.
        seconds: How long it may take.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended.

    Attributes:
        code: Its exit code, below 0 for the signal that ended it; None if we ended it.
        head: The beginning of what it wrote, both outputs in one.
        tail: The end, where `head` is not all.
        n_left_out: Bytes between the two.
        seconds: How long it took.
        ended_for: Why we ended it: `time`, `output`, or nothing.
    """

    code: int | None
    head: bytes = b""
    tail: bytes = b""
    n_left_out: int = 0
    seconds: float = 0.0
    ended_for: str = ""


async def run_program(program: Program) -> ProgramResult:
    """Run a program to its end, or to the end of its time.

    Raises:
        OSError: If it can't be started.
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
            # On a cancel too: no child process survives, even if the program has ended by itself.
            _end(transport, group)
        # A process that has left the group may keep the pipe open: do not wait for it.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ORPHAN_SECONDS):
                await collector.closed.wait()
    finally:
        # It may only have been killed so far: wait for its end, so that it is reaped.
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
    """Takes what a program writes, the beginning and the end of it, and tells when it is over.

    Attributes:
        over: Set when it has ended, or written too much.
        ended: Set when it has ended.
        closed: Set when there is nothing more to read, and it has ended.
        head: The beginning.
        tail: The end, as far as it is not in `head`.
        n_bytes: How much it wrote.
    """

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.ended = asyncio.Event()
        self.closed = asyncio.Event()
        self.head = self.tail = b""
        self.n_bytes = 0

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - asyncio's name
        """Take some output."""
        self.n_bytes += len(data)
        room = HEAD_BYTES - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-HEAD_BYTES:]
        if self.n_bytes > MAX_BYTES:
            self.over.set()

    def process_exited(self) -> None:
        """Handle the end of the program itself; its child processes may go on."""
        self.over.set()
        self.ended.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        """Handle the end of the program and of its output."""
        self.process_exited()
        self.closed.set()


def _end(transport: asyncio.SubprocessTransport, group: int) -> None:
    """End the rest of a process group; without groups (Windows), the program."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            transport.kill()
    except (ProcessLookupError, PermissionError):
        return  # all of it is over: macOS says the second of a group that only waits to be buried
