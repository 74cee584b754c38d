"""Text as models and people are shown it."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from stet.text.lines import without_end


def fence_for(text: str) -> str:
    """Backticks that enclose `text` as a block of Markdown: more than it has anywhere in a row."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def number_lines(lines: Sequence[str], first: int) -> str:
    r"""Return `lines` with line numbers, from line `first` (1-based) on: ` 7\ttext\n`.

    Line ends become `\n`. The empty rest behind a final line end is no line and is left out.
    """
    shown = lines[:-1] if lines and lines[-1] == "" else lines
    return "".join(
        f"{number:>6}\t{without_end(line)}\n" for number, line in enumerate(shown, first)
    )


def mark_lines(lines: Sequence[str], mark: str) -> str:
    r"""Lines that are not in the file (yet), with `mark` where others have a number: `   h3+\ttext\n`.

    `stet.text.line_numbers` knows the form again.
    """
    return "".join(f"{mark + '+':>6}\t{without_end(line)}\n" for line in lines)


def iso_time(seconds: float) -> str | None:
    """ISO 8601 in UTC, to the second, of seconds since the epoch; None for a time no calendar has."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
