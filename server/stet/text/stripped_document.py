"""A text without its inline blocks, and the blocks of other programs.

The text without blocks is the valid text as long as nothing in the blocks is decided. Blocks of
hunks are found by their ids (`stet.text.block_codec`). Blocks that another program has put into a
note are recognised by their shape, whatever their id: an `ai-edit` fence that contains one JSON
object with the fields `id`, `type`, `before` and `after`, each a string, as the Obsidian plugin
writes them. Such a block replaces `before` and offers `after`. A fence within another fence is an
example, not a block.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from stet.text.block_codec import InlineBlock, find_blocks, json_block, may_hold_blocks, read_fields
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.large_document import LargeDocument
from stet.text.lines import front_matter_end, line_end, split_lines, whole_lines, without_end
from stet.text.position import Position, Range

NO_REVISION = -1
"""The revision of a text without its blocks: no change of the document leads from it or to it."""


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class StrippedDocument:
    """A text, and the same text with every block replaced by the old lines in the block.

    *Plain* is the text without blocks; lines are 0-based, columns in code points.

    Attributes:
        real: The text with blocks.
        plain: The text without blocks.
        blocks: The removed blocks, in order of place.
    """

    real: TextDocument
    plain: TextDocument
    blocks: tuple[InlineBlock, ...]

    def to_plain_position(self, position: Position) -> Position:
        """Return the place in the plain text of a place in the real text.

        A place in the old lines of a block stays in these lines. Any other place in a block
        becomes the start of the block.
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
        """Return the real line of a plain line; the block's first line for a replaced line."""
        for block, shift in zip(self.blocks, self._line_shifts, strict=False):
            if line < block.first + shift:
                return line - shift
            if line < block.first + shift + len(whole_lines(block.before)):
                return block.first
        return line - self._line_shifts[-1]

    def to_real_lines(self, first: int, end: int) -> tuple[int, int] | None:
        """Return the real lines (half-open) of whole plain lines, or of a gap between two of them.

        Returns:
            None if a block replaces one of these lines or is between two of them.
        """
        for block, shift in zip(self.blocks, self._line_shifts, strict=False):
            start = block.first + shift
            after = start + len(whole_lines(block.before))
            if (first < after and start < end) or first < start == after < end:
                return None
        start = self.to_real_line(first)
        return start, start if first == end else self.to_real_line(end - 1) + 1

    @cached_property
    def _line_shifts(self) -> tuple[int, ...]:
        """The shift from real to plain lines before each block, and after the last block."""
        return tuple(accumulate(map(_n_more, self.blocks), initial=0))

    def _in_block(self, block: InlineBlock, shift: int, position: Position) -> Position:
        line = self.real.lines[position.line]
        nth = position.line - block.first - 1
        before = split_lines(block.before)
        if 0 <= nth < len(before) and line and line == before[nth]:
            return Position(block.first + shift + nth, position.character)
        return Position(block.first + shift, 0)


def _n_more(block: InlineBlock) -> int:
    """Return how many lines more the text has without a block."""
    return len(whole_lines(block.before)) - (block.end - block.first)


def strip_blocks(
    document: TextDocument, known: Collection[str], placed: tuple[InlineBlock, ...] = ()
) -> StrippedDocument | None:
    """Return `document` without the blocks of known ids; None if it has no blocks.

    In a note, blocks of other programs are removed too.

    Args:
        document: The text.
        known: The ids of blocks that may be in the text.
        placed: The present blocks of a very long text, which is not searched.
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
    # Revisions count changes of the real text: no change leads from this text to another.
    plain = replace(document, text=text, revision=NO_REVISION, real=document)
    return StrippedDocument(document, plain, blocks)


def _without_placed(document: LargeDocument, blocks: tuple[InlineBlock, ...]) -> StrippedDocument:
    """Return a very long text without the given blocks; equal blocks give the same object."""
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
        changes: The changes of the text with blocks, in order.
        before: The blocks before the changes, in order of place.
        after: The present blocks.

    Returns:
        The changes; None if a block was added, removed or changed: then the changes do not show the
        visible part of the block.
    """
    places = [(block.first, block.end) for block in before]
    shifts = [*map(_n_more, before)]
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
    """Return whether a change that ends at the start of a line leaves this line unchanged."""
    return bool(line_end(change.text)) or (not change.text and not change.range.start.character)


def _moved(change: TextChange, n_lines: int) -> TextChange:
    """Return a change moved down by `n_lines` lines."""
    lines = change.lines and tuple(one._replace(first=one.first + n_lines) for one in change.lines)
    splice = change.splice and change.splice._replace(first=change.splice.first + n_lines)
    return replace(change, range=change.range.shifted(n_lines), lines=lines, splice=splice)


def _blocks_of(document: TextDocument, known: Collection[str]) -> tuple[InlineBlock, ...]:
    """Return the blocks in a text, in order of place."""
    blocks: tuple[InlineBlock, ...] = ()
    if known and may_hold_blocks(document.text):
        blocks = find_blocks(document.lines, known)
    if not document.is_markdown or SIGN not in document.text:
        return blocks
    taken = {line for block in blocks for line in range(block.first, block.end)}
    found = find_imported(document.lines).blocks
    others = (block for block in found if taken.isdisjoint(range(block.first, block.end)))
    return tuple(sorted((*blocks, *others), key=lambda block: block.first))


SIGN = "ai-edit"
"""The name of a block's fence."""
MAX_BLOCKS = 1_000
"""The maximum number of blocks that are read in one text."""
MAX_ID = 200
"""The maximum number of characters of an id."""
MAX_CONTENT = 2_000_000
"""The maximum number of characters of a block's JSON."""

_MOST_OPEN = 10
"""The maximum number of unclosed fences in one search: each costs a scan of all lines below."""
_AT_ONCE = 10_000
"""The number of lines that are read at a time."""
_IN_HEAD = 200
"""The number of characters of a line that are checked for a fence and its name."""
# With more than three spaces before it a fence is code.
_OPENING = re.compile(r"(?s)(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>.*)")
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_BEFORE_FENCE = frozenset("`~ ")
_LINE_END = re.compile(r"\r\n|\n|\r")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class MalformedBlock:
    """A fence that looks like a block and is not a valid one.

    Attributes:
        line: The first line of the fence, 0-based.
        problem: The error, as the end of a sentence.
    """

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class ImportedBlocks:
    """The result of a search for blocks by their shape.

    Attributes:
        blocks: The valid blocks, in order of place, with the line ends of the surrounding text.
        bad: The malformed blocks, in order of place.
    """

    blocks: tuple[InlineBlock, ...] = ()
    bad: tuple[MalformedBlock, ...] = ()


def find_imported(lines: Sequence[str]) -> ImportedBlocks:
    """Find the blocks of a note with these lines (with line ends); slow for a very long note."""
    blocks: list[InlineBlock] = []
    bad: list[MalformedBlock] = []
    for first, last, opening in _fenced(lines):
        if opening["info"][:_IN_HEAD].split(maxsplit=1)[:1] != [SIGN]:
            continue
        if len(blocks) == MAX_BLOCKS:
            bad.append(MalformedBlock(first, f"more than {MAX_BLOCKS:,} blocks come before it"))
            break
        found = _read(lines, first, last, opening)
        if isinstance(found, str):
            bad.append(MalformedBlock(first, found))
        else:
            blocks.append(found)
    return ImportedBlocks(tuple(blocks), tuple(bad))


def imported_at(
    lines: Sequence[str], ids: Collection[str], first: int, end: int
) -> list[InlineBlock]:
    """Return the whole blocks with one of the ids, each between lines `first` and `end`."""
    found: list[InlineBlock] = []
    number, n_open = max(first, 0), 0
    end = min(end, len(lines))
    while number < end and n_open <= _MOST_OPEN:
        line = lines[number]
        opening = _match_opening(line) if line[:1] == "`" and SIGN in line else None
        if opening is not None:
            last = _find_closing(lines, number + 1, opening["fence"], end)
            n_open += last >= len(lines)
            block = _read(lines, number, last, opening)
            if not isinstance(block, str) and block.id in ids and block.end <= end:
                found.append(block)
                number = block.end
                continue
        number += 1
    return found


def _fenced(lines: Sequence[str]) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Yield the fenced parts of a note that are in no other part: first line, last line, opening.
    The last line is the number of lines if no line closes the fence.
    """
    first, opening = 0, None
    for number, line in _fence_lines(lines):
        if opening is None:
            first, opening = number, _match_opening(line)
        elif _closes(line, opening["fence"]):
            yield first, number, opening
            opening = None
    if opening is not None:
        yield first, len(lines), opening


def _fence_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines after the front matter that may open or close a fence, each with its
    number.
    """
    for start in range(front_matter_end(lines), len(lines), _AT_ONCE):
        for number, line in enumerate(lines[start : start + _AT_ONCE], start):
            if line[:1] in _BEFORE_FENCE and line[:_IN_HEAD].lstrip(" ")[:3] in {"```", "~~~"}:
                yield number, line


def _match_opening(line: str) -> re.Match[str] | None:
    """Return the parts of a line that opens a fence; None for any other line."""
    found = _OPENING.fullmatch(without_end(line))
    return None if found and found["fence"][0] == "`" and "`" in found["info"] else found


def _closes(line: str, fence: str) -> bool:
    """Return whether a line closes a fence."""
    if line[:1] not in {fence[0], " "}:
        return False  # the fast path for nearly all lines
    found = _CLOSING.fullmatch(without_end(line))
    return found is not None and found[1].startswith(fence)


def _find_closing(lines: Sequence[str], first: int, fence: str, end: int) -> int:
    """Return the line from `first` on and before `end` that closes a fence. Return the number of
    lines if no line does.
    """
    found = (number for number in range(first, end) if _closes(lines[number], fence))
    return next(found, len(lines))


def _content(lines: Sequence[str], first: int, end: int) -> str | None:
    """Return the text of some lines, or None if the text is longer than a block's text may be."""
    parts: list[str] = []
    size = 0
    for start in range(first, end, _AT_ONCE):
        some = lines[start : min(start + _AT_ONCE, end)]
        size += sum(map(len, some))
        if size > MAX_CONTENT:
            return None
        parts += some
    return "".join(parts)


def _read(lines: Sequence[str], first: int, last: int, opening: re.Match[str]) -> InlineBlock | str:
    """Return the block between two fence lines, or a description of the problem."""
    if opening["indent"] or opening["fence"][0] != "`" or opening["info"].strip() != SIGN:
        return f"its first line must be ```{SIGN} and nothing else"
    if last >= len(lines):
        return "it has no closing fence"
    content = _content(lines, first + 1, last)
    if content is None:
        return f"it contains more than {MAX_CONTENT:,} characters"
    fields = read_fields(content)
    if isinstance(fields, str):
        return fields
    if problem := _problem(fields):
        return problem
    within = line_end(lines[first])
    fields |= {name: _LINE_END.sub(within, fields[name]) for name in ("before", "after")}
    return json_block(fields, lines, first, last)


def _problem(fields: Mapping[str, str]) -> str:
    """Return the problem with a block's string fields; `""` if there is no problem."""
    if fields["type"] not in {"add", "delete", "replace"}:
        return "'type' must be add, delete or replace"
    if not 0 < len(fields["id"]) <= MAX_ID:
        return f"'id' must have 1 to {MAX_ID} characters"
    if any(map(_NO_TEXT.search, fields.values())):
        return "it contains a character that is not valid in a text file"
    return ""
