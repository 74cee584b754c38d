"""The connection to a model daemon, which is started if there is none."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from stet.control.peer import is_same_user
from stet.system.helper_process import helper_environment, module_command, output_of
from stet.system.system import System

DAEMON = "stet.llm.embedded.model_daemon"
LOAD_SECONDS = 60.0
"""The time in which a daemon must have loaded its model."""
_START_SECONDS = 10.0
_AGAIN_SECONDS = 0.1
_MAX_CRASHES = 2
_PASSED = ("HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_PASSED_PREFIXES = ("GGML_", "OMP_", "GOMP_", "CUDA_", "HIP_", "HSA_", "ROCR_", "VK_")
"""The variables that llama.cpp may need: the daemon outlives the shell, so it gets no keys."""


class DaemonFailed(Exception):
    """There is no daemon and none can be started; the message says why."""


class DaemonConnection:
    """A connection to a daemon that has answered.

    Attributes:
        reply: What the daemon has answered; see `stet.llm.embedded.model_daemon`.
    """

    def __init__(
        self, reader: StreamReader, writer: StreamWriter, reply: Mapping[str, Any]
    ) -> None:
        self.reply = reply
        self._reader = reader
        self._writer = writer

    async def has_ended(self, seconds: float) -> bool:
        """Return whether the daemon has ended, or ends within some seconds."""
        try:
            return not await asyncio.wait_for(self._reader.read(1), seconds)
        except TimeoutError:
            return False
        except OSError:
            return True

    async def close(self) -> None:
        """Close the connection: the daemon has one user fewer."""
        await _close(self._writer)


async def connect(order: Mapping[str, object]) -> DaemonConnection | None:
    """Connect to the daemon of an order (`ModelDaemons.order`), and wait until its model is loaded.

    Returns:
        The connection; None if there is no such daemon, or it ends.

    Raises:
        DaemonFailed: If it can't be reached, belongs to another user or does not answer.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(str(order["socket"]))
    except (FileNotFoundError, ConnectionError):
        return None
    except OSError as error:
        raise DaemonFailed(f"it can't be reached: {error}") from error
    try:
        line = await _read_reply(reader, writer)
        if line:
            return DaemonConnection(reader, writer, json.loads(line))
    except ValueError as error:
        writer.close()
        raise DaemonFailed(f"its answer can't be read: {error}") from error
    except BaseException:
        writer.close()
        raise
    await _close(writer)
    return None


async def _read_reply(reader: StreamReader, writer: StreamWriter) -> bytes:
    """Return the line of a daemon of this user; an empty one if the daemon ends.

    Raises:
        DaemonFailed: If the daemon belongs to another user, or does not answer.
    """
    if not is_same_user(writer.get_extra_info("socket")):
        raise DaemonFailed("it belongs to another user")
    try:
        async with asyncio.timeout(LOAD_SECONDS):
            return await reader.readline()
    except ConnectionError:
        return b""
    except TimeoutError as error:
        raise DaemonFailed(f"it did not answer within {LOAD_SECONDS:g} s") from error


async def start(system: System, order: Mapping[str, object]) -> DaemonConnection:
    """Start the daemon of an order, unless another process does so, and connect to it.

    Raises:
        DaemonFailed: If it can't be started or reached.
    """
    task = json.dumps(order).encode() + b"\n"
    n_crashes = 0
    try:
        async with asyncio.timeout(LOAD_SECONDS):
            while n_crashes < _MAX_CRASHES:
                environment = _environment(system)
                output = await output_of(
                    system, module_command(DAEMON), _START_SECONDS, task, environment
                )
                answer = json.loads(output)
                if "error" in answer:
                    raise DaemonFailed(f"it can't be started: {answer['error']}")
                if (connection := await connect(order)) is not None:
                    return connection
                if answer["state"] == "started":
                    n_crashes += 1
                await asyncio.sleep(_AGAIN_SECONDS)  # the former daemon ends just now
    except TimeoutError as error:
        raise DaemonFailed("it did not start in time") from error
    except (OSError, ValueError) as error:
        raise DaemonFailed(f"it can't be started: {error}") from error
    raise DaemonFailed("it exited during startup")


def _environment(system: System) -> dict[str, str]:
    """Return the environment of a daemon."""
    more = (name for name in system.environ() if name.startswith(_PASSED_PREFIXES))
    return helper_environment(system, *_PASSED, *more)


async def _close(writer: StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
