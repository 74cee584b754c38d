"""Blocks that another program has put into a note: recognised by their shape, whatever their id.

An `ai-edit` fence that holds one JSON object with the fields `id`, `type`, `before` and `after`, each
a string, as the Obsidian plugin writes them (`stet.text.fenced_block` has the form). It stands for
`before` and offers `after`. A fence within another fence is an example, not a block.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stet.text.fenced_block import tag_line
from stet.text.inline_block import InlineBlock
from stet.text.lines import front_matter_end, line_end, without_end

SIGN = "ai-edit"
"""What every such block holds."""
MAX_BLOCKS = 1_000
"""Blocks of one text; more are left alone."""
MAX_ID = 200
"""Characters of an id."""
MAX_CONTENT = 2_000_000
"""Characters of the JSON of one block."""

_MOST_OPEN = 10
"""Fences without an end that are looked at in one search: each costs a look at all lines below."""
_AT_ONCE = 10_000
"""Lines that are read together."""
_IN_HEAD = 200
"""Characters of a first line that are looked at: the name of a block's fence is shorter."""
_MOST_INDENT = 3
"""Spaces before a fence; behind more it is code."""
_BEFORE_FENCE = frozenset("`~ ")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_FIELDS = ("id", "type", "before", "after")


@dataclass(frozen=True, slots=True)
class MalformedBlock:
    """A fence that looks like a block and is none.

    Attributes:
        line: Its first line, 0-based.
        problem: What is wrong with it, as the end of a sentence.
    """

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class ImportedBlocks:
    """What a search for blocks by their shape found.

    Attributes:
        blocks: Whole ones, in order of place; line ends within are those of the text around.
        bad: The others, in order of place.
    """

    blocks: tuple[InlineBlock, ...] = ()
    bad: tuple[MalformedBlock, ...] = ()


class _Opening(NamedTuple):
    """A line that opens a fence.

    Attributes:
        indent: Spaces before it.
        fence: Its marks.
        info: What stands behind them, without blanks at the start.
    """

    indent: int
    fence: str
    info: str


def find_imported(lines: Sequence[str]) -> ImportedBlocks:
    """Find the blocks of a whole note in `lines` (with their line ends); a very long one takes a while."""
    blocks: list[InlineBlock] = []
    bad: list[MalformedBlock] = []
    for first, last, opening in _fenced(lines):
        if opening.info[:_IN_HEAD].split(maxsplit=1)[:1] != [SIGN]:
            continue
        if len(blocks) == MAX_BLOCKS:
            bad.append(MalformedBlock(first, f"more than {MAX_BLOCKS:,} blocks stand before it"))
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
            last = _find_closing(lines, number + 1, opening.fence, end)
            n_open += last >= len(lines)
            block = _read(lines, number, last, opening)
            if not isinstance(block, str) and block.id in ids and block.end <= end:
                found.append(block)
                number = block.end
                continue
        number += 1
    return found


def _fenced(lines: Sequence[str]) -> Iterator[tuple[int, int, _Opening]]:
    """Yield the fenced parts of a note that are in no other part: first line, last line, opening.
    The last line is the number of lines if no line closes the fence.
    """
    first, opening = 0, None
    for number, line in _fence_lines(lines):
        if opening is None:
            first, opening = number, _match_opening(line)
        elif _closes(line, opening.fence):
            yield first, number, opening
            opening = None
    if opening is not None:
        yield first, len(lines), opening


def _fence_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines after the front matter that may open or close a fence, each with its number."""
    for start in range(front_matter_end(lines), len(lines), _AT_ONCE):
        for number, line in enumerate(lines[start : start + _AT_ONCE], start):
            if line[:1] in _BEFORE_FENCE and line[:_IN_HEAD].lstrip(" ")[:3] in {"```", "~~~"}:
                yield number, line


def _match_opening(line: str) -> _Opening | None:
    """Return the parts of a line that opens a fence; None for any other line."""
    if line[:1] not in _BEFORE_FENCE:
        return None
    plain = without_end(line)
    marks = plain.lstrip(" ")
    indent = len(plain) - len(marks)
    if indent > _MOST_INDENT or marks[:3] not in {"```", "~~~"}:
        return None
    info = marks.lstrip(marks[0])
    if marks[0] == "`" and "`" in info:
        return None
    return _Opening(indent, marks[: len(marks) - len(info)], info.lstrip(" \t"))


def _closes(line: str, fence: str) -> bool:
    """Whether a line closes a fence."""
    if line[:1] not in {fence[0], " "}:
        return False
    plain = without_end(line)
    marks = plain.lstrip(" ")
    indent = len(plain) - len(marks)
    marks = marks.rstrip(" \t")
    return indent <= _MOST_INDENT and len(marks) >= len(fence) and not marks.strip(fence[0])


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


def _read(lines: Sequence[str], first: int, last: int, opening: _Opening) -> InlineBlock | str:
    """Return the block between two fence lines, or a description of the problem."""
    if opening.indent or opening.fence[0] != "`" or opening.info.strip() != SIGN:
        return f"its first line must be ```{SIGN} and nothing else"
    if last >= len(lines):
        return "it has no closing fence"
    content = _content(lines, first + 1, last)
    if content is None:
        return f"it holds more than {MAX_CONTENT:,} characters"
    fields = _fields(content)
    if isinstance(fields, str):
        return fields
    last = tag_line(lines, last)
    end = line_end(lines[last])
    within = line_end(lines[first])
    kind = fields["type"]
    before, after = (_with_breaks(fields[name], within) for name in ("before", "after"))
    return InlineBlock(
        fields["id"],
        first,
        last + 1,
        "" if kind == "add" and not before else before + end,
        "" if kind == "delete" and not after else after + end,
    )


def _with_breaks(text: str, line_end: str) -> str:
    """`text` with this line end in the place of each of its own."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", line_end)


def _fields(content: str) -> dict[str, str] | str:
    """Return the fields of the JSON, or a description of the problem."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return "what it holds is no JSON"
    if not isinstance(found, dict):
        return "what it holds is no JSON object"
    fields = {name: value for name in _FIELDS if isinstance(value := found.get(name), str)}
    return _problem(fields) or fields


def _problem(fields: Mapping[str, str]) -> str:
    """Return the problem with a block's string fields; `""` if there is no problem."""
    missing = [name for name in _FIELDS if name not in fields]
    if missing:
        return f"{missing[0]!r} must be a string"
    if fields["type"] not in {"add", "delete", "replace"}:
        return "'type' must be add, delete or replace"
    if not 0 < len(fields["id"]) <= MAX_ID:
        return f"'id' must have 1 to {MAX_ID} characters"
    if any(map(_NO_TEXT.search, fields.values())):
        return "it holds a character that no text file can hold"
    return ""
