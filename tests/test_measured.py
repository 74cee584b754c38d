"""The tables of the benchmarks: how a number is held against its bars, and how they reach the README."""

from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench.readme import BEGIN, END, README, write
from tests.bench.table import Row, at_least, at_most, render, times_at_least


def test_a_number_is_held_against_its_bars_alone_or_as_a_ratio() -> None:
    row = Row("x", "ms", 4, 2, "peer", must=times_at_least(3), aim=at_most(5))
    assert not row.holds
    assert Row("x", "ms", 4, must=at_least(4), aim=at_most(3)).holds
    assert "| x    | 4 ms | 2 (peer) | 2x    | ≥ 3x: missed | ≤ 5: held |" in render([row])


def test_writing_the_table_leaves_the_rest_of_the_readme_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"above\n{BEGIN}old\n{END}below\n")
    monkeypatch.setattr("tests.bench.readme.README", page)
    write([Row("x", "ms", 4, must=at_most(5))], minutes=6)
    text = page.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "| x " in text
    assert "old" not in text


def test_the_readme_has_a_place_for_the_table() -> None:
    text = README.read_text()
    assert (text.count(BEGIN), text.count(END)) == (1, 1)
    assert text.index(BEGIN) < text.index(END)


def test_the_readmes_table_is_of_all_benchmarks_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["prefix", "--write"])
    assert "leave the names out" in capsys.readouterr().err
