"""Standard input and output on the event loop, the frames of the base protocol, and the end of the
process.

The event loop reads and writes pipes and sockets, without a thread for each message and without
blocking writes. One thread reads other input (files, terminals, `/dev/null`, Windows, one socket
for both directions), a chunk at a time.

`FrameReader` reads frames leniently: header names in any case, with or without a space after the
colon, folded, repeated, of any length; bare line feeds; other bytes between messages. If a length
is missing, negative or too large, only that message is lost: the reader continues at the next
header.

A `Lifetime` ends when the editor sends `exit`, closes its side or dies, or when a signal arrives.
"""

import asyncio
import logging
import os
import re
import signal
import stat
import sys
import threading
from collections.abc import Callable

from stet.system.process_id import is_alive

log = logging.getLogger(__name__)

CHUNK = 256 * 1024
"""The most bytes that the thread reads at once."""
MAX_BODY = 512 * 1024 * 1024
"""The most bytes of a body: no editor sends more, and a greater length is an error."""
MAX_HEADERS = 32 * 1024
"""The most bytes that are stored while waiting for the blank line after the headers."""
MIN_TAIL = 64
"""The bytes that stay after a cut: more than a length header, so that none is cut in two."""

# Searched, not matched, in the header block: after a wrong length, the rest of a body is on the
# same line as the next header.
LENGTH = re.compile(rb"content-length[ \t]*:\s*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_BLANK_LINE_BYTES = 4

PARENT_CHECK_SECONDS = 3.0
CLOSING_SECONDS = 5.0
"""The time limit for the end of a run; parts that hang longer are abandoned."""
HARD_EXIT_SECONDS = 3.0
"""The time limit for a worker thread that hangs."""


def missing_stream() -> str:
    """Return "input" or "output" if this standard stream was closed at the process start, else "".

    The next opened file would get the number of the stream, and would be used as the editor's. A
    closed standard error is replaced by the null device, so that the log is not written into such a
    file.
    """
    if sys.stdin is None or sys.stdout is None:
        return "input" if sys.stdin is None else "output"
    if sys.stderr is None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != 2:
            os.dup2(nowhere, 2)
            os.close(nowhere)
    return ""


def take_streams() -> tuple[int, int]:
    """Take standard input and output for the protocol; return their new descriptors.

    Other users of the old descriptors can't disturb the editor: prints go to stderr, and a child
    process that reads its inherited input finds it empty.
    """
    reading, writing = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return reading, writing


async def connect(reading: int, writing: int, frames: "FrameReader") -> "_PipeOutput | _FileOutput":
    """Start to read: `frames` gets the bytes, and its `end` is called when either side is closed.

    Returns:
        The writer of messages.
    """
    loop = asyncio.get_running_loop()
    if _is_pipe(reading) and _is_pipe(writing) and not _is_same(reading, writing):
        output = _PipeOutput(frames.end)
        await loop.connect_write_pipe(lambda: output, os.fdopen(writing, "wb", buffering=0))
        source = os.fdopen(reading, "rb", buffering=0)
        await loop.connect_read_pipe(lambda: frames, source)
        return output
    arguments = (reading, loop, frames)
    threading.Thread(target=_read_in_thread, args=arguments, name="stdin", daemon=True).start()
    return _FileOutput(writing)


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _is_same(reading: int, writing: int) -> bool:
    """Return whether both descriptors are one socket, which can't be two pipes of the event
    loop.
    """
    return os.path.sameopenfile(reading, writing)


class _PipeOutput(asyncio.BaseProtocol):
    """A write pipe that buffers what the editor has not read yet.

    If writing blocked instead, an editor that writes without reading would block too.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._drained = asyncio.Event()
        self._drained.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.set_write_buffer_limits(high=0)  # so `_drained` means that everything is written
        self._transport = transport

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._drained.set()
        self._ended()

    def write(self, data: bytes) -> None:
        """Send `data` as soon as the editor reads."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Close the output."""
        # An editor that quits closes its side first; a transport that has lost its pipe can't be aborted.
        if not self._transport.is_closing():
            self._transport.abort()

    async def drain(self, seconds: float) -> None:
        """Wait until everything is written, at most `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._drained.wait()
        except TimeoutError:
            log.warning("the editor did not read the last messages within %s s", seconds)


class _FileOutput:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        """Send `data` and wait until it is written."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def close(self) -> None:
        """Close the output."""
        os.close(self._descriptor)

    async def drain(self, seconds: float) -> None:
        """Return at once: every write has blocked until it was done."""


def _read_in_thread(
    descriptor: int, loop: asyncio.AbstractEventLoop, frames: "FrameReader"
) -> None:
    try:
        # Not `sys.stdin.buffer`: a thread that holds its lock can't be abandoned at exit.
        while data := os.read(descriptor, CHUNK):
            loop.call_soon_threadsafe(frames.feed, data)
    except OSError as error:
        log.warning("standard input can't be read: %s", error)
    try:
        loop.call_soon_threadsafe(frames.end)
    except RuntimeError:
        return  # the loop has ended before its input


class FrameReader(asyncio.Protocol):
    """A reader that splits the bytes from a pipe or a thread into bodies and delivers them in
    order.
    """

    def __init__(
        self, deliver: Callable[[bytes], bool], ended: Callable[[], None] = lambda: None
    ) -> None:
        """Create a reader with an empty buffer.

        Args:
            deliver: A function that handles a body, and returns False if it is not JSON.
            ended: A function that is called after the last body.
        """
        self._deliver = deliver
        self._ended = ended
        self._is_held = False
        self._is_at_end = False
        self._buffer = bytearray()
        self._needed: int | None = None
        self._length: int | None = None
        self._looked = 0
        """The number of bytes at the start of the buffer in which there is no blank line."""

    def feed(self, data: bytes) -> None:
        """Add the next bytes, which may end anywhere in a message."""
        self._buffer += data
        self._deliver_next()

    data_received = feed

    def end(self) -> None:
        """Record that there are no more bytes."""
        self._is_at_end = True
        self._deliver_next()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Record that the pipe was closed."""
        self.end()

    def hold(self) -> None:
        """Deliver nothing after the body that is being delivered, until `release`."""
        self._is_held = True

    def release(self) -> None:
        """Continue with the messages that have arrived meanwhile."""
        self._is_held = False
        self._deliver_next()

    def _deliver_next(self) -> None:
        while not self._is_held and self._step():
            pass
        if self._is_at_end and not self._is_held:
            self._ended()

    def _step(self) -> bool:
        """Read one header block or one body; return False if more bytes are needed."""
        if self._needed is None:
            return self._take_headers()
        if len(self._buffer) < self._needed:
            return False
        with memoryview(self._buffer) as view:
            body = view[: self._needed].tobytes()
        del self._buffer[: self._needed]
        self._needed = None
        if not self._deliver(body) and (index := LENGTH.search(body)):
            # JSON has no raw line end inside a string, so this is a header: the length was too
            # large and included part of the next message, which goes back into the buffer.
            self._buffer[:0] = body[index.start() :]
        return True

    def _take_headers(self) -> bool:
        # Do not search from the start again: bytes may arrive one at a time.
        end = BLANK_LINE.search(self._buffer, max(0, self._looked - _BLANK_LINE_BYTES))
        if end is None:
            if len(self._buffer) > MAX_HEADERS:
                self._note_length(len(self._buffer) - MIN_TAIL)
                del self._buffer[:-MIN_TAIL]
            self._looked = len(self._buffer)
            return False
        self._looked = 0
        self._note_length(end.end())
        del self._buffer[: end.end()]
        length, self._length = self._length, None
        if length is None:
            log.warning("a message without a valid Content-Length was skipped")
        elif length > MAX_BODY:
            log.warning("a message of %d bytes was skipped: the limit is %d", length, MAX_BODY)
        else:
            self._needed = length
        return True

    def _note_length(self, end: int) -> None:
        """Store the last length among the headers that end before `end`."""
        for found in LENGTH.finditer(self._buffer, 0, end):
            self._length = int(found[1])


class Lifetime:
    """The duration of one run of the server."""

    def __init__(self) -> None:
        self.signal: int | None = None
        """The number of the signal that ended the run, if one did."""
        self._over = asyncio.Event()
        self._parent: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether the run has been ended."""
        return self._over.is_set()

    def end(self) -> None:
        """End the run; `wait` returns soon after."""
        self._over.set()

    def end_with(self, process_id: int) -> None:
        """End the run when a process ends.

        A process that does not exist now is ignored: it is in another container.
        """
        if is_alive(process_id):
            self._parent = process_id

    async def wait(self) -> None:
        """Return when the run is over."""
        while not self.is_over:
            try:
                async with asyncio.timeout(PARENT_CHECK_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                if self._parent is not None and not is_alive(self._parent):
                    log.warning("the editor (process %d) is gone", self._parent)
                    self.end()

    def listen_to_signals(self) -> None:
        """End the run on SIGHUP, SIGINT and SIGTERM."""
        if sys.platform == "win32":
            return
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._signalled, int(number))

    def _signalled(self, number: int) -> None:
        self.signal = number
        self.end()


def exit_within(seconds: float, code: int) -> None:
    """End the process in `seconds` at most: asyncio and the interpreter would join hanging
    threads.
    """
    guard = threading.Timer(seconds, os._exit, (code,))
    guard.daemon = True
    guard.start()
