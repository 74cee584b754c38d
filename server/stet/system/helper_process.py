"""Helper processes that parse untrusted texts, so that a slow or large text stalls nothing.

The process limits itself with `stet.system.resource_limits`.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence

from stet.system.system import System

_PASSED_ENV = ("PATH", "SYSTEMROOT", "LANG", "TMPDIR", "TEMP")


def module_command(module: str) -> list[str]:
    """Return the command line that runs a module of Stet in a separate process.

    If this process writes no bytecode, the child writes none either: on a full disk the
    interpreter leaves a truncated file, which no later process can import.
    """
    flags = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *flags, "-m", module]


def helper_environment(system: System, *more: str) -> dict[str, str]:
    """Return the environment of a helper process: `more` and a few variables, but no keys."""
    environ = system.environ()
    return {name: environ[name] for name in (*_PASSED_ENV, *more) if name in environ}


async def run_helper(system: System, module: str, task: bytes, seconds: float) -> bytes:
    """Run a module of Stet and return its output, which is incomplete if the process dies.

    Args:
        system: The system that starts the process.
        module: The module to run.
        task: The standard input of the process.
        seconds: The time limit in seconds; the process is killed at the limit, and on a cancel.

    Raises:
        TimeoutError: If the process takes longer.
        OSError: If the process can't be started.
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
    """Run a program and return its standard output.

    Args:
        system: The system that starts the process.
        argv: The program and its arguments.
        seconds: The time limit in seconds; the process is killed at the limit, and on a cancel.
        task: The standard input of the process.
        env: The environment of the process; None for the environment of this process.

    Raises:
        TimeoutError: If the process takes longer.
        OSError: If the process can't be started.
    """
    process = await system.start_process(argv, env=env)
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate(task)
    finally:
        await kill_and_wait(process)
    return output


async def kill_and_wait(process: asyncio.subprocess.Process) -> None:
    """Kill a process if it is running, and wait until it is reaped.

    Call this for each abandoned process, also on a cancel: otherwise it remains a zombie.
    """
    if process.returncode is None:
        process.kill()
        await process.wait()
