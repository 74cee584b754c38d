"""The real Claude Code beside an editor: its edits become hunks, and it is sent the decisions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.claude import run_claude
from tests.agents.review_scenario import AgentTools, check_review, install_in_thread, runtime
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.claude_code import claude_code
from tests.support.agent_models.script import Script, call, say

pytestmark = pytest.mark.slow

TOOLS = AgentTools(
    read=lambda path: call("Read", file_path=str(path)),
    edit=lambda path, old, new: call("Edit", file_path=str(path), old_string=old, new_string=new),
    create=lambda path, line: call("Write", file_path=str(path), content=f"{line}\n"),
)


@pytest.fixture
def claude(part: Part) -> Path:
    """Return the program."""
    return part(claude_code)


async def installed_settings(scene: Scene) -> dict[str, Any]:
    """Return the settings that `stet agents install` writes."""
    await install_in_thread(scene, "claude")
    settings: dict[str, Any] = json.loads((scene.home / ".claude" / "settings.json").read_text())
    return settings


async def test_claude_is_reviewed_hunk_by_hunk(claude: Path, scene: Scene) -> None:
    settings = await installed_settings(scene)

    async def run(script: Script, resumes: bool) -> None:
        more = ("--continue",) if resumes else ()
        await run_claude(
            claude, scene.home, scene.workspace, script, *more,
            settings=settings, environment=runtime(scene),
        )  # fmt: skip

    await check_review(scene, "claude", TOOLS, run)


async def test_claude_without_an_editor_writes_the_disk(claude: Path, scene: Scene) -> None:
    settings = await installed_settings(scene)
    path = scene.workspace / "a.txt"
    script = Script([TOOLS.read(path), TOOLS.edit(path, "two", "2"), say("Done.")])
    await run_claude(
        claude, scene.home, scene.workspace, script, "--permission-mode", "acceptEdits",
        settings=settings, environment=runtime(scene),
    )  # fmt: skip
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}
