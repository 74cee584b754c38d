"""The table of docs/agents.md is what the tests with the real programs have seen."""

import json

import pytest

from tests.agents.captured_edits import FOLDER, PAGE, TITLES, WAYS, record, version_of, with_table


def test_documented_table_is_the_recorded_one() -> None:
    page = PAGE.read_text()
    assert with_table(page) == page


def test_each_agent_is_recorded_with_the_version_of_the_tests() -> None:
    found = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
    assert {name.partition("-")[0] for name in found} == set(TITLES)
    for name, row in found.items():
        agent, _, way = name.partition("-")
        assert way in WAYS
        assert row["version"] == version_of(agent, way)


def test_record_refuses_another_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_RENEW", raising=False)
    row = json.loads((FOLDER / "claude-terminal.json").read_text())
    del row["version"]
    record("claude", "terminal", row)
    with pytest.raises(AssertionError, match="STET_RENEW=1"):
        record("claude", "terminal", {**row, "hunks": "none"})
