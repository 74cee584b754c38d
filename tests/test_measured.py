"""The tables of the benchmarks: how a number is held against its bars, and how they reach
`docs/benchmarks.md`.
"""

import re
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench.budgets import ROWS, amiss
from tests.bench.page import BEGIN, END, PAGE, README, SHORT, table, write
from tests.bench.table import HEADINGS, Row, at_least, at_most, render, times_at_least


def test_a_number_is_held_against_its_bars_alone_or_as_a_ratio() -> None:
    row = Row("x", "ms", 4, 2, "peer", must=times_at_least(3), aim=at_most(5))
    assert not row.holds
    assert Row("x", "ms", 4, must=at_least(4), aim=at_most(3)).holds
    assert "| x    | 4 ms | 2 (peer) | 2x    | ≥ 3x: missed | ≤ 5: held |" in render([row])


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page in place of `docs/benchmarks.md`, beside one in place of the README."""
    page, readme = tmp_path / "benchmarks.md", tmp_path / "README.md"
    page.write_text(f"| not | ours |\n{BEGIN}| by hand | 1 |\n{END}| nor | this |\n")
    readme.write_text(f"above\n{BEGIN}old\n{END}below\n")
    monkeypatch.setattr("tests.bench.page.PAGE", page)
    monkeypatch.setattr("tests.bench.page.README", readme)
    return page


def test_writing_the_table_leaves_the_rest_of_both_pages_as_it_is(page: Path) -> None:
    what, peer = SHORT[0]
    write([Row("x", "ms", 4, must=at_most(5)), Row(what, "ms", 2, 4, peer)], minutes=6)
    readme = page.with_name("README.md")
    for text, begins, ends in (
        (page.read_text(), "| not | ours |\n", "| nor | this |\n"),
        (readme.read_text(), "above\n", "below\n"),
    ):
        assert text.startswith(begins)
        assert text.endswith(ends)
        assert f"| {what} " in text
        assert "by hand" not in text
        assert "old" not in text
    assert "| x " in page.read_text()
    assert "| x " not in readme.read_text()


def test_the_page_has_a_place_for_the_table() -> None:
    text = PAGE.read_text()
    assert (text.count(BEGIN), text.count(END)) == (1, 1)
    assert text.index(BEGIN) < text.index(END)


def test_the_pages_table_has_every_row_of_the_benchmarks_and_no_other() -> None:
    headings, *rows = table()
    assert tuple(headings) == HEADINGS
    assert amiss([what for what, *_ in rows]) == []


def test_the_readme_has_five_of_the_rows_with_the_same_numbers() -> None:
    text = README.read_text()
    assert (text.count(BEGIN), text.count(END)) == (1, 1)
    headings, *rows = table(README)
    assert tuple(headings) == HEADINGS
    assert len(rows) == len(SHORT) == 5
    assert [row for row in rows if row not in table()] == []
    assert {(what, peer) for what, peer in SHORT} == {
        (what, peer.partition("(")[2].strip(")")) for what, _, peer, *_ in rows
    }


def test_the_page_about_search_quality_has_the_scores_that_were_reached() -> None:
    page = (PAGE.parent / "search-quality.md").read_text()
    scores = (PAGE.parents[1] / "tests" / "eval" / "scores.md").read_text()
    rows = [line for line in page.splitlines() if re.match(r"\|.*@10 \|", line)]
    numbers = [number for row in rows for number in re.findall(r"\d+\.\d+", row)]
    assert len(numbers) == 8
    assert [number for number in numbers if f"| {number} |" not in scores] == []


def test_a_written_table_is_read_back_by_what_was_measured(page: Path) -> None:
    assert table(page) == table() == []
    write([Row("x", "ms", 4, must=at_most(5)), Row("y", "s", 1, 2, "peer")], minutes=6)
    assert table() == [
        list(HEADINGS),
        ["x", "4 ms", "-", "-", "≤ 5: held", "-"],
        ["y", "1 s", "2 (peer)", "0.5x", "-", "-"],
    ]


def test_a_row_that_is_lost_from_a_table_is_noticed_and_one_that_is_not_measured_too() -> None:
    whole = [row.replace("*", "4,624") for rows in ROWS.values() for row in rows]
    assert amiss([*whole, *whole]) == []
    for row in whole:
        (reported,) = amiss([one for one in whole if one != row])
        assert reported.startswith("there is no row "), row
    assert amiss([*whole, "tea", "tea"]) == ["no benchmark yields the row 'tea'"]
    assert amiss(["memory, idle", "memory, 3 files indexed"], ["memory"]) == []


def test_every_benchmark_has_its_rows_named() -> None:
    assert ROWS.keys() == bench.BENCHMARKS.keys()


def test_what_a_benchmark_yields_is_held_against_its_named_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.main(["retrieval"])
    assert "row" not in capsys.readouterr().err
    row = Row("memory, of late", "MB", 4)
    detail = Row("no matter", "MB", 4, in_detail=True)
    monkeypatch.setitem(bench.BENCHMARKS, "memory", lambda: iter([row, detail]))
    assert bench.main(["memory"]) == 1
    reported = capsys.readouterr().err
    assert "there is no row 'memory, idle'" in reported
    assert "no benchmark yields the row 'memory, of late'" in reported
    assert "no matter" not in reported


def test_the_pages_table_is_of_all_benchmarks_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["prefix", "--write"])
    assert "leave the names out" in capsys.readouterr().err
