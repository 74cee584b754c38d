"""A hunk as lines for display: which lines it deletes and inserts, and the changed words of each.

A client draws these lines in the text itself; all positions are in code points. Control characters
are escaped, since a hunk's text may come from a model or another person's file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.diff import LineHunk, diff_lines
from stet.text.escape import escape
from stet.text.lines import whole_lines, without_end
from stet.text.merge import TOKEN
from stet.text.sequence import common_runs

LONG_LINE = 200
"""The length in code points above which a line has an excerpt: its changed sentences."""
MAX_COMPARED = 20_000
"""The most code points of one change whose words are compared; a longer change has no spans."""
_MIN_COMMON = 1 / 3
"""The share of a line's word characters that must be unchanged for the rest to be marked."""

_END_OF_SENTENCE = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*\s+")

Span = tuple[int, int]
"""A half-open range of columns in a line, 0-based."""


class LineOp(StrEnum):
    """What a hunk does to a line; the values are part of the public contract."""

    CONTEXT = "context"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """One line of a hunk.

    Attributes:
        op: What the hunk does to the line.
        line: The 0-based line of the current text; for `INSERT` the line before which the new line
            is inserted.
        text: The line without its line end, escaped.
        spans: The changed words, in order and disjoint; empty if the whole line is changed.
        excerpt: The sentences of a long line that contain a change, in order and disjoint; empty for
            a line of at most `LONG_LINE` code points and for a line that is changed as a whole.
    """

    op: LineOp
    line: int
    text: str
    spans: tuple[Span, ...] = ()
    excerpt: tuple[Span, ...] = ()


def display_lines(hunk: Hunk) -> list[DisplayLine]:
    """Return the lines of a hunk in the order in which they are displayed.

    The deleted and the context lines are the lines of the text at the hunk's range; the inserted and
    the context lines are the proposed lines. A conflict shows the user's lines and the lines that
    the agent has proposed. A move has no lines.
    """
    if hunk.kind is HunkKind.MOVE:
        return []
    new_text = hunk.proposed if hunk.state is HunkState.CONFLICT else hunk.new
    old = [escape(without_end(line)) for line in whole_lines(hunk.old)]
    new = [escape(without_end(line)) for line in whole_lines(new_text)]
    changes = diff_lines(old, new)
    if not changes and hunk.old != new_text:  # only line ends differ
        changes = (LineHunk(0, tuple(old), 0, tuple(new)),)
    return list(_lines(changes, old, hunk.range.start.line))


def _lines(changes: Sequence[LineHunk], old: Sequence[str], first: int) -> Iterator[DisplayLine]:
    """Yield the lines of `changes` and the unchanged lines between, for a text at line `first`."""
    done = 0
    for change in (*changes, LineHunk(len(old), (), 0, ())):
        for at in range(done, change.old_start):
            yield DisplayLine(LineOp.CONTEXT, first + at, old[at])
        deleted = [
            DisplayLine(LineOp.DELETE, first + at, text)
            for at, text in enumerate(change.old, change.old_start)
        ]
        before = first + change.old_end
        inserted = [DisplayLine(LineOp.INSERT, before, text) for text in change.new]
        yield from _marked(deleted, inserted)
        done = change.old_end


def _marked(deleted: list[DisplayLine], inserted: list[DisplayLine]) -> list[DisplayLine]:
    """Return the lines of one change with their changed words."""
    size = sum(len(line.text) for line in (*deleted, *inserted))
    if not deleted or not inserted or size > MAX_COMPARED:
        return deleted + inserted
    sides = [[TOKEN.findall(f"{line.text}\n") for line in side] for side in (deleted, inserted)]
    tokens = [[token for line in side for token in line] for side in sides]
    common: list[set[int]] = [set(), set()]
    for i, j, n in common_runs(*tokens):
        common[0].update(range(i, i + n))
        common[1].update(range(j, j + n))
    marked = []
    for lines, side, unchanged in zip((deleted, inserted), sides, common, strict=True):
        start = 0
        for line, words in zip(lines, side, strict=True):
            flags = [start + nth in unchanged for nth in range(len(words))]
            marked.append(_with_spans(line, words, flags))
            start += len(words)
    return marked


def _with_spans(line: DisplayLine, words: Sequence[str], unchanged: Sequence[bool]) -> DisplayLine:
    """Return `line` with its changed `words` marked, unless nearly all of them are changed."""
    total = sum(len(word) for word in words if _is_word(word))
    same = sum(
        len(word)
        for word, is_same in zip(words, unchanged, strict=True)
        if is_same and _is_word(word)
    )
    if not total or same < total * _MIN_COMMON:
        return line
    spans: list[Span] = []
    column = 0
    for word, is_same in zip(words, unchanged, strict=True):
        end = min(column + len(word), len(line.text))
        if not is_same and column < end:
            start = spans.pop()[0] if spans and spans[-1][1] == column else column
            spans.append((start, end))
        column += len(word)
    return replace(line, spans=tuple(spans), excerpt=_excerpt(line.text, spans))


def _is_word(token: str) -> bool:
    return token[0].isalnum() or token[0] == "_"


def _excerpt(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the sentences of a long `text` that contain one of `spans`; neighbours are joined."""
    if len(text) <= LONG_LINE:
        return ()
    ends = [*(found.end() for found in _END_OF_SENTENCE.finditer(text)), len(text)]
    found: list[Span] = []
    start = nth = 0
    for end in ends:
        while nth < len(spans) and spans[nth][1] <= start:
            nth += 1
        if nth < len(spans) and spans[nth][0] < end:
            found.append((found.pop()[0] if found and found[-1][1] == start else start, end))
        start = end
    return tuple(found)
