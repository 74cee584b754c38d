"""The scene of each test of an agent."""

from pathlib import Path

import pytest

from tests.agents.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Make the scene of one test."""
    return Scene.make(tmp_path)
