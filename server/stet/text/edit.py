"""Edits as values: several replacements against one text, with an algebra.

    edit.apply(text)                                the new text
    edit.compose(then).apply(text)                  then.apply(edit.apply(text))
    edit.map_offset(12)                             where that place is in the new text

Composition walks two streams of *keep, delete, insert*, as operational transformation does
(Ellis and Gibbs 1989; the form is that of Google Wave's composition).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from stet.text.change import Bias


class OverlapError(ValueError):
    """Two replacements of one edit claim the same text; the message names both."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """`text` takes the place of what lies between two offsets (code points, half-open).

    Raises:
        ValueError: The offsets are negative or reversed.
    """

    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a replacement needs 0 <= start <= end: {self!r}")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replacements against one text, disjoint and in order of place.

    They may be given in any order. Several insertions at one place stand in the order given; an
    insertion at the start of a replaced stretch stands before its new text.

    Raises:
        OverlapError: Two of them claim the same text.
    """

    replacements: tuple[Replacement, ...]

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.replacements, key=lambda one: (one.start, one.end)))
        for one, other in pairwise(ordered):
            if other.start < one.end:
                raise OverlapError(f"{one!r} and {other!r} replace the same text")
        object.__setattr__(self, "replacements", ordered)

    def apply(self, text: str) -> str:
        """Return the text after the edit.

        Raises:
            ValueError: `text` is too short: the edit was made for another one.
        """
        self._check(text)
        pieces, done = [], 0
        for replacement in self.replacements:
            pieces += [text[done : replacement.start], replacement.text]
            done = replacement.end
        return "".join((*pieces, text[done:]))

    def changes(self, text: str) -> bool:
        """Whether `text` is another one after the edit; only the stretch that is replaced is looked at.

        Raises:
            ValueError: `text` is too short: the edit was made for another one.
        """
        self._check(text)
        if not self.replacements:
            return False
        start, end = self.replacements[0].start, self.replacements[-1].end
        pieces, done = [], start
        for replacement in self.replacements:
            pieces += [text[done : replacement.start], replacement.text]
            done = replacement.end
        return "".join(pieces) != text[start:end]

    def compose(self, then: "TextEdit") -> "TextEdit":
        """One edit that does this one and `then`, which was made for the text after this one."""
        return TextEdit(tuple(_collected(_composed(_OpStream(self), _OpStream(then)))))

    def map_offset(self, offset: int, bias: Bias = Bias.LEFT) -> int:
        """Where `offset` of the text before is in the text after.

        Within what is replaced, and at a place where text is put in, `bias` says on which side of the
        new text.
        """
        shift = 0
        for replacement in self.replacements:
            if offset < replacement.start or (offset == replacement.start and bias is Bias.LEFT):
                break
            if offset < replacement.end:
                return (
                    replacement.start + shift + (len(replacement.text) if bias is Bias.RIGHT else 0)
                )
            shift += len(replacement.text) - (replacement.end - replacement.start)
        return offset + shift

    def _check(self, text: str) -> None:
        if self.replacements and self.replacements[-1].end > len(text):
            raise ValueError(
                f"the edit was made for another text: {self.replacements[-1]!r} "
                f"ends behind the {len(text)} characters"
            )


class _EditOp(NamedTuple):
    """Keep or delete `n` code points, or insert `text` (`n` is its length)."""

    kind: str
    n: int
    text: str = ""


class _OpStream:
    """An edit as steps that can be taken in part; behind the last one all is kept."""

    def __init__(self, edit: TextEdit) -> None:
        self._steps = self._all(edit)
        self.head = next(self._steps)

    @staticmethod
    def _all(edit: TextEdit) -> Iterator[_EditOp]:
        done = 0
        for replacement in edit.replacements:
            steps = (
                _EditOp("keep", replacement.start - done),
                _EditOp("delete", replacement.end - replacement.start),
                _EditOp("insert", len(replacement.text), replacement.text),
            )
            yield from (step for step in steps if step.n)
            done = replacement.end
        yield _EditOp("rest", 0)

    def take(self, n: int) -> _EditOp:
        """Take the first `n` code points of the step at the head."""
        head = self.head
        if head.kind == "rest":
            return _EditOp("keep", n)
        if n == head.n:
            self.head = next(self._steps)
        else:
            self.head = _EditOp(head.kind, head.n - n, head.text[n:])
        return _EditOp(head.kind, n, head.text[:n])


def _composed(first: _OpStream, then: _OpStream) -> Iterator[_EditOp]:
    """Yield the steps of both streams, relative to the text before the first stream."""
    while first.head.kind != "rest" or then.head.kind != "rest":
        if first.head.kind == "delete":
            yield first.take(first.head.n)
        elif then.head.kind == "insert":
            yield then.take(then.head.n)
        else:
            n = min(one.head.n for one in (first, then) if one.head.kind != "rest")
            made, unchanged = first.take(n), then.take(n)
            if unchanged.kind == "keep":
                yield made
            elif made.kind == "keep":
                yield unchanged


def _collected(steps: Iterator[_EditOp]) -> Iterator[Replacement]:
    """Yield steps as replacements. Deletions and insertions between two kept stretches become one
    replacement.
    """
    start = end = 0
    inserted: list[str] = []
    for step in steps:
        if step.kind == "keep":
            if end > start or inserted:
                yield Replacement(start, end, "".join(inserted))
                inserted = []
            start = end = end + step.n
        elif step.kind == "delete":
            end += step.n
        else:
            inserted.append(step.text)
    if end > start or inserted:
        yield Replacement(start, end, "".join(inserted))
