"""The table of `docs/benchmarks.md` and five of its rows in the README, each between two marks."""

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from tests.bench.table import Row, render

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
REWRITE_BEGIN, REWRITE_END = "<!-- measured: rewrite -->\n", "<!-- /measured: rewrite -->\n"
COMMAND = "One run of `python -m tests.bench --write`"
"""The beginning of the sentence above a table that this module has written."""
SHORT = (
    ("keystroke to the next answer, p99, idle", "bare pygls"),
    ("start to the answer of `initialize`", "bare pygls"),
    ("memory, idle", "bare pygls"),
    ("edits applied right, history", "exact and unique"),
    ("docstring to function, by tests/eval/scores.md", "FTS5"),
)
"""The rows of the README, each by its `what` and its peer."""


def table(page: Path | None = None) -> list[list[str]]:
    """Return the cells of a page's table with its headings; none if `write` has not written it.

    Args:
        page: The page; by default `PAGE`.
    """
    _, _, rest = (page or PAGE).read_text().partition(BEGIN)
    measured, _, _ = rest.partition(END)
    if COMMAND not in measured:
        return []
    lines = [line for line in measured.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [line for n, line in enumerate(cells) if n != 1]


def write(rows: Sequence[Row], minutes: float) -> None:
    """Replace the tables of both pages."""
    message = f"{COMMAND}, {_conditions(minutes)}"
    short = [row for row in rows if (row.what, row.peer_name) in SHORT]
    for page, shown in ((PAGE, rows), (README, short)):
        before, rest = page.read_text().split(BEGIN)
        _, after = rest.split(END)
        page.write_text(f"{before}{BEGIN}\n{message}\n\n{render(shown)}\n\n{END}{after}")


def write_rewrite(rows: Sequence[Row], minutes: float) -> None:
    """Replace the table of the rewrites, or add it to the end of the page."""
    message = f"One run of `python -m tests.bench rewrite --write`, {_conditions(minutes)}"
    before, _, rest = PAGE.read_text().partition(REWRITE_BEGIN)
    _, _, after = rest.partition(REWRITE_END)
    head = before if rest else f"{before}\n"
    table = f"{REWRITE_BEGIN}\n{message}\n\n{render(rows)}\n\n{REWRITE_END}"
    PAGE.write_text(f"{head}{table}{after}")


def _conditions(minutes: float) -> str:
    """Return how long a run took, when and where."""
    day = datetime.datetime.now(datetime.UTC).date()
    version = ".".join(platform.python_version_tuple()[:2])
    return (
        f"{minutes:.0f} minutes on {day.isoformat()}:"
        f" {os.cpu_count()} cores, {platform.system()}, Python {version}."
    )
