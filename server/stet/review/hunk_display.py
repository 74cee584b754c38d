"""A hunk as lines for display: which lines it deletes and inserts, and the changed words of each.

A client draws these lines in the text itself; all positions are in code points. Control characters
are escaped, since a hunk's text may come from a model or another person's file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain

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
MAX_REMOVED_LINES = 1_000
"""The most lines of a removed file that are displayed."""
MAX_CACHED = 2_000
"""The most code points of the texts of a hunk whose lines are cached, and the most such hunks."""
MAX_EXCERPTED = 4_000
"""The most code points of two texts that `excerpt_diff` compares on the event loop."""
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


_MARKS = {LineOp.CONTEXT: " ", LineOp.DELETE: "-", LineOp.INSERT: "+"}


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """One line of a hunk.

    Attributes:
        op: What the hunk does to the line.
        line: The 0-based line of the current text; for `INSERT` the line before which the new line
            is inserted.
        text: The line without its line end, escaped.
        spans: The changed words, in order and disjoint; empty if the whole line is changed.
        excerpt: The sentences of a long line that contain a change, or lack words that the other
            side has, in order and disjoint; empty for a line of at most `LONG_LINE` code points and
            for a line that is changed as a whole.
    """

    op: LineOp
    line: int
    text: str
    spans: tuple[Span, ...] = ()
    excerpt: tuple[Span, ...] = ()


def display_lines(hunk: Hunk) -> list[DisplayLine]:
    """Return the lines of a hunk in the order in which they are displayed.

    The deleted and the context lines are the lines of the text at the hunk's range; the inserted
    and the context lines are the proposed lines. A conflict shows the user's lines and the lines
    that the agent has proposed. A move has no lines, and a removed file at most
    `MAX_REMOVED_LINES`.
    """
    if hunk.kind is HunkKind.MOVE:
        return []
    new = hunk.proposed if hunk.state is HunkState.CONFLICT else hunk.new
    is_small = len(hunk.old) + len(new) <= MAX_CACHED
    compare = _cached_lines if is_small else _relative_lines
    first = hunk.range.start.line
    lines = compare(hunk.old, new, is_removal=hunk.kind is HunkKind.REMOVE)
    return [
        DisplayLine(one.op, first + one.line, one.text, one.spans, one.excerpt) for one in lines
    ]


def _relative_lines(old_text: str, new_text: str, *, is_removal: bool) -> tuple[DisplayLine, ...]:
    """Return the lines of a hunk of these texts as if the hunk were at line 0."""
    old, new = (list(map(_shown, whole_lines(text))) for text in (old_text, new_text))
    if is_removal:
        old = old[:MAX_REMOVED_LINES]
    changes = diff_lines(old, new)
    if not changes and old_text != new_text:  # only line ends differ
        changes = (LineHunk(0, tuple(old), 0, tuple(new)),)
    return tuple(_lines(changes, old))


_cached_lines = lru_cache(MAX_CACHED)(_relative_lines)  # a client draws again after each change


@lru_cache(MAX_CACHED)
def excerpt_diff(old: str, new: str) -> tuple[str, ...]:
    """Return the lines of two texts as a diff in which long lines are cut to their changed
    sentences.

    Args:
        old: The text of the deleted lines.
        new: The text of the inserted lines.

    Returns:
        The lines, each with its mark; empty if no line has an excerpt, or the texts have more than
        `MAX_EXCERPTED` code points, since their comparison would take too long.
    """
    if max(len(old), len(new)) <= LONG_LINE or len(old) + len(new) > MAX_EXCERPTED:
        return ()
    lines = _relative_lines(old, new, is_removal=False)
    if not any(line.excerpt for line in lines):
        return ()
    return tuple(f"{_MARKS[line.op]}{_cut_to_excerpt(line)}" for line in lines)


def _cut_to_excerpt(line: DisplayLine) -> str:
    """Return the text of a line, cut to its excerpt if it has one, with an ellipsis for what is
    left out.
    """
    parts, done = [], 0
    for start, end in line.excerpt:
        parts += ["… "] if start > done else []
        parts.append(line.text[start:end])
        done = end
    if not line.excerpt:
        return line.text
    return "".join([*parts, "…"] if done < len(line.text) else parts)


def _shown(line: str) -> str:
    """Return a line escaped and without its line end.

    It is escaped in pieces, since one call for a huge line would block all threads.
    """
    text = without_end(line)
    pieces = range(0, len(text), MAX_COMPARED)
    return "".join(escape(text[start : start + MAX_COMPARED]) for start in pieces)


def _lines(changes: Sequence[LineHunk], old: Sequence[str]) -> Iterator[DisplayLine]:
    """Yield the lines of `changes` and the unchanged lines between."""
    done = 0
    for change in (*changes, LineHunk(len(old), (), 0, ())):
        for at in range(done, change.old_start):
            yield DisplayLine(LineOp.CONTEXT, at, old[at])
        deleted = [
            DisplayLine(LineOp.DELETE, at, text)
            for at, text in enumerate(change.old, change.old_start)
        ]
        inserted = [DisplayLine(LineOp.INSERT, change.old_end, text) for text in change.new]
        yield from _marked(deleted, inserted)
        done = change.old_end


def _marked(deleted: list[DisplayLine], inserted: list[DisplayLine]) -> list[DisplayLine]:
    """Return the lines of one change with their changed words."""
    size = sum(len(line.text) for line in (*deleted, *inserted))
    if not deleted or not inserted or size > MAX_COMPARED:
        return deleted + inserted
    sides = [[TOKEN.findall(f"{line.text}\n") for line in side] for side in (deleted, inserted)]
    changed: list[set[int]] = [set(), set()]
    gaps: list[set[int]] = [set(), set()]
    for places in _differences(*([token for line in side for token in line] for side in sides)):
        for side, stretch in enumerate(places):
            changed[side].update(stretch)
            if not stretch:
                gaps[side].add(stretch.start)
    marked = []
    for side, lines in enumerate((deleted, inserted)):
        start = 0
        for line, words in zip(lines, sides[side], strict=True):
            here = range(start, start + len(words))
            is_changed, is_gap = ([nth in found[side] for nth in here] for found in (changed, gaps))
            marked.append(_with_spans(line, words, is_changed, is_gap))
            start += len(words)
    return marked


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[range, range]]:
    """Yield the stretches that differ, in order; one of both sides may be empty."""
    i = j = 0
    for next_i, next_j, n in chain(common_runs(old, new), [(len(old), len(new), 0)]):
        if (i, j) != (next_i, next_j):
            yield range(i, next_i), range(j, next_j)
        i, j = next_i + n, next_j + n


def _with_spans(
    line: DisplayLine, words: Sequence[str], is_changed: Sequence[bool], is_gap: Sequence[bool]
) -> DisplayLine:
    """Return `line` with its changed words marked, unless nearly all of them are changed.

    Args:
        line: The line.
        words: The words and what is between them; the last ends with the line end.
        is_changed: For each, whether it is changed.
        is_gap: For each, whether the other side has more before it.
    """
    total = sum(len(word) for word in words if _is_word(word))
    same = sum(
        len(word)
        for word, changed in zip(words, is_changed, strict=True)
        if _is_word(word) and not changed
    )
    if not total or same < total * _MIN_COMMON:
        return line
    spans: list[Span] = []
    places: list[Span] = []  # the spans, and a character at each gap
    column, size = 0, len(line.text)
    for word, changed, gap in zip(words, is_changed, is_gap, strict=True):
        end = min(column + len(word), size)
        if changed and column < end:
            start = spans.pop()[0] if spans and spans[-1][1] == column else column
            spans.append((start, end))
            places.append((column, end))
        elif gap and size:
            at = min(column, size - 1)
            places.append((at, at + 1))
        column += len(word)
    return replace(line, spans=tuple(spans), excerpt=_excerpt(line.text, places))


def _is_word(token: str) -> bool:
    return token[0].isalnum() or token[0] == "_"


def _excerpt(text: str, changes: Sequence[Span]) -> tuple[Span, ...]:
    """Return the sentences of a long `text` that contain one of `changes`; neighbours are
    joined.
    """
    if len(text) <= LONG_LINE:
        return ()
    ends = [*(found.end() for found in _END_OF_SENTENCE.finditer(text)), len(text)]
    found: list[Span] = []
    start = nth = 0
    for end in ends:
        while nth < len(changes) and changes[nth][1] <= start:
            nth += 1
        if nth < len(changes) and changes[nth][0] < end:
            found.append((found.pop()[0] if found and found[-1][1] == start else start, end))
        start = end
    return tuple(found)
