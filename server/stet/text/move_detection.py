"""Blocks of lines that a diff says in two halves, though they were moved as one.

Where the lines in front of a block that was put in are also its last ones, it can be told a few lines
higher: *these lines, and then the block without its end*. All such places are one difference (git calls
them sliders). Where one of them is a block that was taken out elsewhere, that one is what has happened.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from stet.text.line_hunk import LineHunk

_MAX_HUNKS = 100
_MAX_SLIDE = 64
_MAX_LINES = 1_000


def join_moved_blocks(
    hunks: Sequence[LineHunk], old: Sequence[str], new: Sequence[str]
) -> tuple[LineHunk, ...]:
    """`hunks`, which lead from `old` to `new`, with the blocks that were moved told as such.

    Only what is taken out in one place and put in at another, whole, in a difference of at most
    `_MAX_HUNKS` hunks: the work stays small.
    """
    out = [nth for nth, hunk in enumerate(hunks) if hunk.old and not hunk.new]
    put = [nth for nth, hunk in enumerate(hunks) if hunk.new and not hunk.old]
    sizes = {len(hunks[nth].old) for nth in out} & {len(hunks[nth].new) for nth in put}
    if not sizes or len(hunks) > _MAX_HUNKS:
        return tuple(hunks)
    result = list(hunks)
    blocks = _removable_blocks(hunks, [nth for nth in out if len(hunks[nth].old) in sizes], old)
    for nth in put:
        for slid in _slides(result, nth, new) if len(hunks[nth].new) in sizes else ():
            match = blocks.get(slid.new)
            if match is not None and _have_lines_between(result, match, (nth, slid)):
                result[match[0]], result[nth] = match[1], slid
                break
    return tuple(result)


def _removable_blocks(
    hunks: Sequence[LineHunk], out: Sequence[int], old: Sequence[str]
) -> dict[tuple[str, ...], tuple[int, LineHunk] | None]:
    """The blocks that some of `hunks` may be told to take out of `old`; None for what two may."""
    blocks: dict[tuple[str, ...], tuple[int, LineHunk] | None] = {}
    for nth in out:
        for slid in _slides(hunks, nth, old):
            blocks[slid.old] = None if slid.old in blocks else (nth, slid)
    return blocks


def _slides(hunks: Sequence[LineHunk], nth: int, lines: Sequence[str]) -> Iterator[LineHunk]:
    """All ways to tell one hunk, that is nothing but a block of `lines`; nearest to how it is told first."""
    hunk = hunks[nth]
    block = hunk.old or hunk.new
    first = hunk.old_start if hunk.old else hunk.new_start
    n = len(block)
    if n > _MAX_LINES:
        return
    yield hunk
    above = hunk.old_start - (hunks[nth - 1].old_end if nth else 0)
    end = len(lines) - first - n
    below = hunks[nth + 1].old_start - hunk.old_end if nth + 1 < len(hunks) else end
    for sign, room in ((1, below), (-1, above)):
        for by in range(1, min(room, _MAX_SLIDE) + 1):
            one = first + by - 1 if sign > 0 else first - by
            if lines[one] != lines[one + n]:
                break
            at = first + sign * by
            yield hunk.slid(sign * by, tuple(lines[at : at + n]))


def _have_lines_between(hunks: Sequence[LineHunk], *others: tuple[int, LineHunk]) -> bool:
    """Whether a line in common is left between any two hunks if some are told in other ways."""
    result = list(hunks)
    for nth, slid in others:
        result[nth] = slid
    return all(one.old_end < later.old_start for one, later in pairwise(result))
