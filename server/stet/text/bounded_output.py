"""Answers of bounded size that say so when something is left out."""

from collections.abc import Sequence

from stet.text.escape import escape_line

MAX_CHARACTERS = 20_000
"""Of one answer, in code points."""
MAX_LINE = 200
"""Of a line that is quoted in one, in code points."""


def join_bounded(lines: Sequence[str], go_on: str, *, limit: int | None = None) -> str:
    """`lines`, each with a line end, up to `limit` of them and `MAX_CHARACTERS` in all.

    Behind a cut stands how many are left out and `go_on`: what to do to see them.
    """
    shown: list[str] = []
    size = 0
    for line in lines[:limit]:
        size += len(line) + 1
        if size > MAX_CHARACTERS:
            break
        shown.append(f"{line}\n")
    if len(shown) < len(lines):
        shown.append(f"(cut: {len(lines) - len(shown)} more lines; {go_on})\n")
    return "".join(shown)


def quote_line(line: str) -> str:
    """Return a line of a file on one line, escaped and cut to a limited length."""
    text = escape_line(line.strip())
    return text if len(text) <= MAX_LINE else text[:MAX_LINE] + " …"
