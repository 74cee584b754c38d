"""Where an index is kept, and how large it is."""

import sqlite3
from pathlib import Path

import pytest

from stet.search.index_state import count_contents, index_folder
from stet.search.index_store import IndexStore

CACHE = Path("/cache")


def test_set_of_roots_has_one_folder_in_any_order() -> None:
    both = index_folder(CACHE, ["file:///a", "file:///b"])
    assert both.parent == CACHE / "workspaces"
    assert index_folder(CACHE, ["file:///b/", "file:///%61"]) == both
    assert index_folder(CACHE, ["file:///a"]) != both


def test_what_is_in_it_is_counted_while_it_is_in_use(tmp_path: Path) -> None:
    assert count_contents(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    with IndexStore(tmp_path / "index.db"):
        assert count_contents(tmp_path) == (0, 0)


def test_file_that_is_no_index_is_detected(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"x" * 5000)
    with pytest.raises(sqlite3.DatabaseError):
        count_contents(tmp_path)
