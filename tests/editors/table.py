"""The table of `docs/editors.md`: what each editor shows, as recorded by the tests.

    python -m tests.editors.table [--write]

prints the table, or writes it into the page.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.editors.shown import FOLDER, NO, ROWS

PAGE = Path(__file__).parents[2] / "docs" / "editors.md"
BEGIN, END = "<!-- what editors show: begin -->", "<!-- what editors show: end -->"
"""The lines of the page around the table."""
ORDER = ("neovim", "vscode", "helix", "emacs")
"""Editors in the order of the page; versions of one editor are ordered by name."""


def seen() -> list[dict[str, Any]]:
    """Return the records of each editor, in the order of the columns."""
    files = sorted(FOLDER.glob("*.json"), key=_place)
    return [json.loads(file.read_text()) for file in files]


def _place(file: Path) -> tuple[int, str]:
    editor = file.stem.split("-")[0]
    return (ORDER.index(editor) if editor in ORDER else len(ORDER), file.stem)


def table(editors: Sequence[dict[str, Any]]) -> str:
    """Format the Markdown table: a row for each thing to show, a column for each editor.

    Args:
        editors: The contents of the files that `Shown` writes.
    """
    lines = [["shown", *(editor["title"] for editor in editors)]]
    lines.append(["---"] * len(lines[0]))
    for row, name in ROWS.items():
        lines.append([name, *(_cell(editor["rows"].get(row)) for editor in editors)])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _cell(how: str | None) -> str:
    """Format a cell: a dash for a thing not found, nothing for one never searched."""
    return "-" if how == NO else (how or "").replace("|", "\\|")


def written(page: str) -> str:
    """Return the page with the current table between its two comments."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, f"the page lacks the line {BEGIN!r}"
    assert end, f"the page lacks the line {END!r}"
    return f"{before}{begin}\n\n{table(seen())}\n{end}{after}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(written(PAGE.read_text()))
    else:
        sys.stdout.write(table(seen()))
