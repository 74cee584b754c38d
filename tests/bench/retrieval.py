"""Quality of search, read from `tests/eval/scores.md`: `python -m tests.eval` measures it, with
more time and sources than one run of the benchmarks.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.bench.table import Row, at_least

SCORES = Path(__file__).parents[1] / "eval" / "scores.md"
DOCSTRINGS = "## From a docstring to its function"
COMMITS = "## From a commit's message to the files that it changes"


def rows() -> Iterator[Row]:
    """Yield scores on the held-out half of the questions, beside plain SQLite FTS5."""
    where = "by tests/eval/scores.md"
    ours, plain = (score(DOCSTRINGS, arm, "MRR@10") for arm in ("hybrid", "FTS5"))
    bars = at_least(0.40), at_least(0.60)
    yield Row(f"docstring to function, {where}", "MRR@10", ours, plain, "FTS5", *bars)
    ours, plain = (score(COMMITS, arm, "recall@10") for arm in ("hybrid", "FTS5, whole files"))
    bars = at_least(72), at_least(85)
    yield Row(f"commit message to files, {where}", "% recall@10", ours, plain, "FTS5", *bars)


def score(section: str, arm: str, measure: str) -> float:
    """Return the held-out score of an arm."""
    text = SCORES.read_text()
    lines = text[text.index(section) + len(section) :].partition("\n## ")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    column = cells[0].index(f"{measure}, held out")
    return next(float(line[column]) for line in cells if line[0] == arm)
