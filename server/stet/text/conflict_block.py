r"""A change as a conflict, as git writes one and as editors' merge tools read it.

    <<<<<<< yours
    old lines
    =======
    new lines
    >>>>>>> stet h12 (summary)

The lines between are as in the text. Markers are longer than seven where a line inside looks like
one; they count only if all of a block are of one length.
"""

import re
from collections.abc import Collection, Sequence
from itertools import chain

from stet.text.escape import escape_line
from stet.text.inline_block import BlockForm, InlineBlock, closing_end
from stet.text.lines import line_end, split_lines, without_end

SIZE = 7
_MAX_SUMMARY = 60
_OPENING = re.compile(r"(<{7,}) yours[ \t]*")
_SPLIT = re.compile(r"(={7,})[ \t]*")
_CLOSING = re.compile(r"(>{7,}) stet (\S+)(?: .*)?")
_RUN = re.compile(r"<{7,}|={7,}|>{7,}|\|{7,}")


def render(
    block_id: str, before: str, after: str, form: BlockForm, summary: str = ""
) -> str | None:
    """Return the block for a change of the lines `before` into `after`. Return None if no block can
    show the change.
    """
    end = closing_end(before, after, form)
    if end is None:
        return None
    size = marker_size(before, after)
    said = escape_line(summary).strip()[:_MAX_SUMMARY]
    note = f" ({said})" if said else ""
    return "".join(
        (
            f"{'<' * size} yours{form.line_end}",
            _content(before, end, form),
            f"{'=' * size}{form.line_end}",
            _content(after, end, form),
            f"{'>' * size} stet {block_id}{note}{end}",
        )
    )


def marker_size(before: str, after: str) -> int:
    """How long the markers round these lines have to be."""
    runs = (
        len(run[0])
        for line in chain(split_lines(before), split_lines(after))
        if (run := _RUN.match(line))
    )
    return max(runs, default=SIZE - 1) + 1


def read(lines: Sequence[str], first: int, known: Collection[str]) -> InlineBlock | None:
    """Return the whole block of a known id that begins at line `first`, or None."""
    opening = _OPENING.fullmatch(without_end(lines[first]))
    if opening is None:
        return None
    size, middle = len(opening[1]), -1
    for number in range(first + 1, len(lines)):
        run = _RUN.match(lines[number])
        if run is None or len(run[0]) != size:
            continue
        line = without_end(lines[number])
        if _SPLIT.fullmatch(line) and middle < 0:
            middle = number
            continue
        closing = _CLOSING.fullmatch(line)
        if closing is None or middle < 0 or closing[2] not in known:
            return None  # a marker too many: nobody can tell what belongs where
        end = line_end(lines[number])
        before, after = lines[first + 1 : middle], lines[middle + 1 : number]
        return InlineBlock(closing[2], first, number + 1, _value(before, end), _value(after, end))
    return None


def block_id_at(line: str) -> str | None:
    """Return the id in a line that looks like the last line of a block; None for any other line."""
    found = _CLOSING.fullmatch(without_end(line)) if line.startswith(">" * SIZE) else None
    return found[2] if found else None


def is_leftover(line: str, size: int) -> bool:
    """Whether a line looks like a marker of this length, left of a block."""
    plain = without_end(line)
    marks = (_OPENING.fullmatch(plain), _SPLIT.fullmatch(plain), _CLOSING.fullmatch(plain))
    return any(mark is not None and len(mark[1]) == size for mark in marks)


def _content(value: str, end: str, form: BlockForm) -> str:
    r"""Lines as they stand inside; the last one has a line end there, whatever it has outside."""
    if not value:
        return ""
    body = value.removesuffix(end)
    # A line end of its own: `"\n"` would make one with a `"\r"` before it.
    return body + (end or ("\r" if body.endswith("\r") else form.line_end))


def _value(lines: Sequence[str], end: str) -> str:
    """Return the text that lines inside a block represent, given the line end after the block."""
    if not lines:
        return ""
    text = "".join(lines)
    if end and text.endswith(end):
        return text
    return text.removesuffix(line_end(lines[-1])) + end
