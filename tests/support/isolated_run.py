"""A real `stet run` beside an editor: its script waits until a test lets it go on."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.editor import FakeEditor
from tests.support.shell import STET, Shell

TEXT = "one\ntwo\nthree\nfour\nfive\n"
"""The text of `a.txt` in `numbered_lines`."""


def numbered_lines(base: Path) -> Shell:
    """Make a workspace with `a.txt`, which has five lines, and `b.txt`, which has one."""
    shell = Shell.at(base)
    shell.write("a.txt", TEXT)
    shell.write("b.txt", "b\n")
    return shell


class Run:
    """A `stet run` whose script waits where it has the word `WAIT`.

    Attributes:
        process: The process.
        output: What the script printed, at its end.
    """

    def __init__(self, process: asyncio.subprocess.Process, base: Path) -> None:
        self.process = process
        self.output = ""
        self._base = base

    @classmethod
    @asynccontextmanager
    async def start(cls, shell: Shell, script: str) -> AsyncIterator["Run"]:
        base = shell.folder.parent
        for name in ("begun", "go"):
            await asyncio.to_thread(os.mkfifo, base / name)
        waiting = f"echo >{base}/begun; read go <{base}/go;"
        process = await asyncio.create_subprocess_exec(
            *STET, "run", "sh", "-c", script.replace("WAIT", waiting),
            cwd=shell.folder,
            env=shell.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            yield cls(process, base)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()
            for name in ("begun", "go"):
                await asyncio.to_thread((base / name).unlink)

    async def begun(self) -> None:
        """Wait until the script waits."""
        await asyncio.to_thread((self._base / "begun").read_text)

    async def go(self) -> None:
        """Let the script go on."""
        await asyncio.to_thread((self._base / "go").write_text, "\n")

    async def ended(self) -> tuple[int | None, str]:
        """Wait for the end; return the exit code and what it printed as errors."""
        output, errors = await self.process.communicate()
        self.output = output.decode()
        return self.process.returncode, errors.decode()


async def texts(editor: FakeEditor) -> list[str]:
    """Return the new text of each pending hunk."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    return [item["new"] for item in listed]


async def wait_for_hunks(editor: FakeEditor, *expected: str) -> None:
    """Wait until these are the new texts of the pending hunks."""
    while True:
        arrived = editor.n_news  # read before the request
        if await texts(editor) == list(expected):
            return
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]
