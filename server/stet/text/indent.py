"""One rule that turns a model's indents into the file's: shifted, or tabs for spaces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stet.text.typography import SPACES, plain_punctuation

_TAB_WIDTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class IndentRule:
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

    def to_file(self, indent: str) -> str | None:
        """Return the file's form of `indent`. Return None if the indent is left of the block's
        margin or between two tab stops.
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

    def to_model(self, indent: str) -> str | None:
        """Return the model's form of the file's `indent`, or None if the form is not clear."""
        rest = indent[len(self.added) :]
        if self.tab_width:
            spaces = " " * self.tab_width
            rest = rest.replace("\t", spaces) if self.tabs else rest.replace(spaces, "\t")
        source = self.removed + rest
        return source if self.to_file(source) == indent else None


def indent_of(line: str) -> str:
    """Return the white space at the start of `line`."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def visible_indent(line: str) -> str | None:
    """Return the indent of `line` with plain spaces, or None if nothing visible follows the indent."""
    return indent_of(plain_punctuation(line)) if line.strip(SPACES) else None


def find_indent_rule(theirs: Sequence[str | None], ours: Sequence[str | None]) -> IndentRule | None:
    """Return the one rule that turns the model's indents into the file's, line for line.

    Lines without anything visible (None) are left out. None if there is no such rule.
    """
    pairs = ((a, b) for a, b in zip(theirs, ours, strict=True) if a is not None and b is not None)
    for rule in _rules(*next(pairs, ("", ""))):
        if all(a is None or rule.to_file(a) == b for a, b in zip(theirs, ours, strict=True)):
            return rule
    return None


def _rules(theirs: str, ours: str) -> Iterator[IndentRule]:
    """Yield the rules that turn the indent `theirs` into `ours`, the most likely rule first."""
    if ours.endswith(theirs):
        yield IndentRule(added=ours.removesuffix(theirs))
    elif theirs.endswith(ours):
        yield IndentRule(removed=theirs.removesuffix(ours))
    conversions = [
        IndentRule("", "", width, tabs) for tabs in (True, False) for width in _TAB_WIDTHS
    ]
    yield from (rule for rule in conversions if rule.to_file(theirs) == ours)
    for rule in conversions:
        converted = rule.to_file(theirs)
        if converted is not None and ours.endswith(converted):
            yield replace(rule, added=ours.removesuffix(converted))
