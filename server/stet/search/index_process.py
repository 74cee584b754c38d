"""The process of the index, seen from the server: start, messages, end."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from stet.system.helper_process import helper_environment, kill_and_wait, module_command
from stet.system.system import System

log = logging.getLogger(__name__)

MODULE = "stet.search.index_worker"
END_SECONDS = 1.0
_ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Environment variables that allow one thread: more threads would slow down the editor."""
_READ = 65_536
_MAX_LINE = 16_000_000
_MAX_TAIL = 2_000
_FOLDERS = ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
"""Environment variables that determine the folders of the user."""


class IndexProcess:
    """One run of the process, created by `start`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        on_message: Callable[["IndexProcess", dict[str, Any]], None],
    ) -> None:
        assert process.stdin is not None, "all streams are piped"
        assert process.stdout is not None, "all streams are piped"
        assert process.stderr is not None, "all streams are piped"
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._on_message = on_message

    @classmethod
    async def start(
        cls,
        system: System,
        begin: Mapping[str, Any],
        on_message: Callable[["IndexProcess", dict[str, Any]], None],
    ) -> "IndexProcess":
        """Start the process and send it its first message.

        Args:
            system: Starts the process.
            begin: The first message.
            on_message: Receives the process and each message that it writes.

        Raises:
            OSError: If the process can't be started.
        """
        environ = helper_environment(system, *_FOLDERS) | _ONE_THREAD
        process = await system.start_process(module_command(MODULE), env=environ)
        started = cls(process, on_message)
        try:
            await started.send(begin)
        except BaseException:  # also a cancellation: the process has no other owner
            await kill_and_wait(process)
            raise
        return started

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def post(self, message: Mapping[str, Any]) -> None:
        """Queue a short message before all later messages, without waiting until it is sent."""
        self._stdin.write(_line(message))

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message. If the process has ended, do nothing: `run` reports the end."""
        # Long texts are encoded in a thread; short messages are not worth a thread.
        is_long = len(message.get("text") or "") > 100_000
        if is_long:
            self._stdin.write(await asyncio.to_thread(_line, message))
        else:
            self.post(message)
        try:
            await self._stdin.drain()
        except ConnectionError:
            log.debug("the search index took no message: it has ended")

    async def run(self) -> str:
        """Read messages until the process ends. Return the last part of its standard error.

        Raises:
            ValueError: If the process wrote an invalid message; it has been killed then.
        """
        try:
            _, errors = await asyncio.gather(self._read_messages(), _tail_of(self._stderr))
            await self._process.wait()
        finally:
            await kill_and_wait(self._process)
        return errors

    async def _read_messages(self) -> None:
        rest = b""
        while data := await self._stdout.read(_READ):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._on_message(self, json.loads(line))
            if len(rest) > _MAX_LINE:
                raise ValueError(f"the search index wrote a line of more than {_MAX_LINE:,} bytes")

    async def end(self) -> None:
        """Let the process finish its current work and end. Kill it after `END_SECONDS`."""
        self._stdin.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self._process.wait()
        finally:
            await kill_and_wait(self._process)


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


async def _tail_of(stream: asyncio.StreamReader) -> str:
    tail = b""
    while data := await stream.read(_READ):
        tail = (tail + data)[-_MAX_TAIL:]
    return tail.decode("utf-8", "replace")
