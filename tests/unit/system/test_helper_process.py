"""A process of our own: its end is seen, whatever becomes of who asked it."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence

import pytest

from stet.cli import editor_check
from stet.llm.embedded import embedded_model as process
from stet.llm.weights import pypi_wheels
from stet.lsp.tasks import Tasks
from stet.system.helper_process import module_command, run_helper
from stet.system.system import System


class Hanging(System):
    """Where every program hangs."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.process: asyncio.subprocess.Process

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        hangs = [sys.executable, "-I", "-c", "import time; time.sleep(60)"]
        self.process = await super().start_process(hangs, env=env)
        self.begun.set()
        return self.process


async def ended(system: Hanging) -> None:
    """As the embedded model's process is ended."""
    await process.end_child(await system.start_process([]))


WAITING: dict[str, Callable[[Hanging], Awaitable[object]]] = {
    "asked": lambda system: run_helper(system, "stet.nothing", b"", 60),
    "pip": pypi_wheels._pip_version,
    "an editor": lambda system: editor_check.check_editor(editor_check.EDITORS["helix"], system),
    "the embedded model": ended,
}


@pytest.mark.parametrize("waits", WAITING.values(), ids=WAITING.keys())
async def test_cancel_kills_the_helper_process(
    waits: Callable[[Hanging], Awaitable[object]],
) -> None:
    system, tasks = Hanging(), Tasks()

    async def waiting() -> None:
        await waits(system)

    running = tasks.spawn(waiting(), "it")
    await system.begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert system.process.returncode == -signal.SIGKILL


async def test_timeout_kills_the_helper_process() -> None:
    system = Hanging()
    with pytest.raises(TimeoutError):
        await run_helper(system, "stet.nothing", b"", 0.1)
    assert system.process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(("writes", "flags"), [(True, ["-I"]), (False, ["-I", "-B"])])
def test_module_command_passes_on_that_no_bytecode_is_written(
    monkeypatch: pytest.MonkeyPatch, writes: bool, flags: list[str]
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
    assert module_command("stet.x") == [sys.executable, *flags, "-m", "stet.x"]
