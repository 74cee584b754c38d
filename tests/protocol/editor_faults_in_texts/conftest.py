"""Fixtures of all tests of faults in texts."""

from pathlib import Path

import pytest

from tests.support.fault_scene import TEXT


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder
