"""A program that reaches nothing but a server of the test on loopback.

It runs in a network namespace with loopback only, where the system lets this user make one
(`unshare -rn`); the server's socket is made inside of it. Elsewhere it runs in the network of the
test, and its proxy variables point at a closed port: a program that heeds none gets out.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SECONDS = 60.0
"""Seconds until a program counts as hanging."""
_ENTRY = Path(__file__).with_name("loopback_entry.py")
_CLOSED = "http://127.0.0.1:9"


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended: its exit code and what it printed."""

    code: int
    output: str
    errors: str


class LoopbackProcess:
    """A process that waits for the command that it will run.

    Attributes:
        listening: A listening socket on the loopback of the process.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        channel: socket.socket,
        listening: socket.socket,
    ) -> None:
        self.listening = listening
        self._process = process
        self._channel = channel

    @classmethod
    @asynccontextmanager
    async def start(cls, folder: Path) -> AsyncIterator["LoopbackProcess"]:
        """Start a process in a folder; kill its process group at the end."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            number = str(theirs.fileno())
            isolation = ["unshare", "-rn"] if has_namespaces() else []
            process = await asyncio.create_subprocess_exec(
                *isolation, sys.executable, "-I", str(_ENTRY), number, *(["--raise"] if isolation else []),
                cwd=folder,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            try:
                theirs.close()
                ours.settimeout(SECONDS)
                _, sockets, _, _ = await asyncio.to_thread(socket.recv_fds, ours, 1, 1)
                assert sockets, "the process ended before it had a socket"
                with socket.socket(fileno=sockets[0]) as listening:
                    yield cls(process, ours, listening)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()

    async def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Ended:
        """Run a command, the first word an absolute path; return when it has ended.

        Raises:
            TimeoutError: After `SECONDS`.
        """
        given = {"argv": list(command), "env": {**network_variables(), **environment}}
        self._channel.sendall(json.dumps(given).encode() + b"\n")
        async with asyncio.timeout(SECONDS):
            output, errors = await self._process.communicate()
        assert self._process.returncode is not None
        return Ended(
            self._process.returncode,
            output.decode(errors="replace"),
            errors.decode(errors="replace"),
        )


def network_variables() -> dict[str, str]:
    """Return the variables that lead a program to loopback only, if it heeds them."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), _CLOSED)
    proxies |= {name.upper(): value for name, value in proxies.items()}
    return {**proxies, "no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}


@cache
def has_namespaces() -> bool:
    """Tell whether this user may make a network namespace."""
    program = shutil.which("unshare")
    if program is None:
        return False
    done = subprocess.run([program, "-rn", "true"], capture_output=True, check=False)
    return done.returncode == 0
