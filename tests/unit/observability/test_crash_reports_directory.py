"""Where crash reports lie."""

from pathlib import Path

import pytest

from stet.observability.crash_reports import MAX_REPORTS, ReportDirectory


def test_reports_are_their_owners_and_only_the_newest_stay(tmp_path: Path) -> None:
    shelf = ReportDirectory(tmp_path / "log" / "crashes")
    assert shelf.reports() == []
    written = [shelf.save(f"report {number}\n") for number in range(MAX_REPORTS + 3)]
    assert shelf.reports() == sorted(written, reverse=True)[:MAX_REPORTS]
    assert shelf.reports()[0].read_text() == f"report {MAX_REPORTS + 2}\n"
    assert {path.stat().st_mode & 0o777 for path in shelf.reports()} == {0o600}
    assert shelf.folder.stat().st_mode & 0o777 == 0o700


def test_what_else_lies_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    shelf = ReportDirectory(tmp_path)
    for number in range(MAX_REPORTS + 3):
        shelf.save(str(number))
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_folder_that_can_not_be_made_is_an_error_and_no_reports(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shelf = ReportDirectory(tmp_path / "file" / "crashes")
    assert shelf.reports() == []
    with pytest.raises(OSError, match="file"):
        shelf.save("report")
