"""The imports at the head of a block of code, merged into those of a file."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from stet.agent.small.edit_target import IDENTIFIER

LEAST_LIKENESS = 0.6
"""The least share of equal text between an import and the one that replaces it."""
_KEYWORDS = frozenset({"import", "from", "as", "include", "using", "use", "require", "const"})
_IMPORT = re.compile(r"(?:import|from|#include|using|use|require)\b.*|const .*\brequire\(.*")

_PYTHON_IMPORT = re.compile(
    r"[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?P<names>[\w., ]+?)[ \t]*(?:#.*)?$"
)


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


def import_edits(
    heads: Sequence[str], old: Sequence[str], edits: Sequence[LineEdit]
) -> Iterator[LineEdit]:
    """Yield the edits that bring the imports of a block into a file.

    An import takes the place of a similar one whose names the file no longer uses; the others are
    added.

    Args:
        heads: The lines of the block before its first definition.
        old: The lines of the file.
        edits: The other edits of the file.
    """
    imports = [line for line in heads if _IMPORT.match(line) and line not in old]
    if not imports:
        return
    places = [number for number, line in enumerate(old, 1) if _IMPORT.match(line)]
    replaced = {number for number in places if any(_covers(one, number) for one in edits)}
    for number in places:
        if number in replaced or old[number - 1] in heads:
            continue
        new = max(imports, key=lambda line: _likeness(line, old[number - 1]), default="")
        if _likeness(new, old[number - 1]) < LEAST_LIKENESS:
            continue
        if _is_unused(old[number - 1], new, _edited(old, edits, number)):
            imports.remove(new)
            yield LineEdit(number, number, new)
    if imports and places:
        yield LineEdit(places[-1] + 1, places[-1], "".join(imports))
    elif imports:
        yield _first_imports(imports, old)


def with_needed_imports(new: Sequence[str], old: Sequence[str], others: str = "") -> list[str]:
    """Return the new lines of a function with the imports in the old ones that were left out.

    An import is put back if its names are still used, after the line that it followed.

    Args:
        new: The new lines.
        old: The old lines.
        others: The imports outside the function.
    """
    lines = list(new)
    for before, line in pairwise(old):
        names = _imported_names(line) if line[:1].isspace() else set()
        bound = {name for one in (*lines, *others.splitlines()) for name in _imported_names(one)}
        if not names & set(IDENTIFIER.findall("".join(lines))) or names & bound:
            continue
        place = next((n for n, one in enumerate(lines, 1) if one.strip() == before.strip()), None)
        if place is not None and before.strip():
            lines.insert(place, line)
    return lines


def _imported_names(line: str) -> set[str]:
    """Return the names that an import of Python binds; empty for another line."""
    found = _PYTHON_IMPORT.match(line)
    if found is None:
        return set()
    parts = (part.partition(" as ") for part in found["names"].split(","))
    return {(alias or name).strip().partition(".")[0] for name, _, alias in parts} - {"*", ""}


def _first_imports(imports: Sequence[str], old: Sequence[str]) -> LineEdit:
    """Return the insertion of imports into a file that has none: after its docstring."""
    number = 1
    quote = next((mark for mark in ('"""', "'''") if old[0].startswith(mark)), "")
    if quote:
        is_one_line = old[0].count(quote) > 1
        ends = [n for n, line in enumerate(old, 1) if quote in line and (n > 1 or is_one_line)]
        number = ends[0] + 1 if ends else 1
    around = ("\n", "") if number > 1 else ("", "\n")
    return LineEdit(number, number - 1, around[0] + "".join(imports) + around[1])


def _is_unused(old: str, new: str, rest: str) -> bool:
    """Return whether the imports share a module, and no name of the old one alone is in the rest."""
    old_names, new_names = set(IDENTIFIER.findall(old)), set(IDENTIFIER.findall(new))
    names = old_names - new_names
    shares_module = bool((old_names & new_names) - _KEYWORDS)
    return shares_module and bool(names) and names.isdisjoint(IDENTIFIER.findall(rest))


def _edited(old: Sequence[str], edits: Sequence[LineEdit], left_out: int) -> str:
    """Return the text of a file after edits, without one line (1-based) of before."""
    lines = ["" if number == left_out else line for number, line in enumerate(old, 1)]
    for one in sorted(edits, key=lambda edit: -edit.first):
        lines[one.first - 1 : one.last] = [one.text]
    return "".join(lines)


def _covers(edit: LineEdit, number: int) -> bool:
    return edit.first <= number <= edit.last


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
