"""A process of our own that reads what strangers wrote: a text made to be slow or large stalls nothing.

This is the side that asks; what the process does about itself is in `stet.system.resource_limits`.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence

from stet.system.system import System

_PASSED_ENV = ("PATH", "SYSTEMROOT", "LANG", "TMPDIR", "TEMP")


def module_command(module: str) -> list[str]:
    """Return the command line that runs a module of Stet in a process of its own.

    A child of a process that writes no bytecode writes none either: on a full disk the interpreter
    leaves a cut file, which no later process can import.
    """
    flags = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *flags, "-m", module]


def helper_environment(system: System, *more: str) -> dict[str, str]:
    """Return the environment variables of a process of our own: those named and a few. It needs no key."""
    environ = system.environ()
    return {name: environ[name] for name in (*_PASSED_ENV, *more) if name in environ}


async def run_helper(system: System, module: str, task: bytes, seconds: float) -> bytes:
    """Return the output of a module of Stet for `task`; only a part of it if the process dies.

    Args:
        system: Starts the process.
        module: The module to run.
        task: Its standard input.
        seconds: The time limit; the process is ended then, and on a cancel.

    Raises:
        TimeoutError: If it takes longer.
        OSError: If it can't be started.
    """
    env = helper_environment(system)
    return await output_of(system, module_command(module), seconds, task, env)


async def output_of(
    system: System,
    argv: Sequence[str],
    seconds: float,
    task: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Return the standard output of a program for `task`, its standard input.

    Args:
        system: Starts the process.
        argv: The program and its arguments.
        seconds: The time limit; the process is ended then, and on a cancel.
        task: Its standard input.
        env: Its environment; None for that of this process.

    Raises:
        TimeoutError: If it takes longer.
        OSError: If it can't be started.
    """
    process = await system.start_process(argv, env=env)
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate(task)
    finally:
        await kill_and_wait(process)
    return output


async def kill_and_wait(process: asyncio.subprocess.Process) -> None:
    """Kill a process if it still runs, and wait until it is reaped.

    For callers that abandon a process, also on a cancel: without the wait it stays a zombie.
    """
    if process.returncode is None:
        process.kill()
        await process.wait()
