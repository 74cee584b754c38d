"""What all tests of the chat document begin with."""

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder
