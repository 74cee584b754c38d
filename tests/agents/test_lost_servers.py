"""A server that is killed while a real agent works: no edit passes the review half."""

import os
import re
import select
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.copilot import run_copilot
from tests.agents.opencode import run_opencode
from tests.agents.review_scenario import Run, install_in_thread, runtime
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.copilot_cli import copilot_cache, copilot_cli
from tests.parts.opencode import opencode
from tests.support.agent_models.script import Answer, ModelRequest, Script, call, say
from tests.support.restarts import until_killed

pytestmark = pytest.mark.slow


def kill_server(scene: Scene) -> None:
    """Kill the server of the scene's editor, and wait until it has ended."""
    [descriptor] = (scene.notes / "stet").glob("serve-*.json")
    pid = int(descriptor.stem.partition("-")[2])
    process = os.pidfd_open(pid)
    try:
        os.kill(pid, signal.SIGKILL)
        select.select([process], [], [])
    finally:
        os.close(process)


class EditsOfCopy(Script):
    """A model that edits a file, and then its copy, whose server is killed between both.

    Attributes:
        copy: The path of the copy.
    """

    def __init__(
        self, file: Path, edit: Callable[[Path, str, str], Answer], kill: Callable[[], None]
    ) -> None:
        super().__init__([])
        self.copy = Path()
        self._steps = self._play(file, edit, kill)

    def next(self, request: ModelRequest) -> Answer:
        """Record a request; return its answer."""
        self.requests.append(request)
        return next(self._steps)

    def _play(
        self, file: Path, edit: Callable[[Path, str, str], Answer], kill: Callable[[], None]
    ) -> Iterator[Answer]:
        yield edit(file, "two", "2")
        request = self.requests[-1]
        sent = "\n".join((*request.texts, *request.results))
        [*_, path] = re.findall(r"Read and edit a\.txt as (\S+):", sent)
        self.copy = Path(path)
        kill()
        yield edit(self.copy, "2", "3")
        yield say("Done.")


async def check_lost(scene: Scene, edit: Callable[[Path, str, str], Answer], run: Run) -> None:
    """Run an agent whose server is killed after its first edit, and check what it has changed."""
    file = scene.workspace / "a.txt"
    script = EditsOfCopy(file, edit, lambda: kill_server(scene))
    async with until_killed(scene.workspace, env=runtime(scene)) as editor:
        await editor.command("stet.proposals")
        await run(script, False)
    assert script.copy.is_relative_to(scene.notes / "stet" / "shadow")
    assert not script.copy.exists()  # the hook removes what the server has left
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert re.search("has ended|can't be reached", script.requests[-1].results[-1])


async def test_copilot_does_not_edit_the_copy_of_a_killed_server(part: Part, scene: Scene) -> None:
    part(copilot_cache)
    program = part(copilot_cli)
    await install_in_thread(scene, "copilot")

    def edit(path: Path, old: str, new: str) -> Answer:
        return call("edit", path=str(path), old_str=old, new_str=new)

    async def run(script: Script, _: bool) -> None:
        await run_copilot(
            program, scene.home, scene.workspace, script,
            model="claude-sonnet-4.5", environment=runtime(scene),
        )  # fmt: skip

    await check_lost(scene, edit, run)


async def test_opencode_does_not_edit_the_copy_of_a_killed_server(part: Part, scene: Scene) -> None:
    program = part(opencode)
    await install_in_thread(scene, "opencode")

    def edit(path: Path, old: str, new: str) -> Answer:
        return call("edit", filePath=str(path), oldString=old, newString=new)

    async def run(script: Script, _: bool) -> None:
        await run_opencode(program, scene.home, scene.workspace, script, environment=runtime(scene))

    await check_lost(scene, edit, run)
