"""Blocks that another program has put into a note: recognised by their shape, whatever their id.

An `ai-edit` fence that holds one JSON object with the fields `id`, `type`, `before` and `after`, each
a string, as the Obsidian plugin writes them (`stet.text.fenced_block` has the form). It stands for
`before` and offers `after`. A fence within another fence is an example, not a block.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from stet.text.block import Block
from stet.text.fenced_block import tag_line
from stet.text.lines import line_end, without_end
from stet.text.outline import behind_front_matter

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
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)", re.DOTALL)
_BREAK = re.compile(r"\r\n|\r|\n")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_FIELDS = ("id", "type", "before", "after")


@dataclass(frozen=True, slots=True)
class BadBlock:
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

    blocks: tuple[Block, ...] = ()
    bad: tuple[BadBlock, ...] = ()


def find_imported(lines: Sequence[str]) -> ImportedBlocks:
    """Find the blocks of a whole note in `lines` (with their line ends)."""
    blocks: list[Block] = []
    bad: list[BadBlock] = []
    number = behind_front_matter(lines)
    while number < len(lines):
        opening = _opening(lines[number])
        if opening is None:
            number += 1
            continue
        last = _closing(lines, number + 1, opening[2])
        if opening[3].split(maxsplit=1)[:1] != [SIGN]:
            number = last + 1
            continue
        found = _read(lines, number, last, opening)
        if isinstance(found, str):
            bad.append(BadBlock(number, found))
            number = last + 1
        elif len(blocks) < MAX_BLOCKS:
            blocks.append(found)
            number = found.end
        else:
            bad.append(BadBlock(number, f"more than {MAX_BLOCKS:,} blocks stand before it"))
            break
    return ImportedBlocks(tuple(blocks), tuple(bad))


def imported_at(lines: Sequence[str], ids: Collection[str], first: int, end: int) -> list[Block]:
    """The whole blocks with one of these ids that begin and end between lines `first` and `end`."""
    found: list[Block] = []
    number, n_open = max(first, 0), 0
    end = min(end, len(lines))
    while number < end and n_open <= _MOST_OPEN:
        line = lines[number]
        opening = _opening(line) if line[:1] == "`" and SIGN in line else None
        if opening is not None:
            last = _closing(lines, number + 1, opening[2], end)
            n_open += last >= len(lines)
            block = _read(lines, number, last, opening)
            if not isinstance(block, str) and block.id in ids and block.end <= end:
                found.append(block)
                number = block.end
                continue
        number += 1
    return found


def _opening(line: str) -> re.Match[str] | None:
    """The parts of a line that opens a fence; None if it does not."""
    if line[:1] not in {"`", "~", " "}:
        return None
    return _FENCE.fullmatch(without_end(line))


def _closing(lines: Sequence[str], first: int, fence: str, end: int | None = None) -> int:
    """The line that closes a fence, from line `first` on; the number of lines where none does."""
    end = len(lines) if end is None else end
    for number in range(first, end):
        line = lines[number]
        if line[:1] not in {fence[0], " "}:
            continue
        plain = without_end(line)
        marks = plain.lstrip(" ").rstrip(" \t")
        indent = len(plain) - len(plain.lstrip(" "))
        if indent <= 3 and len(marks) >= len(fence) and not marks.strip(fence[0]):
            return number
    return len(lines)


def _read(lines: Sequence[str], first: int, last: int, opening: re.Match[str]) -> Block | str:
    """The block between two fence lines; or what is wrong with it."""
    if opening[1] or opening[2][0] != "`" or opening[3].strip() != SIGN:
        return f"its first line must be ```{SIGN} and nothing else"
    if last >= len(lines):
        return "it has no closing fence"
    if sum(map(len, lines[first + 1 : last])) > MAX_CONTENT:
        return f"it holds more than {MAX_CONTENT:,} characters"
    fields = _fields("".join(lines[first + 1 : last]))
    if isinstance(fields, str):
        return fields
    last = tag_line(lines, last)
    end = line_end(lines[last])
    within = line_end(lines[first])
    kind = fields["type"]
    before, after = (_BREAK.sub(within, fields[name]) for name in ("before", "after"))
    return Block(
        fields["id"],
        first,
        last + 1,
        "" if kind == "add" and not before else before + end,
        "" if kind == "delete" and not after else after + end,
    )


def _fields(content: str) -> dict[str, str] | str:
    """What the JSON says; or what is wrong with it."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return "what it holds is no JSON"
    if not isinstance(found, dict):
        return "what it holds is no JSON object"
    fields = {name: value for name in _FIELDS if isinstance(value := found.get(name), str)}
    return _problem(fields) or fields


def _problem(fields: Mapping[str, str]) -> str:
    """What is wrong with the fields of a block that are strings; nothing if all is well."""
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
