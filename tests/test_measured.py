"""The tables of the benchmarks: how a number is held against its bars, and how they reach `docs/benchmarks.md`."""

import re
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench.budgets import ROWS, amiss
from tests.bench.page import BEGIN, END, PAGE, table, write
from tests.bench.table import HEADINGS, Row, at_least, at_most, render, times_at_least


def test_a_number_is_held_against_its_bars_alone_or_as_a_ratio() -> None:
    row = Row("x", "ms", 4, 2, "peer", must=times_at_least(3), aim=at_most(5))
    assert not row.holds
    assert Row("x", "ms", 4, must=at_least(4), aim=at_most(3)).holds
    assert "| x    | 4 ms | 2 (peer) | 2x    | ≥ 3x: missed | ≤ 5: held |" in render([row])


def test_writing_the_table_leaves_the_rest_of_the_page_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(f"above\n{BEGIN}old\n{END}below\n")
    monkeypatch.setattr("tests.bench.page.PAGE", page)
    write([Row("x", "ms", 4, must=at_most(5))], minutes=6)
    text = page.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "| x " in text
    assert "old" not in text


def test_the_page_has_a_place_for_the_table() -> None:
    text = PAGE.read_text()
    assert (text.count(BEGIN), text.count(END)) == (1, 1)
    assert text.index(BEGIN) < text.index(END)


def test_the_pages_table_has_every_row_of_the_benchmarks_and_no_other() -> None:
    headings, *rows = table()
    assert tuple(headings) == HEADINGS
    assert amiss([what for what, *_ in rows]) == []


def test_the_page_about_search_quality_has_the_scores_that_were_reached() -> None:
    page = (PAGE.parent / "search-quality.md").read_text()
    scores = (PAGE.parents[1] / "tests" / "eval" / "scores.md").read_text()
    rows = [line for line in page.splitlines() if re.match(r"\|.*@10 \|", line)]
    numbers = [number for row in rows for number in re.findall(r"\d+\.\d+", row)]
    assert len(numbers) == 8
    assert [number for number in numbers if f"| {number} |" not in scores] == []


def test_a_written_table_is_read_back_by_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(f"| not | ours |\n{BEGIN}| by hand | 1 |\n{END}| nor | this |\n")
    monkeypatch.setattr("tests.bench.page.PAGE", page)
    assert table() == []
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
        (told,) = amiss([one for one in whole if one != row])
        assert told.startswith("there is no row "), row
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
    told = capsys.readouterr().err
    assert "there is no row 'memory, idle'" in told
    assert "no benchmark yields the row 'memory, of late'" in told
    assert "no matter" not in told


def test_the_pages_table_is_of_all_benchmarks_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["prefix", "--write"])
    assert "leave the names out" in capsys.readouterr().err
