"""The fenced blocks of an answer, and the lines of a file that a block replaces.

The functions and classes of a block replace those of the file that have their names. A block with
all definitions of the file replaces the whole file; a block without definitions replaces what it
resembles most: the file, a paragraph or the body of a function.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from stet.agent.small.definition_merge import (
    DefinitionMerge,
    dedented,
    lines_of,
    outermost,
    outline_of_lines,
    stripped,
)
from stet.agent.small.edit_target import code_names
from stet.agent.small.import_merge import LineEdit, with_needed_imports
from stet.outline.definition import Definition
from stet.outline.indent_outline import is_code
from stet.text.reindent import indent_of

MAX_BLOCKS = 20
"""The most blocks of an answer that are read."""
MAX_LINES = 2_000
"""The most lines of a block or a file that are compared; longer ones are no edit."""
LEAST_LIKENESS = 0.6
"""The least share of equal text between a block without definitions and what it replaces."""

_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>```+|~~~+)(?P<info>[^\n`]*)\n(?P<body>.*?)"
    r"(?:^[ \t]*(?P=fence)[`~]*[ \t]*$\n?|\Z)",
    re.DOTALL | re.MULTILINE,
)
PATH = re.compile(r"(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,9}")
"""A path with an ending in a text; it may be something else, such as `os.path`."""
_CLOSING = frozenset({"}", "};", "},", "end"})
"""Lines that end a body without being a part of it."""
_PLACEHOLDER = re.compile(
    r"^[ \t]*(?:#|//|--|;|/\*|<!--)?[ \t]*(?:\.{3}|\u2026|(?:the )?rest of|\(?unchanged|existing code|"
    r"other (?:functions|methods|code)).*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block of an answer.

    Attributes:
        text: The lines of the block, each with its line feed.
        path: The path that the line before the block or its info string names; "" for none.
        start: The offset of the block in the answer.
        end: The offset of its end.
    """

    text: str
    path: str
    start: int
    end: int


def code_blocks(answer: str) -> tuple[CodeBlock, ...]:
    """Return the fenced blocks of an answer, in order."""
    blocks = []
    for found, _ in zip(_FENCE.finditer(answer), range(MAX_BLOCKS), strict=False):
        before = answer[: found.start()].rstrip().rpartition("\n")[2]
        named = PATH.findall(found["info"]) or PATH.findall(before[-200:])
        body = (
            found["body"]
            if found["body"].endswith("\n") or not found["body"]
            else (f"{found['body']}\n")
        )
        if found["indent"]:
            body = re.sub(rf"^{found['indent']}", "", body, flags=re.MULTILINE)
        blocks.append(CodeBlock(body, named[-1] if named else "", found.start(), found.end()))
    return tuple(blocks)


def block_edits(
    block: str, file: str, ending: str, request: str = ""
) -> tuple[LineEdit, ...] | None:
    r"""Return the edits of a file that a block means, from the last line to the first.

    Takes long for long texts: call it in a worker thread.

    Args:
        block: The text of the block.
        file: The text of the file.
        ending: The ending of the file's name, such as `.py`.
        request: The user's request. If it names functions of the file (`name()`), functions that
            have nothing to do with them stay as they are. If it asks for an addition, definitions
            that are all new are added at the end of the file.

    Returns:
        The edits; empty if the block only repeats the file; None if it is about something else.
    """
    new, old = lines_of(block), lines_of(file)
    if not any(line.strip() for line in new) or max(len(new), len(old)) > MAX_LINES:
        return None
    if {one.strip() for one in _PLACEHOLDER.findall(block)} - {line.strip() for line in old}:
        return None
    if is_code(ending) and outline_of_lines(dedented(new), ending):
        new = _without_unasked(dedented(new), old, ending, request)
        new = _with_needed_imports(new, old, ending)
        edits = DefinitionMerge(new, old, ending, request).edits()
    else:
        edits = _by_likeness(new, old, outline_of_lines(old, ending) if is_code(ending) else ())
    if edits is None:
        return None
    changing = [one for one in edits if one.text != "".join(old[one.first - 1 : one.last])]
    return _disjoint(changing)


def _without_unasked(
    new: Sequence[str], old: Sequence[str], ending: str, request: str
) -> list[str]:
    """Return a block with the old text of functions that have nothing to do with the named ones."""
    ours, theirs = outline_of_lines(old, ending), outermost(outline_of_lines(new, ending))
    named = {one.name for one in ours}.intersection(code_names(request))
    lines = list(new)
    if not named:
        return lines
    mention = re.compile(rf"\b(?:{'|'.join(map(re.escape, named))})\b")
    by_name = {one.name: one for one in reversed(outermost(ours))}
    for one in reversed(theirs):
        before = by_name.get(one.name)
        if before is None or mention.search("".join(old[before.first : before.end])):
            continue
        lines[one.first : one.first + len(stripped(new[one.first : one.end]))] = stripped(
            old[before.first : before.end]
        )
    return lines


def _with_needed_imports(new: Sequence[str], old: Sequence[str], ending: str) -> list[str]:
    """Return a block with the imports inside of functions that it has left out but uses."""
    ours = {one.name: one for one in reversed(outermost(outline_of_lines(old, ending)))}
    others = "".join(line for line in (*new, *old) if not line[:1].isspace())
    lines = list(new)
    for one in reversed(outermost(outline_of_lines(new, ending))):
        if (before := ours.get(one.name)) is not None:
            was = dedented(old[before.first : before.end])
            lines[one.first : one.end] = with_needed_imports(new[one.first : one.end], was, others)
    return lines


def _disjoint(edits: Sequence[LineEdit]) -> tuple[LineEdit, ...]:
    """Return the edits from the last line to the first, without one that overlaps another."""
    found: list[LineEdit] = []
    for one in sorted(edits, key=lambda each: (-each.first, -each.last)):
        if not found or one.last < found[-1].first:
            found.append(one)
    return tuple(found)


def _by_likeness(
    new: Sequence[str], old: Sequence[str], outline: Sequence[Definition]
) -> list[LineEdit] | None:
    """Return the edit of the lines that are most like a block without definitions.

    These are the whole file, a paragraph, or the body of a function; a line that begins a
    definition of `outline` is never replaced.
    """
    whole = SequenceMatcher(None, old, new, autojunk=False)
    n_equal = sum(size for _, _, size in whole.get_matching_blocks())
    if n_equal >= LEAST_LIKENESS * len(old) and not outline:
        return [LineEdit(1, len(old), "".join(new))]
    text, best = "".join(dedented(stripped(new))).strip(), (0.0, 0, 0)
    for first, end in _replaceable(old, outline):
        old_text = "".join(dedented(old[first:end])).strip()
        likeness = SequenceMatcher(None, old_text, text, autojunk=False)
        if likeness.real_quick_ratio() > best[0] and likeness.quick_ratio() > best[0]:
            best = max(best, (likeness.ratio(), first, end))
    likeness_of_best, first, end = best
    if likeness_of_best < LEAST_LIKENESS:
        return None
    indent = indent_of(old[first])
    lines = [f"{indent}{line}" if line.strip() else line for line in dedented(stripped(new))]
    return [LineEdit(first + 1, end, "".join(lines))]


def _replaceable(lines: Sequence[str], outline: Sequence[Definition]) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges: bodies of functions, and paragraphs without a head or a docstring."""
    protected = {one.first for one in outline}
    for one in outline:
        if (body := _body(lines, one)) is not None:
            code = _without_docstring(lines, *body)
            protected.update(range(body[0], code[0]))
            if not one.is_type:
                yield from (body, code)
    for first, end in _paragraphs(lines):
        if protected.isdisjoint(range(first, end)):
            yield first, end


def _body(lines: Sequence[str], function: Definition) -> tuple[int, int] | None:
    """Return the lines after the signature of a function; None if the signature has no end."""
    opening = (
        number
        for number in range(function.first, function.end)
        if lines[number].rstrip().endswith((":", "{"))
    )
    if (last := next(opening, None)) is None:
        return None
    first = last + 1
    end = first + len(stripped(lines[first : function.end]))
    if end > first and lines[end - 1].strip() in _CLOSING:
        end -= 1
    return (first, end) if first < end else None


def _without_docstring(lines: Sequence[str], first: int, end: int) -> tuple[int, int]:
    """Return the lines of a body after its docstring; all lines if there is nothing else."""
    quotes = lines[first].strip()[:3]
    if quotes not in {'"""', "'''"}:
        return first, end
    number, rest = first, lines[first].strip()[3:]
    while quotes not in rest and number + 1 < end:
        number += 1
        rest = lines[number]
    return (number + 1, end) if number + 1 < end else (first, end)


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the half-open ranges of lines without blank lines."""
    first = None
    for number, line in enumerate((*lines, "")):
        if line.strip():
            first = number if first is None else first
        elif first is not None:
            yield first, number
            first = None
