"""The fenced blocks of an answer, and the lines of a file that a block replaces.

The functions and classes of a block replace those of the file that have their names. A block with
all definitions of the file replaces the whole file; a block without definitions replaces the file
or the paragraph that it resembles most.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from stet.agent.small.edit_target import code_names
from stet.outline.definition import Definition, with_plain_ends
from stet.outline.indent_outline import definitions_in, is_code

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
_PLACEHOLDER = re.compile(
    r"^[ \t]*(?:#|//|--|;|/\*|<!--)?[ \t]*(?:\.{3}|\u2026|(?:the )?rest of|\(?unchanged|existing code|"
    r"other (?:functions|methods|code)).*$",
    re.IGNORECASE | re.MULTILINE,
)
_ADDS = re.compile(
    r"\b(?:add|write|create|implement|extract|split|new|erg\u00e4nze|schreibe?)\b", re.IGNORECASE
)
_GENERATOR = re.compile(
    r"^[ \t]*@(?:\w+\.)*(?:dataclass|define|frozen)\b|^[ \t]*class \w+\((?:\w+\.)*(?:NamedTuple|BaseModel)\b",
    re.MULTILINE,
)
"""A Python class whose methods of `_GENERATED` are made of its fields."""
_GENERATED = frozenset({"__init__", "__repr__", "__eq__", "__hash__"})
_IMPORT = re.compile(r"(?:import|from|#include|using|use|require)\b.*|const .*\brequire\(.*")


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


@dataclass(frozen=True, slots=True)
class LineEdit:
    """Lines of a file and what replaces them.

    Attributes:
        first: The first line, 1-based.
        last: The last line, included; `first - 1` for an insertion before `first`.
        text: The new lines, each with its line feed.
    """

    first: int
    last: int
    text: str


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
    new, old = _lines(block), _lines(file)
    if not any(line.strip() for line in new) or max(len(new), len(old)) > MAX_LINES:
        return None
    if {one.strip() for one in _PLACEHOLDER.findall(block)} - {line.strip() for line in old}:
        return None
    if is_code(ending) and _outline(_dedented(new), ending):
        new = _without_unasked(_dedented(new), old, ending, request)
        edits = _by_definitions(new, old, ending, may_add=_ADDS.search(request) is not None)
    else:
        edits = _by_likeness(new, old)
    if edits is None:
        return None
    changing = [one for one in edits if one.text != "".join(old[one.first - 1 : one.last])]
    return _disjoint(changing)


def _without_unasked(
    new: Sequence[str], old: Sequence[str], ending: str, request: str
) -> list[str]:
    """Return a block with the old text of functions that have nothing to do with the named ones."""
    ours, theirs = _outline(old, ending), _outer(_outline(new, ending))
    named = {one.name for one in ours}.intersection(code_names(request))
    lines = list(new)
    if not named:
        return lines
    mention = re.compile(rf"\b(?:{'|'.join(map(re.escape, named))})\b")
    by_name = {one.name: one for one in reversed(_outer(ours))}
    for one in reversed(theirs):
        before = by_name.get(one.name)
        if before is None or mention.search("".join(old[before.first : before.end])):
            continue
        lines[one.first : one.first + len(_stripped(new[one.first : one.end]))] = _stripped(
            old[before.first : before.end]
        )
    return lines


def _disjoint(edits: Sequence[LineEdit]) -> tuple[LineEdit, ...]:
    """Return the edits from the last line to the first, without one that overlaps another."""
    found: list[LineEdit] = []
    for one in sorted(edits, key=lambda each: (-each.first, -each.last)):
        if not found or one.last < found[-1].first:
            found.append(one)
    return tuple(found)


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in with_plain_ends(text).removesuffix("\n").split("\n")]


def _outline(lines: Sequence[str], ending: str) -> list[Definition]:
    text = "".join(lines)
    return list(definitions_in(text, text.split("\n"), ending))


def _by_definitions(
    new: Sequence[str], old: Sequence[str], ending: str, *, may_add: bool
) -> list[LineEdit] | None:
    """Return the edits by the names of definitions; None if the block has none of the file's."""
    theirs, ours = _outer(_outline(new, ending)), _outline(old, ending)
    names = {one.name for one in ours}
    if not any(one.name in names for one in theirs):
        if not may_add:
            return None
        heads, n_lines = list(new[: theirs[0].first]), len(_stripped(old))
        added = ["\n", "\n", *_stripped(new[theirs[0].first :])]
        return [LineEdit(n_lines + 1, len(old), "".join(added)), *_new_imports(heads, old)]
    outer = {one.name for one in _outer(ours)}
    heads = [line for line in new[: theirs[0].first] if line.strip()]
    begins_alike = bool(heads) and heads[0] == next((line for line in old if line.strip()), "")
    is_whole = outer <= {one.name for one in theirs} and (begins_alike or not old[: ours[0].first])
    if is_whole and not _loses_definitions(new, old, ending):
        return [LineEdit(1, len(old), "".join(new))]
    edits = list(_replacements(new, old, theirs, ours, ending))
    return [*edits, *_new_imports(heads, old)]


def _replacements(
    new: Sequence[str],
    old: Sequence[str],
    theirs: Sequence[Definition],
    ours: Sequence[Definition],
    ending: str,
) -> Iterator[LineEdit]:
    """Yield the edits that replace definitions; a new one goes before the next that replaces one."""
    extra: list[str] = []
    latest: LineEdit | None = None
    for one in theirs:
        text = list(new[one.first : one.end])
        target = next((each for each in ours if each.name == one.name), None)
        if target is None:
            extra += [*text, "\n", "\n"]
            continue
        inner = _outline(text, ending)[1:] if one.is_type else []
        if inner and _loses_definitions(text, old[target.first : target.end], ending):
            inside = [each for each in ours if target.first < each.first < target.end]
            yield from _replacements(text, old, _outer(inner), inside, ending)
            continue
        if latest is not None:
            yield latest
        indent = _indent(old[target.head])
        body = [*extra, *_stripped(text)]
        extra = []
        latest = LineEdit(
            target.first + 1,
            target.first + len(_stripped(old[target.first : target.end])),
            "".join(f"{indent}{line}" if line.strip() else line for line in _dedented(body)),
        )
    if latest is not None:
        after = "".join(["\n", "\n", *_stripped(extra)]) if extra else ""
        yield LineEdit(latest.first, latest.last, latest.text + after)


def _new_imports(heads: Sequence[str], old: Sequence[str]) -> Iterator[LineEdit]:
    """Yield the edit that adds the imports at the head of a block that the file lacks."""
    imports = [line for line in heads if _IMPORT.match(line) and line not in old]
    if not imports:
        return
    places = [number for number, line in enumerate(old, 1) if _IMPORT.match(line)]
    if places:
        yield LineEdit(places[-1] + 1, places[-1], "".join(imports))
        return
    number = 1
    quote = next((mark for mark in ('"""', "'''") if old[0].startswith(mark)), "")
    if quote:
        is_one_line = old[0].count(quote) > 1
        ends = [n for n, line in enumerate(old, 1) if quote in line and (n > 1 or is_one_line)]
        number = ends[0] + 1 if ends else 1
    around = ("\n", "") if number > 1 else ("", "\n")
    yield LineEdit(number, number - 1, around[0] + "".join(imports) + around[1])


def _by_likeness(new: Sequence[str], old: Sequence[str]) -> list[LineEdit] | None:
    """Return the edit of the whole file or of the paragraph that is most like a block."""
    whole = SequenceMatcher(None, old, new, autojunk=False)
    n_equal = sum(size for _, _, size in whole.get_matching_blocks())
    if n_equal >= LEAST_LIKENESS * len(old):
        return [LineEdit(1, len(old), "".join(new))]
    text, best = "".join(_stripped(new)).strip(), (0.0, 0, 0)
    for first, end in _paragraphs(old):
        paragraph = "".join(old[first:end]).strip()
        likeness = SequenceMatcher(None, paragraph, text, autojunk=False)
        if likeness.real_quick_ratio() > best[0] and likeness.quick_ratio() > best[0]:
            best = max(best, (likeness.ratio(), first, end))
    likeness_of_best, first, end = best
    if likeness_of_best < LEAST_LIKENESS:
        return None
    indent = _indent(old[first])
    lines = [f"{indent}{line}" if line.strip() else line for line in _dedented(_stripped(new))]
    return [LineEdit(first + 1, end, "".join(lines))]


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the half-open ranges of lines without blank lines."""
    first = None
    for number, line in enumerate((*lines, "")):
        if line.strip():
            first = number if first is None else first
        elif first is not None:
            yield first, number
            first = None


def _outer(definitions: Sequence[Definition]) -> list[Definition]:
    """Return the definitions that no other one contains."""
    found: list[Definition] = []
    for one in definitions:
        if not found or one.first >= found[-1].end:
            found.append(one)
    return found


def _loses_definitions(new: Sequence[str], old: Sequence[str], ending: str) -> bool:
    """Return whether a new text lacks a definition of the old text, which it does not generate."""
    new_names = {one.name for one in _outline(_dedented(new), ending)}
    lost = {one.name for one in _outline(_dedented(old), ending)} - new_names
    return not lost <= (_GENERATED if _GENERATOR.search("".join(new)) else frozenset())


def _stripped(lines: Sequence[str]) -> list[str]:
    """Return lines without blank lines at both ends."""
    rest = list(lines)
    while rest and not rest[-1].strip():
        rest.pop()
    while rest and not rest[0].strip():
        rest.pop(0)
    return rest


def _dedented(lines: Sequence[str]) -> list[str]:
    """Return lines without the indent that all of them have."""
    indents = [_indent(line) for line in lines if line.strip()]
    common = min(indents, key=len, default="")
    if not common or not all(indent.startswith(common) for indent in indents):
        return list(lines)
    return [line.removeprefix(common) if line.strip() else line for line in lines]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
