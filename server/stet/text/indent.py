"""One rule that turns a model's indents into the file's: shifted, or tabs for spaces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stet.text.typography import SPACES, canonical

_TAB_WIDTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class Indent:
    """How an indent of the model becomes one of the file.

    Attributes:
        added: What the file has before it.
        removed: What the model has before it, and the file has not.
        tab_width: How many spaces stand for a tab; 0 if tabs are left alone.
        tabs: With a tab width: whether the file has tabs (else the model has).
    """

    added: str = ""
    removed: str = ""
    tab_width: int = 0
    tabs: bool = False

    def of(self, indent: str) -> str | None:
        """The file's form of `indent`; None if it has none: it lies left of the block's margin,
        or between two tab stops.
        """
        if not indent.startswith(self.removed):
            return None
        rest = indent[len(self.removed) :]
        if self.tab_width:
            spaces = " " * self.tab_width
            rest = rest.replace(spaces, "\t") if self.tabs else rest.replace("\t", spaces)
            if self.tabs and " " in rest:
                return None
        return self.added + rest

    def source_of(self, indent: str) -> str | None:
        """What the model would have written for the file's `indent`; None if that is not clear."""
        rest = indent[len(self.added) :]
        if self.tab_width:
            spaces = " " * self.tab_width
            rest = rest.replace("\t", spaces) if self.tabs else rest.replace(spaces, "\t")
        source = self.removed + rest
        return source if self.of(source) == indent else None


def indent_of(line: str) -> str:
    """The white space `line` begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def visible_indent(line: str) -> str | None:
    """The indent of `line` with plain spaces; None if nothing visible is behind it."""
    return indent_of(canonical(line)) if line.strip(SPACES) else None


def find_indent(theirs: Sequence[str | None], ours: Sequence[str | None]) -> Indent | None:
    """The one rule that turns the model's indents into the file's, line for line.

    Lines without anything visible (None) are left out. None if there is no such rule.
    """
    pairs = ((a, b) for a, b in zip(theirs, ours, strict=True) if a is not None and b is not None)
    for rule in _rules(*next(pairs, ("", ""))):
        if all(a is None or rule.of(a) == b for a, b in zip(theirs, ours, strict=True)):
            return rule
    return None


def _rules(theirs: str, ours: str) -> Iterator[Indent]:
    """The rules that turn the indent `theirs` into `ours`, the likeliest first."""
    if ours.endswith(theirs):
        yield Indent(added=ours.removesuffix(theirs))
    elif theirs.endswith(ours):
        yield Indent(removed=theirs.removesuffix(ours))
    conversions = [Indent("", "", width, tabs) for tabs in (True, False) for width in _TAB_WIDTHS]
    yield from (rule for rule in conversions if rule.of(theirs) == ours)
    for rule in conversions:
        converted = rule.of(theirs)
        if converted is not None and ours.endswith(converted):
            yield replace(rule, added=ours.removesuffix(converted))
