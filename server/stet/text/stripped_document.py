"""A text read past its blocks: what it says as long as nothing in them is decided."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from stet.text.block_codec import find_blocks, may_hold_blocks
from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.imported_blocks import SIGN, find_imported
from stet.text.inline_block import InlineBlock
from stet.text.large_document import LargeDocument
from stet.text.lines import line_end, split_lines, whole_lines
from stet.text.position import Position, Range

NO_REVISION = -1
"""The revision of a text without its blocks: no change of the document leads from it or to it."""


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class StrippedDocument:
    """A text, and the same with every block replaced by the lines it stands for.

    *Plain* is the text without blocks; lines are 0-based, columns in code points.

    Attributes:
        real: The text with blocks.
        plain: The same without.
        blocks: Those that were taken out, in order of place.
    """

    real: TextDocument
    plain: TextDocument
    blocks: tuple[InlineBlock, ...]

    def to_plain_position(self, position: Position) -> Position:
        """Where a place of the real text is in the plain one; in a block it is the block's start.

        In lines of a block that stand in the plain text too it is that line.
        """
        for block, shift in zip(self.blocks, self._line_shifts, strict=False):
            if position.line < block.first:
                return Position(position.line + shift, position.character)
            if position.line < block.end:
                return self._in_block(block, shift, position)
        return Position(position.line + self._line_shifts[-1], position.character)

    def to_plain_range(self, range_: Range) -> Range:
        """Return the range in the plain text for a range of the real text."""
        start, end = self.to_plain_position(range_.start), self.to_plain_position(range_.end)
        return Range(start, max(start, end))

    def to_real_line(self, line: int) -> int:
        """Where a line of the plain text is in the real one; one that a block stands for: its start."""
        for block, shift in zip(self.blocks, self._line_shifts, strict=False):
            if line < block.first + shift:
                return line - shift
            if line < block.first + shift + len(whole_lines(block.before)):
                return block.first
        return line - self._line_shifts[-1]

    def to_real_lines(self, first: int, end: int) -> tuple[int, int] | None:
        """Where whole lines of the plain text, or a gap between two, are in the real one.

        Returns:
            None where a block stands for one of these lines, or stands between two of them.
        """
        for block, shift in zip(self.blocks, self._line_shifts, strict=False):
            start = block.first + shift
            after = start + len(whole_lines(block.before))
            if (first < after and start < end) or first < start == after < end:
                return None
        if first == end:
            return self.to_real_line(first), self.to_real_line(first)
        return self.to_real_line(first), self.to_real_line(end - 1) + 1

    @cached_property
    def _line_shifts(self) -> tuple[int, ...]:
        """How far lines are moved before each block, and behind the last one."""
        return tuple(
            accumulate(
                (len(whole_lines(b.before)) - (b.end - b.first) for b in self.blocks), initial=0
            )
        )

    def _in_block(self, block: InlineBlock, shift: int, position: Position) -> Position:
        line = self.real.lines[position.line]
        nth = position.line - block.first - 1
        before = split_lines(block.before)
        if 0 <= nth < len(before) and line and line == before[nth]:
            return Position(block.first + shift + nth, position.character)
        return Position(block.first + shift, 0)


def strip_blocks(
    document: TextDocument, known: Collection[str], placed: tuple[InlineBlock, ...] = ()
) -> StrippedDocument | None:
    """`document` without the blocks of known ids, and of a note without those that other programs have
    put there; None if it has none.

    Args:
        document: The text.
        known: Ids of blocks that may stand in it.
        placed: The blocks that a very long text has now, which is not looked through.
    """
    if isinstance(document, LargeDocument):
        return _without_placed(document, placed) if placed else None
    blocks = _blocks_of(document, known)
    if not blocks:
        return None
    pieces, done = [], 0
    for block in blocks:
        pieces += [*document.lines[done : block.first], block.before]
        done = block.end
    text = "".join((*pieces, *document.lines[done:]))
    # Revisions count changes of the real text: none of them leads from this one to another.
    return StrippedDocument(
        document, replace(document, text=text, revision=NO_REVISION, real=document), blocks
    )


def _without_placed(document: LargeDocument, blocks: tuple[InlineBlock, ...]) -> StrippedDocument:
    """Return a very long text without the given blocks. Equal blocks give the identical object."""
    cached: StrippedDocument | None = document.__dict__.get("_stripped")
    if cached is None or (cached.blocks is not blocks and cached.blocks != blocks):
        cached = StrippedDocument(document, document.without(blocks, NO_REVISION), blocks)
        document.__dict__["_stripped"] = cached
    return cached


def plain_changes(
    changes: Sequence[TextChange], before: Sequence[InlineBlock], after: Sequence[InlineBlock]
) -> tuple[TextChange, ...] | None:
    """Return the changes of a text as changes of the text without its blocks.

    Args:
        changes: Of the text with blocks, in order.
        before: The blocks that it had before them, in order of place.
        after: Those that it has now.

    Returns:
        None where a block came, went or was changed: they do not tell what of it can be seen.
    """
    places = [(block.first, block.end) for block in before]
    shifts = [len(whole_lines(block.before)) - (block.end - block.first) for block in before]
    found: list[TextChange] = []
    for change in changes:
        start, end = change.range.start, change.range.end
        n_above = sum(block_end <= start.line for _, block_end in places)
        last = end.line if end.character or not _is_of_whole_lines(change) else end.line - 1
        if any(first <= last and start.line < block_end for first, block_end in places):
            return None
        found.append(_moved(change, sum(shifts[:n_above])))
        n_added = change.new_end.line - end.line
        places[n_above:] = [(a + n_added, b + n_added) for a, b in places[n_above:]]
    now = [(block.first, block.end) for block in after]
    same = [block.before for block in before] == [block.before for block in after]
    return tuple(found) if same and places == now else None


def _is_of_whole_lines(change: TextChange) -> bool:
    """Whether the line that a change ends at the start of stays as it is."""
    return bool(line_end(change.text)) or (not change.text and not change.range.start.character)


def _moved(change: TextChange, n_lines: int) -> TextChange:
    """Return a change moved down by `n_lines` lines."""
    lines = change.lines and tuple(one._replace(first=one.first + n_lines) for one in change.lines)
    splice = change.splice and change.splice._replace(first=change.splice.first + n_lines)
    return replace(change, range=change.range.shifted(n_lines), lines=lines, splice=splice)


def _blocks_of(document: TextDocument, known: Collection[str]) -> tuple[InlineBlock, ...]:
    """Return the blocks in a text, in order of place."""
    block_text: tuple[InlineBlock, ...] = ()
    if known and may_hold_blocks(document.text):
        block_text = find_blocks(document.lines, known).blocks
    if not document.is_markdown or SIGN not in document.text:
        return block_text
    taken = {line for block in block_text for line in range(block.first, block.end)}
    others = [
        block
        for block in find_imported(document.lines).blocks
        if taken.isdisjoint(range(block.first, block.end))
    ]
    return tuple(sorted((*block_text, *others), key=lambda block: block.first))
