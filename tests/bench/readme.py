"""The README's table of what was measured, between two marks."""

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from tests.bench.table import Row, render

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"


def write(rows: Sequence[Row], minutes: float) -> None:
    """Put the rows in place of those that stand there."""
    before, rest = README.read_text().split(BEGIN)
    _, behind = rest.split(END)
    day = datetime.datetime.now(datetime.UTC).date()
    version = ".".join(platform.python_version_tuple()[:2])
    said = (
        f"One run of `python -m tests.bench --write`, {minutes:.0f} minutes on {day.isoformat()}:"
        f" {os.cpu_count()} cores, {platform.system()}, Python {version}."
    )
    README.write_text(f"{before}{BEGIN}\n{said}\n\n{render(rows)}\n\n{END}{behind}")
