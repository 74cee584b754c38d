r"""Text as it is shown to a model or a person, and removal of line numbers from a model's answer.

Lines are shown with numbers or marks; texts are fenced, quoted on one line or cut, and a cut text
says so. A model may send the numbers back with the lines: they are recognised and removed.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from stet.text.escape import escape_line
from stet.text.lines import split_plain, without_end
from stet.text.match_result import UnclearEdit


def fence_for(text: str) -> str:
    """Return a fence for a Markdown code block: more backticks than `text` has in a row."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def number_lines(lines: Sequence[str], first: int) -> str:
    r"""Return `lines` with line numbers, from line `first` (1-based) on: ` 7\ttext\n`.

    Line ends become `\n`. The empty string after a final line end is no line and is left out.
    """
    shown = lines[:-1] if lines and lines[-1] == "" else lines
    numbered = enumerate(map(without_end, shown), first)
    return "".join(f"{number:>6}\t{line}\n" for number, line in numbered)


def mark_lines(lines: Sequence[str], mark: str) -> str:
    r"""Return lines that are not in the file (yet), with `mark` in place of a line number, such as
    `   h3+\ttext\n`.

    `strip_new_line_marks` recognises the form.
    """
    return "".join(f"{mark + '+':>6}\t{without_end(line)}\n" for line in lines)


def iso_time(seconds: float) -> str | None:
    """Return ISO 8601 in UTC, to the second, of seconds since the epoch; None for a time no
    calendar has.
    """
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


_LINE_NUMBER = re.compile(r" *([0-9]{1,9})\t")
_MARK = re.compile(r" *[a-z][0-9]{1,9}\+\t")
_AS_SHOWN = re.compile(r"(?:(?=[ 0-9]{6}\t) +[0-9]+| *[a-z][0-9]{1,9}\+)\t")
"""A number or a mark exactly as `number_lines` and `mark_lines` write it.

An unpadded number may begin a table's row.
"""


def strip_line_numbers(old_text: str, new_text: str) -> tuple[str, str] | None:
    r"""Return both texts without line numbers, or None if the old text has none.

    The old text has line numbers if *all* its lines begin with a number and a tab and the numbers
    count up by one. The new text's numbers are removed if all its lines have them.

    Raises:
        UnclearEdit: Only some lines of the new text have numbers.
    """
    numbers = [_number(line) for line in _lines(old_text)]
    first = numbers[0]
    if first is None or numbers != list(range(first, first + len(numbers))):
        return None
    marked = [_number(line) is not None for line in _lines(new_text)]
    what = "a line number. Send both texts without line numbers."
    return _strip_both(old_text, new_text, marked, what)


def strip_new_line_marks(old_text: str, new_text: str) -> tuple[str, str] | None:
    r"""Return both texts without the marks of lines that are not in the file yet, or None if the
    old text has none.

    The old text has marks if *all* its lines begin with a number or a mark and a tab, and at least
    one with a mark. The new text's numbers and marks are removed if all its lines have them.

    Raises:
        UnclearEdit: Only some lines of the new text have numbers or marks.
    """
    old_lines = _lines(old_text)
    if not any(map(_MARK.match, old_lines)) or not all(map(_has_line_number, old_lines)):
        return None
    marked = [*map(_has_line_number, _lines(new_text))]
    what = "a line number or a mark. Send both texts without them."
    return _strip_both(old_text, new_text, marked, what)


def _strip_both(old_text: str, new_text: str, marked: list[bool], what: str) -> tuple[str, str]:
    """Return both texts without marks. `marked` has for each line of the new text whether it has
    one.

    Raises:
        UnclearEdit: Only some lines of the new text have one.
    """
    if any(marked) and not all(marked):
        raise UnclearEdit(f"{sum(marked)} of {len(marked)} lines of the new text begin with {what}")
    return _strip_numbers(old_text), _strip_numbers(new_text) if any(marked) else new_text


def check_no_line_numbers(old_text: str, new_text: str, text: str) -> None:
    """Check that no number or mark gets into a text with lines that were quoted without one.

    Args:
        old_text: The lines to replace.
        new_text: The lines that replace them.
        text: The text to edit. If its own lines begin like this, numbers are allowed.

    Raises:
        UnclearEdit: Lines of the new text have numbers or marks, and none of the old text has.
    """
    if not any(map(_AS_SHOWN.match, _lines(new_text))):
        return
    if any(map(_has_line_number, _lines(old_text))) or any(map(_AS_SHOWN.match, split_plain(text))):
        return
    raise UnclearEdit(
        "Lines of the new text begin with a line number or a mark, as the file was shown to you, and "
        "the old text has none. Send both without them. Where they belong in the file, use `position`."
    )


def strip_consistent_numbers(content: str, first: int, neighbours: Sequence[str]) -> str:
    r"""Return whole lines without line numbers, if every line begins with its own number.

    The numbers must be exactly those that `number_lines` writes from line `first` on. There is no
    quoted text to compare with here, and a table may begin its lines with a number.

    Args:
        content: The lines, which end in `\n`.
        first: The line at which they are inserted, 1-based.
        neighbours: The lines of the text there. If one begins with a number and a tab, the numbers
            belong to the text and are kept.
    """
    bare = _strip_numbers(content)
    as_shown = number_lines([f"{line}\n" for line in _lines(bare)], first)
    if as_shown.removesuffix("\n") != content.removesuffix("\n"):
        return content
    return content if any(map(_LINE_NUMBER.match, neighbours)) else bare


def _has_line_number(line: str) -> bool:
    return _number(line) is not None or _MARK.match(line) is not None


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _number(line: str) -> int | None:
    found = _LINE_NUMBER.match(line)
    return int(found[1]) if found else None


def _strip_numbers(text: str) -> str:
    """Return lines without numbers; a blank last line keeps its end, so that it stays a line."""
    lines = [line.partition("\t")[2] for line in _lines(text)]
    return "\n".join(lines) + ("\n" if text.endswith("\n") or not lines[-1] else "")


MAX_CHARACTERS = 20_000
"""The maximum number of code points of one answer."""
MAX_LINE = 200
"""The maximum number of code points of a quoted line."""


def join_bounded(lines: Sequence[str], go_on: str) -> str:
    """Return `lines`, each with a line end, up to `MAX_CHARACTERS` in all.

    After a cut, the answer says how many lines are left out and `go_on`: what to do to see them.
    """
    shown: list[str] = []
    size = 0
    for line in lines:
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


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, whose plural ends in "s": "1 hunk", "2 hunks"."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
