"""Texts that a document had around accepted edits, and the state of its hunks in each.

The editor's undo and redo lead back to such a text. Of neighbouring hunks the reported difference does
not tell which were undone; the text as a whole does. A text is known by its number of lines and a hash of
them; the texts themselves are not kept.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stet.review.proposal import Hunk
from stet.review.tracking.line_span import text_hash
from stet.text.change import TextChange

MAX_TEXTS = 32
"""How many texts of a document are known; the oldest is forgotten first."""
MAX_HUNKS = 1_000
"""How many hunks of recent edits are noted with each text."""
MAX_LINES = 50_000
"""Texts of more lines are not noted: hashing them would hold up the event loop."""
MAX_SIZE = 2_000_000
"""Code points; the same."""
_NESTED = 4
"""How many hunks on one line are looked at."""


class HunkInText(NamedTuple):
    """One hunk as it was in a text.

    Attributes:
        hunk: The hunk as it was recorded then.
        is_accepted: Whether it was accepted; else it was pending.
        first: Its first line, 0-based.
        end: The line after its last.
        text: What stood there, by its `text_hash`.
    """

    hunk: Hunk
    is_accepted: bool
    first: int
    end: int
    text: int

    def stands_in(self, lines: Sequence[str]) -> bool:
        """Return whether its text stands in its place."""
        return text_hash("".join(lines[self.first : self.end])) == self.text


class TextState(NamedTuple):
    """A text, and its hunks in order of place; at one place the pending ones in their order.

    Attributes:
        n_lines: How many lines it has.
        fingerprint: A hash of them, good within this process.
        hunks: The pending and the accepted ones.
        firsts: The first line of each of them.
    """

    n_lines: int
    fingerprint: int
    hunks: Sequence[HunkInText]
    firsts: Sequence[int]

    def may_be(self, lines: Sequence[str], typed: int | None) -> bool:
        """Return whether `lines` may be this text, judged by a few hunks.

        Args:
            lines: As many lines as this text has.
            typed: The one line that has changed, if it is one: a hunk must stand there.
        """
        if typed is not None:
            at = bisect_right(self.firsts, typed)
            near = self.hunks[max(at - _NESTED, 0) : at]
            if not any(one.end > typed and one.stands_in(lines) for one in near):
                return False
        some = (self.hunks[0], self.hunks[len(self.hunks) // 2], self.hunks[-1])
        return all(one.stands_in(lines) for one in some)


class TextStates:
    """The known texts of one document; owned and changed with its `TrackedDocument`."""

    def __init__(self) -> None:
        """None is known yet."""
        self._texts: list[TextState] = []
        self._edited: dict[str, None] = {}

    @property
    def is_any(self) -> bool:
        """Whether there are any texts."""
        return bool(self._texts)

    @property
    def edited(self) -> Iterable[str]:
        """The hunks of recent edits, at most `MAX_HUNKS`."""
        return self._edited

    def add_edited(self, hunks: Iterable[str]) -> None:
        """Note that an edit of these hunks goes to the editor."""
        for hunk in hunks:
            _ = self._edited.pop(hunk, None)
            self._edited[hunk] = None
        for hunk in list(self._edited)[:-MAX_HUNKS]:
            del self._edited[hunk]

    def note(self, lines: Sequence[str], hunks: Sequence[HunkInText]) -> None:
        """Note the hunks of a text, instead of what was noted with the same text before.

        Args:
            lines: The text.
            hunks: In any order; at one place the pending ones in theirs. Without any, nothing is noted.
        """
        if not hunks or len(lines) > MAX_LINES or sum(map(len, lines)) > MAX_SIZE:
            return
        in_order = tuple(sorted(hunks, key=lambda one: (one.first, one.end)))
        firsts = tuple(one.first for one in in_order)
        text = TextState(len(lines), fingerprint_of(lines), in_order, firsts)
        self._texts = [*(one for one in self._texts if one[:2] != text[:2]), text][-MAX_TEXTS:]

    def adopt(self, other: "TextStates", lines: Sequence[str]) -> None:
        """Add the texts that another document's `TextStates` knows, but for the present one.

        Args:
            other: Has the texts.
            lines: The present text: the states of its hunks are those that they have.
        """
        mine = {one[:2] for one in self._texts} | {(len(lines), fingerprint_of(lines))}
        others = [one for one in other._texts if one[:2] not in mine]  # noqa: SLF001 - its own kind
        self._texts = [*others, *self._texts][-MAX_TEXTS:]
        self.add_edited(other.edited)

    def find(self, changes: Sequence[TextChange], lines: Sequence[str]) -> TextState | None:
        """Return the known text that changes lead to; None if it is not known.

        What is typed is compared only where a hunk stood on its line, and a whole text is hashed only if
        its length and a few hunks of it agree.

        Args:
            changes: What has happened.
            lines: The text after it.
        """
        n_lines = len(lines)
        as_long = [one for one in self._texts if one.n_lines == n_lines]
        if not as_long:
            return None
        effects = [effect for change in changes for effect in change.effects]
        is_typed = len(effects) == 1 and effects[0].removed == effects[0].added == 1
        typed = effects[0].first if is_typed else None
        likely = [one for one in as_long if one.may_be(lines, typed)]
        if not likely or not effects:
            return None
        fingerprint = fingerprint_of(lines)
        return next((one for one in likely if one.fingerprint == fingerprint), None)


def fingerprint_of(lines: Sequence[str]) -> int:
    """Return a hash of a text that is good within this process."""
    return hash(tuple(lines))
