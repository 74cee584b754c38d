"""Blocks of pending changes in a text: written, found again, and read past.

A block counts only if its id is known: conflicts of the user's own are text like any other, and
blocks of other programs are found by their shape (`stet.text.imported_blocks`). Where a known one is
no longer whole, it is named as broken and left alone.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stet.text import conflict_block as marker_block
from stet.text import fenced_block
from stet.text.document import TextDocument
from stet.text.inline_block import BlockForm, BlockStyle, InlineBlock
from stet.text.lines import dominant_line_end, line_end, split_lines, without_end

_FIRST = frozenset("`<>")
_SIGNS = ("ai-edit", "ai_edit", '"id"', ">>>>>>> stet ")


@dataclass(frozen=True, slots=True)
class BlockScan:
    """What a search for blocks found.

    Attributes:
        blocks: Whole ones, in order of place.
        broken: Known ids that are named by a line which belongs to no whole block.
    """

    blocks: tuple[InlineBlock, ...] = ()
    broken: frozenset[str] = frozenset()


def style_for(document: TextDocument) -> BlockStyle:
    """Return the style of the blocks in `document`."""
    return BlockStyle.FENCE if document.is_markdown else BlockStyle.MARKERS


def form_for(document: TextDocument, end: int, new: str) -> BlockForm:
    r"""How a block is written that makes `new` of lines up to `end` (0-based) of `document`.

    Its lines end as those beside it do.
    """
    lines = document.lines
    neighbours = (lines[max(end - 1, 0)], lines[0])
    found = next(filter(None, map(line_end, neighbours)), dominant_line_end(new))
    if found == "\r" and ("\n" in document.text or "\n" in new):
        found = "\n"  # a `"\r"` would take in a line that is empty
    at_end = end >= len(lines) or (end == len(lines) - 1 and not lines[end])
    return BlockForm(style_for(document), found, at_end=at_end)


def render_block(
    block_id: str, before: str, after: str, form: BlockForm, summary: str = ""
) -> str | None:
    """Return the lines that show a change of the lines `before` into `after`.

    Args:
        block_id: What it is found again by.
        before: Whole lines as they stand in the text; `""` for none.
        after: What they are to become; something else.
        form: How to write it.
        summary: A few words for the reader, where the style has room for them.

    Returns:
        None where line ends are so mixed that no block can tell the two apart.
    """
    if form.style is BlockStyle.FENCE:
        return fenced_block.render(block_id, before, after, form)
    return marker_block.render(block_id, before, after, form, summary)


def find_blocks(lines: Sequence[str], known: Collection[str]) -> BlockScan:
    """Return the blocks of known ids in `lines` (with their line ends), of either style."""
    blocks: list[InlineBlock] = []
    broken: set[str] = set()
    copied_to = 0
    for number, line in enumerate(lines if known else ()):
        if number < copied_to or not (line[:1] in _FIRST or '"id"' in line):
            continue
        block = None
        if line[0] == "`":
            block = fenced_block.read(lines, number, known)
        elif line[0] == "<":
            block = marker_block.read(lines, number, known)
        if block is not None:
            blocks.append(block)
            copied_to = block.end
            continue
        if (named := _block_id_at(line)) is not None and named in known:
            broken.add(named)
    return BlockScan(tuple(blocks), frozenset(broken))


def block_ids_in(text: str) -> frozenset[str]:
    """Return the ids that lines of a text name in the way of a block, whoever wrote the lines."""
    lines = split_lines(text) if may_hold_blocks(text) else ()
    return frozenset(found for line in lines if (found := _block_id_at(line)) is not None)


def _block_id_at(line: str) -> str | None:
    return fenced_block.block_id_at(line) or marker_block.block_id_at(line)


def is_leftover(line: str) -> bool:
    """Whether a line reads as one of a block's own: of a fenced one, or one that names a hunk."""
    return fenced_block.is_leftover(line) or _block_id_at(line) is not None


def may_hold_blocks(text: str) -> bool:
    """Whether a search is worth the time; cheap."""
    return any(sign in text for sign in _SIGNS)


def has_leftovers(lines: Sequence[str], before: str, after: str) -> bool:
    """Whether lines where a block stood still hold a part of it.

    Args:
        lines: Those that stand there now.
        before: What the block stood for.
        after: What it would have become.
    """
    content = {without_end(line) for line in (*split_lines(before), *split_lines(after))}
    size = marker_block.marker_size(before, after)
    return any(
        fenced_block.is_leftover(line)
        or fenced_block.block_id_at(line) is not None
        or marker_block.is_leftover(line, size)
        for line in lines
        if without_end(line) not in content
    )
