"""The process of an agent: its environment, its streams and its end."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which
from typing import Any, Protocol, TypeVar

from stet.bridges.acp.profiles import ConfiguredAgent
from stet.system.system import System
from stet.text.escape import escape_line

T = TypeVar("T")
MAX_LINE = 2**24
"""The longest line that an agent may send, in bytes; agents send large lists of commands."""
_PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "TEMP",
    "TMP", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "SYSTEMROOT", "COMSPEC",
    "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "USERPROFILE", "HTTP_PROXY", "HTTPS_PROXY",
    "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
)  # fmt: skip
"""The variables that every program gets; so do `LC_*` and `XDG_*`."""
_N_LINES = 5
"""The number of last lines of stderr that are used in a message."""
_MAX_SHOWN = 300
"""The most characters of stderr in a message."""
_ENDING_SECONDS = 2.0
"""The seconds to wait for the exit of a process that has closed its streams."""


Isolate = Callable[[Sequence[str], Path], Sequence[str]]
"""Returns the command line that starts a program isolated: the program with its arguments, and its
working folder.
"""


class Spawn(Protocol):
    """Starts a task and logs its errors."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], name: str, /) -> asyncio.Task[T]:
        """Start a task with a name for the log."""
        ...


class AgentFailure(Exception):
    """The agent can't answer; the message is a sentence for the user."""


class AgentProcess:
    """The running program of one agent; its process group is killed at the end.

    Attributes:
        process: The process, with its streams piped.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process, spawn: Spawn) -> None:
        """Take over a process that has been started.

        Args:
            name: The name of the agent, for messages.
            process: The process, the leader of a process group.
            spawn: Starts the task that reads stderr.
        """
        self.process = process
        self._name = name
        self._last_lines: deque[str] = deque(maxlen=_N_LINES)
        self._errors = spawn(self._read_errors(), f"stderr of the agent {name}")

    @classmethod
    async def start(
        cls,
        agent: ConfiguredAgent,
        folder: Path,
        system: System,
        spawn: Spawn,
        isolate: Isolate | None = None,
    ) -> "AgentProcess":
        """Start the program of an agent in a folder.

        Args:
            agent: The agent.
            folder: The working folder of the program.
            system: The system.
            spawn: Starts the task that reads stderr.
            isolate: Returns the command line that starts a program isolated; None without
                isolation.

        Raises:
            AgentFailure: If it can't be started.
        """
        env, argv = program_environment(agent, system.environ()), agent.argv
        try:
            if isolate is not None:
                await asyncio.to_thread(_check_program, argv[0], folder, env.get("PATH"))
                argv = tuple(isolate(argv, folder))
            process = await system.start_program(argv, env=env, cwd=folder, limit=MAX_LINE)
        except FileNotFoundError:
            raise AgentFailure(
                f"The program {agent.argv[0]!r} of the agent {agent.name} was not found. Install "
                f"it, or set agents.servers.{agent.name}.command."
            ) from None
        except OSError as error:
            raise AgentFailure(f"The agent {agent.name} can't be started: {error}.") from error
        return cls(agent.name, process, spawn)

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended."""
        return self.process.returncode is None

    async def describe_end(self) -> str:
        """Return a sentence about a program that has closed its streams."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_SECONDS):
                await self.process.wait()
                await asyncio.wait({self._errors})
        code = self.process.returncode
        how = f" with exit code {code}" if code is not None else ""
        return f"The agent {self._name} ended{how}{self.stderr_end}."

    @property
    def stderr_end(self) -> str:
        """The end of stderr, after a colon; "" if there is none."""
        text = " ".join(filter(None, self._last_lines)).rstrip(".")
        return f": {text[-_MAX_SHOWN:]}" if text else ""

    async def kill(self) -> None:
        """Kill the process group, and wait until the program is reaped."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        await self.process.wait()
        self._errors.cancel()

    async def _read_errors(self) -> None:
        assert self.process.stderr is not None, "all streams are piped"
        while piece := await self.process.stderr.read(2**16):
            for line in piece.decode(errors="replace").splitlines()[-_N_LINES:]:
                self._last_lines.append(escape_line(line[:_MAX_SHOWN]).strip())


def _check_program(program: str, folder: Path, path: str | None) -> None:
    """Check that a program exists.

    Raises:
        FileNotFoundError: If it does not.
    """
    place = program if os.path.dirname(program) == "" else str(folder / program)  # noqa: PTH120
    if which(place, path=path) is None:
        raise FileNotFoundError(program)


def program_environment(agent: ConfiguredAgent, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of an agent: a few variables, those of its settings, and no others."""
    named = {*_PASSED, *agent.profile.pass_env, *agent.server.pass_env}
    passed = {
        name: value
        for name, value in environ.items()
        if name in named or name.startswith(("LC_", "XDG_"))
    }
    return {**passed, **agent.server.env}
