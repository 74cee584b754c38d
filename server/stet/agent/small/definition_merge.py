"""The merge of a block of code into a file by the names of its definitions.

All definitions are found by their text alone, in lines that end with a line feed.
"""

import re
from collections.abc import Iterator, Sequence

from stet.agent.small.edit_target import IDENTIFIER, code_names
from stet.agent.small.import_merge import LineEdit, import_edits
from stet.outline.definition import Definition, with_plain_ends
from stet.outline.indent_outline import definitions_in
from stet.text.reindent import indent_of

_ADDS = re.compile(
    r"\b(?:add|write|create|implement|extract|split|new|erg\u00e4nze|schreibe?)\b", re.IGNORECASE
)
_GENERATOR = re.compile(
    r"^[ \t]*@(?:\w+\.)*(?:dataclass|define|frozen)\b|^[ \t]*class \w+\((?:\w+\.)*(?:NamedTuple|BaseModel)\b",
    re.MULTILINE,
)
"""A Python class whose methods of `_GENERATED` are made of its fields."""
_GENERATED = frozenset({"__init__", "__repr__", "__eq__", "__hash__"})
_REMOVES = re.compile(
    r"\b(?:remove|delete|drop|inline|entferne?n?|l\u00f6sche?n?)\b", re.IGNORECASE
)


class DefinitionMerge:
    """The merge of one block into one file.

    Definitions replace those of their names; a definition that the request renames replaces the one
    of its old name.

    Args:
        new: The lines of the block.
        old: The lines of the file.
        ending: The ending of the file's name, such as `.py`.
        request: The user's request.
    """

    def __init__(self, new: Sequence[str], old: Sequence[str], ending: str, request: str) -> None:
        self._new = new
        self._old = old
        self._ending = ending
        self._may_add = _ADDS.search(request) is not None
        all_theirs, self._ours = outline_of_lines(new, ending), outline_of_lines(old, ending)
        self._theirs = outermost(all_theirs)
        self._old_names = _renamed(all_theirs, self._ours, request)
        removes = _REMOVES.search(request) is not None
        self._removed = frozenset(code_names(request)) if removes else frozenset()
        """Names of definitions that the request removes."""

    def edits(self) -> list[LineEdit] | None:
        """Return the edits of the file; None if the block has none of its definitions."""
        names = {one.name for one in self._ours}
        first = self._theirs[0].first
        if not any(self._old_name(one) in names for one in self._theirs):
            if not self._may_add:
                return None
            n_lines = len(stripped(self._old))
            added = ["\n", "\n", *stripped(self._new[first:])]
            addition = LineEdit(n_lines + 1, len(self._old), "".join(added))
            return [addition, *import_edits(self._new[:first], self._old, [addition])]
        heads = [line for line in self._new[:first] if line.strip()]
        head_of_file = next((line for line in self._old if line.strip()), "")
        begins_alike = bool(heads) and heads[0] == head_of_file
        outer = {one.name for one in outermost(self._ours)} - self._removed
        is_whole = outer <= {self._old_name(one) for one in self._theirs} and (
            begins_alike or not self._old[: self._ours[0].first]
        )
        if is_whole and not self._loses_definitions(self._new, self._old):
            return [LineEdit(1, len(self._old), "".join(self._new))]
        edits = list(self._replacements(self._new, self._theirs, self._ours))
        return [*edits, *import_edits(heads, self._old, edits)]

    def _old_name(self, one: Definition) -> str:
        """Return the name that a definition of the block has in the file."""
        return self._old_names.get(one.name, one.name)

    def _replacements(
        self, new: Sequence[str], theirs: Sequence[Definition], ours: Sequence[Definition]
    ) -> Iterator[LineEdit]:
        """Yield the edits that replace definitions; a new one goes before the next that replaces one."""
        old = self._old
        extra: list[str] = []
        latest: LineEdit | None = None
        for one in theirs:
            text = list(new[one.first : one.end])
            target = next((each for each in ours if each.name == self._old_name(one)), None)
            if target is None:
                extra += [*text, "\n", "\n"]
                continue
            inner = outline_of_lines(text, self._ending)[1:] if one.is_type else []
            if inner and self._loses_definitions(text, old[target.first : target.end]):
                inside = [each for each in ours if target.first < each.first < target.end]
                yield from self._replacements(text, outermost(inner), inside)
                continue
            if latest is not None:
                yield latest
            indent = indent_of(old[target.head])
            body = [*extra, *stripped(text)]
            extra = []
            latest = LineEdit(
                target.first + 1,
                target.first + len(stripped(old[target.first : target.end])),
                "".join(f"{indent}{line}" if line.strip() else line for line in dedented(body)),
            )
        if latest is not None:
            after = "".join(["\n", "\n", *stripped(extra)]) if extra else ""
            yield LineEdit(latest.first, latest.last, latest.text + after)

    def _loses_definitions(self, new: Sequence[str], old: Sequence[str]) -> bool:
        """Return whether a new text lacks a definition of the old text that must stay.

        A class may generate some; the request may rename or remove others.
        """
        theirs = outline_of_lines(dedented(new), self._ending)
        ours = outline_of_lines(dedented(old), self._ending)
        lost = {one.name for one in ours} - {self._old_name(one) for one in theirs} - self._removed
        return not lost <= (_GENERATED if _GENERATOR.search("".join(new)) else frozenset())


def _renamed(
    theirs: Sequence[Definition], ours: Sequence[Definition], request: str
) -> dict[str, str]:
    """Return the old name by the new one, if a request names one of each that the other lacks."""
    words = set(IDENTIFIER.findall(request))
    their_names, our_names = {one.name for one in theirs}, {one.name for one in ours}
    added, gone = (their_names - our_names) & words, (our_names - their_names) & words
    return {added.pop(): gone.pop()} if len(added) == len(gone) == 1 else {}


def outermost(definitions: Sequence[Definition]) -> list[Definition]:
    """Return the definitions that no other one contains."""
    found: list[Definition] = []
    for one in definitions:
        if not found or one.first >= found[-1].end:
            found.append(one)
    return found


def stripped(lines: Sequence[str]) -> list[str]:
    """Return lines without blank lines at both ends."""
    rest = list(lines)
    while rest and not rest[-1].strip():
        rest.pop()
    while rest and not rest[0].strip():
        rest.pop(0)
    return rest


def dedented(lines: Sequence[str]) -> list[str]:
    """Return lines without the indent that all of them have."""
    indents = [indent_of(line) for line in lines if line.strip()]
    common = min(indents, key=len, default="")
    if not common or not all(indent.startswith(common) for indent in indents):
        return list(lines)
    return [line.removeprefix(common) if line.strip() else line for line in lines]


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, each with a line feed."""
    return [f"{line}\n" for line in with_plain_ends(text).removesuffix("\n").split("\n")]


def outline_of_lines(lines: Sequence[str], ending: str) -> list[Definition]:
    """Return the definitions in lines of code, outer ones first."""
    text = "".join(lines)
    return list(definitions_in(text, text.split("\n"), ending))
