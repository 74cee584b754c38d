"""Child processes of this layer: their three pipes, and their end."""

import asyncio
from asyncio.subprocess import Process
from contextlib import suppress

from stet.system.helper_process import kill_and_wait

END_SECONDS = 2.0
"""How long a child may take to end by itself."""


def child_pipes(
    process: Process,
) -> tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamReader]:
    """Stdin, stdout and stderr of a process that was started with all three piped."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise ValueError("the process was started without pipes")
    return process.stdin, process.stdout, process.stderr


async def end_child(process: Process) -> None:
    """Close a child's stdin, which ends a well-behaved one; kill it if that does not."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_SECONDS)
    finally:
        await kill_and_wait(process)
