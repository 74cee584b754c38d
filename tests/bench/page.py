"""The table of `docs/benchmarks.md`, between two marks."""

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from tests.bench.table import Row, render

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
COMMAND = "One run of `python -m tests.bench --write`"
"""Begins what is said of a table that was written here."""


def table() -> list[list[str]]:
    """Return the cells of the table, with its headings; none if it was not written here."""
    _, _, rest = PAGE.read_text().partition(BEGIN)
    measured, _, _ = rest.partition(END)
    if COMMAND not in measured:
        return []
    lines = [line for line in measured.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [line for n, line in enumerate(cells) if n != 1]


def write(rows: Sequence[Row], minutes: float) -> None:
    """Replace the rows of the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    _, behind = rest.split(END)
    day = datetime.datetime.now(datetime.UTC).date()
    version = ".".join(platform.python_version_tuple()[:2])
    said = (
        f"{COMMAND}, {minutes:.0f} minutes on {day.isoformat()}:"
        f" {os.cpu_count()} cores, {platform.system()}, Python {version}."
    )
    PAGE.write_text(f"{before}{BEGIN}\n{said}\n\n{render(rows)}\n\n{END}{behind}")
