"""Comparison of two commits by their benchmarks."""

import pytest

from tests.bench.against import Comparison, Measured, against, compare, parse, render

TABLE = """
| what          | ours            | peer             | ratio | must           | aim         |
| ------------- | --------------- | ---------------- | ----- | -------------- | ----------- |
| didChange     | 104,000 changes/s | 2,000 (bare pygls) | 52x | ≥ 20x: held    | -           |
| didChange     | 104,000 changes/s | 9,000 (Node)     | 11x   | -              | -           |
| memory, idle  | 82.7 MB         | -                | -     | ≤ 90: held     | ≤ 80: missed |
| bytes kept    | 1e-05 %         | -                | -     | -              | -           |
"""


def test_parse_reads_a_printed_table() -> None:
    assert parse(TABLE) == {
        "didChange": Measured(104_000, "changes/s", more_is_better=True),
        "memory, idle": Measured(82.7, "MB", more_is_better=False),
        "bytes kept": Measured(1e-05, "%", more_is_better=True),
    }


@pytest.mark.parametrize(
    ("theirs", "ours", "more_is_better", "is_worse"),
    [
        ((100, 101, 102), (110, 111, 112), False, True),
        ((100, 101, 102), (110, 111, 112), True, False),
        ((100, 101, 102), (90, 91, 92), True, True),
        ((100, 101, 102), (103, 104, 105), False, False),  # less than 5 %
        ((100, 101, 120), (110, 111, 112), False, False),  # within the spread
        ((0, 0, 0), (0, 0, 0), False, False),
        ((0, 0, 0), (1, 1, 1), False, True),
    ],
)
def test_a_row_is_worse_beyond_five_percent_and_the_spread(
    theirs: tuple[float, ...], ours: tuple[float, ...], more_is_better: bool, is_worse: bool
) -> None:
    assert Comparison("x", "ms", more_is_better, theirs, ours).is_worse is is_worse


def test_compare_joins_the_rows_that_every_run_has() -> None:
    fast, slow = Measured(1, "ms", more_is_better=False), Measured(2, "ms", more_is_better=False)
    rows = compare([{"a": fast}, {"a": fast, "b": fast}], [{"a": slow, "b": slow}, {"a": slow}])
    assert rows == [Comparison("a", "ms", False, (1, 1), (2, 2))]
    assert "| a | 1 ms (1 to 1) | 2 ms (2 to 2) | 100.0% worse | WORSE |" in render(rows, "HEAD~1")


@pytest.mark.timeout(300)
def test_another_commit_is_measured_by_its_own_code() -> None:
    [row] = against("HEAD", ["model_round"], runs=1)
    assert row.what == "a model round: own overhead"
    assert len(row.theirs) == len(row.ours) == 1
