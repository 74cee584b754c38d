"""Fixtures of all tests of faults around texts."""

from pathlib import Path

import pytest

from tests.support.fault_scene import three_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of three files."""
    return three_files(tmp_path / "ws")
