"""The scene of each test of an agent, and an editor that has its folder open."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agents.review_scenario import runtime
from tests.agents.scene import Scene
from tests.editors.vscode_session import screen, vscode, vscode_installed  # noqa: F401  fixtures
from tests.support.editor import FakeEditor


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Make the scene of one test."""
    return Scene.make(tmp_path)


@pytest.fixture
async def editor(scene: Scene) -> AsyncIterator[FakeEditor]:
    """Start an editor whose buffer of `a.txt` has an unsaved line."""
    async with FakeEditor.start(scene.workspace, env=runtime(scene)) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one\n", "one, unsaved\n")
        editor.flush()
        await editor.command("stet.proposals")
        yield editor
