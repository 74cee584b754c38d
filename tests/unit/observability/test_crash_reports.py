"""Reports of what fails."""

import logging
import sys
from pathlib import Path

import pytest

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.observability import facts
from stet.observability.crash_reports import MAX_PER_RUN, CrashReporter, ReportDirectory
from tests.support.settings_parsing import parse_settings

TEXT = "the heron stood in the reeds"


@pytest.fixture
def shelf(tmp_path: Path) -> ReportDirectory:
    return ReportDirectory(tmp_path / "crashes")


@pytest.fixture
def reports(shelf: ReportDirectory) -> CrashReporter:
    return CrashReporter(shelf)


def note(
    reports: CrashReporter, message: str, *arguments: object, level: int = logging.ERROR
) -> None:
    """Log with whatever error is being handled."""
    error = sys.exc_info() if sys.exc_info()[1] else None
    reports.handle(logging.LogRecord("stet.test", level, "", 0, message, arguments, error))


def broken(kind: type[Exception]) -> None:
    raise kind(TEXT)


def fail(
    reports: CrashReporter, kind: type[Exception] = KeyError, level: int = logging.ERROR
) -> None:
    """Have something fail, and log it."""
    try:
        broken(kind)
    except kind:
        note(reports, "%s failed", TEXT, level=level)


def test_report_holds_error_and_place_and_nothing_private(
    reports: CrashReporter, shelf: ReportDirectory
) -> None:
    editor = ClientCapabilities(name="neovim", version="0.11.4", apply_edit=True)
    settings = parse_settings(
        {
            "model": {"name": "secret-project", "baseUrl": "https://u:pw@internal.example"},
            "log": {"traceModel": True},
            "agent": {"maxIterations": 7, "character": TEXT},
        }
    ).settings
    reports.facts = lambda: facts(editor, settings)
    note(reports, "%s has %d lines that are no patterns", f"/home/me/{TEXT}", 3)
    fail(reports)
    reports.close()
    [path] = shelf.reports()
    report = path.read_text()
    assert "what: ERROR stet.test: ... failed" in report
    assert "KeyError" in report
    assert "in fail" in report
    assert "editor: neovim 0.11.4; can: apply_edit" in report
    assert (
        "settings that are not the defaults: model.name, model.base_url, agent.max_iterations=7, "
        "agent.character, log.trace_model=True" in report
    )
    assert "stet.test: ... has 3 lines that are no patterns" in report
    assert "Python 3." in report
    assert "pygls 2." in report
    for private in (TEXT, "heron", "secret-project", "internal.example", str(Path.home()), "/home"):
        assert private not in report


def test_an_error_that_is_no_bug_leaves_no_report(
    reports: CrashReporter, shelf: ReportDirectory
) -> None:
    note(reports, "the state is not written")
    fail(reports, level=logging.WARNING)
    reports.close()
    assert shelf.reports() == []


def test_the_same_error_is_reported_once_and_a_run_leaves_few_reports(
    reports: CrashReporter, shelf: ReportDirectory
) -> None:
    for _ in range(3):
        fail(reports)
    reports.close()
    assert len(shelf.reports()) == 1
    for number in range(MAX_PER_RUN + 5):
        fail(reports, type(f"Odd{number}", (Exception,), {}))
    reports.close()
    assert len(shelf.reports()) == MAX_PER_RUN


def test_user_is_informed_once_of_the_report_even_if_it_came_early(
    reports: CrashReporter, shelf: ReportDirectory
) -> None:
    fail(reports)
    reports.close()
    reported: list[str] = []
    reports.notify_by(reported.append)
    fail(reports, ValueError)
    reports.close()
    [message] = reported
    [first, *_] = reversed(shelf.reports())
    assert str(first) in message
    assert "issue" in message


def test_a_folder_that_can_not_be_written_is_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    reports = CrashReporter(ReportDirectory(tmp_path / "file" / "crashes"))
    fail(reports)
    reports.close()
    assert "no crash report is written" in caplog.text


def test_the_end_of_the_process_waits_for_its_report(
    reports: CrashReporter, shelf: ReportDirectory
) -> None:
    fail(reports, level=logging.CRITICAL)
    assert len(shelf.reports()) == 1
