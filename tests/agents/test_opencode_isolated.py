"""The real OpenCode in an overlay (`stet run`): what its shell changes becomes hunks too."""

from pathlib import Path

import pytest

from tests.agents.opencode import run_opencode
from tests.agents.review_scenario import (
    STET,
    AgentTools,
    check_review,
    install_in_thread,
    runtime,
)
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.isolation import isolation
from tests.parts.opencode import opencode
from tests.support.agent_models.script import Answer, Script, call, say
from tests.support.editor import FakeEditor

pytestmark = pytest.mark.slow

ISOLATED = (str(STET), "run")


def by_shell(command: str) -> Answer:
    """Make the call of a shell command."""
    return call("bash", command=command, description="A command.")


TOOLS = AgentTools(
    read=lambda path: call("read", filePath=str(path)),
    edit=lambda path, old, new: by_shell(f"sed -i s/{old}/{new}/ {path.name}"),
    create=lambda path, line: call("write", filePath=str(path), content=f"{line}\n"),
)


@pytest.fixture
def program(part: Part) -> Path:
    part(isolation)
    return part(opencode)


async def test_isolated_opencode_is_reviewed_hunk_by_hunk(program: Path, scene: Scene) -> None:
    await install_in_thread(scene, "opencode")

    async def run(script: Script, resumes: bool) -> None:
        more = ("--continue",) if resumes else ()
        await run_opencode(
            program, scene.home, scene.workspace, script, *more,
            environment=runtime(scene), starter=ISOLATED,
        )  # fmt: skip

    await check_review(scene, "opencode", TOOLS, run)


async def test_opencode_without_hooks_is_reviewed_in_an_overlay(
    program: Path, scene: Scene
) -> None:
    a = scene.workspace / "a.txt"
    script = Script(
        [
            call("read", filePath=str(a)),
            by_shell("sed -i s/two/2/ a.txt && rm b.txt && mkdir build && echo o >build/o"),
            call("edit", filePath=str(a), oldString="one, unsaved", newString="1"),
            by_shell("cat a.txt"),
            say("Done."),
        ]
    )
    (scene.workspace / "b.txt").write_text("b\n")
    (scene.workspace / ".gitignore").write_text("build\n")
    saved = texts(scene.workspace)
    settings = {"edit": {"canDelete": True}}
    async with FakeEditor.start(scene.workspace, env=runtime(scene), settings=settings) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one\n", "one, unsaved\n")
        editor.flush()
        await editor.command("stet.proposals")
        await run_opencode(
            program, scene.home, scene.workspace, script,
            environment=runtime(scene), starter=ISOLATED,
        )  # fmt: skip
        listed = await editor.command("stet.proposals", {"state": "pending"})
        assert {(item["author"], item["kind"], item["new"]) for item in listed} == {
            (program.name, "replace", "1\n2\n"),
            (program.name, "remove", ""),
        }
    assert "one, unsaved" in script.requests[1].results[0]
    assert "1\n2" in script.requests[4].results[-1]
    assert texts(scene.workspace) == saved
