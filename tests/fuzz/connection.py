"""The connection to one server: only protocol messages may arrive, and every wait has a limit."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fuzz.reference import Violation
from tests.support.server_processes import start

SERVER = str(Path(__file__).with_name("server.py"))
LONGEST_SECONDS = 60.0
"""Seconds for which a server that owes answers may be silent; the machine may be very busy."""
_HEADER = re.compile(rb"Content-Length: (\d+)\r\n\r\n")
_FAULT = re.compile(r"Traceback|\bERROR\b|\bCRITICAL\b|never awaited|never retrieved")
Message = dict[str, Any]


class Connection:
    """One server process.

    Attributes:
        fault: The first violation by the server.
        log: The last lines of the server's standard error.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, take: Callable[[Message], None]
    ) -> None:
        self.process = process
        self.fault: Violation | None = None
        self.log: list[str] = []
        self._take = take
        self._news = asyncio.Event()
        start_task = asyncio.get_running_loop().create_task
        self._tasks = [start_task(self._read()), start_task(self._read_messages())]

    @classmethod
    async def begun(
        cls,
        home: Path,
        take: Callable[[Message], None],
        *,
        broken: str = "",
        counts_memory: bool = False,
        options: tuple[str, ...] = (),
    ) -> "Connection":
        """Start a server with its own home folder.

        Args:
            home: The folder for all files of the user.
            take: Receives every message of the server.
            broken: The name of the piece to remove from the server.
            counts_memory: Whether the counting allocator serves all of the server's memory; this
                needs a restart, which takes a second.
            options: Additional options of the server.
        """
        kinds = ("CONFIG", "STATE", "CACHE", "DATA")
        folders = {f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in kinds}
        env = {
            "PATH": os.environ["PATH"], "HOME": str(home), "STET_SCRIPTED_MODEL": "any", **folders,
            **({"PYTHONMALLOC": "malloc"} if counts_memory else {}),
        }  # fmt: skip
        argv = [sys.executable, *(("-s", "-P") if counts_memory else ("-I",)), SERVER, *options]
        if broken:
            argv += ["--broken", broken]
        process = await start(argv, env=env, limit=1 << 24, fresh=counts_memory)
        return cls(process, take)

    def send(self, *messages: object) -> None:
        """Send messages, each in its frame."""
        bodies = [json.dumps(message).encode() for message in messages]
        self.write(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))

    def write(self, data: bytes) -> None:
        """Send bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def drain(self) -> None:
        """Wait until the server has read most of what was written, and process what has arrived."""
        assert self.process.stdin is not None
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                await self.process.stdin.drain()
        except TimeoutError:
            raise Violation("the server reads nothing any more") from None
        except ConnectionError:
            raise self.fault or Violation("the server has hung up") from None
        self._complain()

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until `holds`; checked after every message.

        Raises:
            Violation: If the server did something wrong, ended, or is silent for too long.
        """
        while not holds():
            self._complain()
            if self._tasks[0].done():
                raise Violation(f"the server has ended, and there is no {what}")
            self._news.clear()
            try:
                async with asyncio.timeout(LONGEST_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                await self._ask_where()
                raise Violation(f"the server is silent, and there is no {what}") from None
        self._complain()

    async def ended(self) -> int:
        """Wait until the server has exited and its output is read; return the exit code."""
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                code = await self.process.wait()
                await asyncio.gather(*self._tasks)
        except TimeoutError:
            raise Violation("the server does not end") from None
        self._complain()
        return code

    async def close(self) -> None:
        """Kill the server if it still runs."""
        if self.process.returncode is None:
            self.process.kill()
        assert self.process.stdin is not None
        self.process.stdin.close()
        await self.process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask_where(self) -> None:
        """Make the server write its stack into its log, if it still runs."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGUSR1)
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await asyncio.shield(self._tasks[1])

    def _complain(self) -> None:
        if self.fault is not None:
            raise self.fault

    def _found(self, what: str) -> None:
        self.fault = self.fault or Violation(what)
        self._news.set()

    async def _read(self) -> None:
        reader = self.process.stdout
        assert reader is not None
        data = bytearray()
        while piece := await reader.read(1 << 18):
            data += piece
            try:
                self._cut(data)
            except Violation as violation:
                self._found(str(violation))
            self._news.set()
        if data:
            self._found(f"half a message on the standard output: {bytes(data[:200])!r}")
        self._news.set()

    def _cut(self, data: bytearray) -> None:
        """Take the complete messages from the front of the buffer."""
        at = 0
        while (header := _HEADER.match(data, at)) is not None:
            end = header.end() + int(header[1])
            if end > len(data):
                break
            self._take(json.loads(data[header.end() : end]))
            at = end
        del data[:at]
        if data and header is None and (len(data) > 40 or b"\n" in data[:40].removesuffix(b"\r\n")):
            text = bytes(data[:200])
            data.clear()
            raise Violation(f"this is no protocol on the standard output: {text!r}")

    async def _read_messages(self) -> None:
        reader = self.process.stderr
        assert reader is not None
        while line := (await reader.readline()).decode("utf-8", "replace"):
            self.log = [*self.log[-80:], line.rstrip()]
            if _FAULT.search(line):
                self._found(f"the log tells of a fault: {line}")
