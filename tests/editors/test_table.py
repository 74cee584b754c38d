"""The table of `docs/editors.md` has what the tests saw, and every row was tested."""

import json
from pathlib import Path

import pytest

from tests.editors.shown import FOLDER, ROWS, Shown
from tests.editors.table import PAGE, table, written


def test_the_page_holds_the_table_of_what_was_seen() -> None:
    page = PAGE.read_text()
    assert page == written(page), "python -m tests.editors.table --write"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_everything_was_looked_for_in_every_editor(file: Path) -> None:
    assert list(json.loads(file.read_text())["rows"]) == list(ROWS)


def test_cell_is_a_text_a_dash_or_empty() -> None:
    editors = [
        {"title": "One 1.0", "rows": {"lens": "a | b", "hover": "no"}},
        {"title": "Two", "rows": {"hover": "popup"}},
    ]
    lines = table(editors).splitlines()
    assert lines[:2] == ["| shown | One 1.0 | Two |", "| --- | --- | --- |"]
    assert f"| {ROWS['lens']} | a \\| b |  |" in lines
    assert f"| {ROWS['hover']} | - | popup |" in lines
    assert len(lines) == 2 + len(ROWS)


def test_difference_from_the_table_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tests.editors.shown.FOLDER", tmp_path)
    monkeypatch.setenv("STET_RENEW", "1")
    Shown("one", "One 1.0", {"lens": "line", "hover": "popup"}).check()
    monkeypatch.delenv("STET_RENEW")
    Shown("one", "One 1.0", {"hover": "popup"}).check()
    with pytest.raises(AssertionError, match=r"one shows other things than .*one\.json says"):
        Shown("one", "One 1.0", {"hover": "no"}).check()
    with pytest.raises(AssertionError, match="other things"):
        Shown("one", "One 2.0", {"hover": "popup"}).check()
