"""The tokens of a line, and the three-way merge of one line by its tokens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stet.text.diff import LineHunk, diff_lines
from stet.text.sequence import n_common

TOKEN = re.compile(r"\.\.\.|[\w\u0300-\u036f]+|\s+|.", re.DOTALL)
"""A word, with its combining accents, a stretch of white space or one other sign.

Three dots are one sign, as in typography.
"""

_END_OF_TOKEN = re.compile(r"\s\S")
"""White space behind a token, read backwards."""


@dataclass(frozen=True, slots=True)
class _Change:
    """Tokens that one side changed.

    Attributes:
        hunk: What became what.
        first: The first token of the old line that may be meant: what was inserted or taken away
            among its like could stand there just as well.
        last: The end of these tokens.
    """

    hunk: LineHunk
    first: int
    last: int

    def touches(self, other: "_Change", old: Sequence[str]) -> bool:
        """Whether nothing but white space of the `old` tokens lies between the two."""
        return not "".join(old[min(self.last, other.last) : max(self.first, other.first)]).strip()


def merge_tokens(base: str, ours: str, theirs: str) -> str | None:
    """Return the line `base` with the changes of both sides, if the changes are apart or equal.

    At least one word or sign that neither side has touched lies between two changes; None: not so.
    """
    head, tail = _common_ends(base, ours, theirs)
    old = TOKEN.findall(base[head : len(base) - tail])
    mine = _changes(old, TOKEN.findall(ours[head : len(ours) - tail]))
    others = _changes(old, TOKEN.findall(theirs[head : len(theirs) - tail]))
    known = {(one.hunk.old_start, one.hunk.old, one.hunk.new) for one in mine}
    others = [
        one for one in others if (one.hunk.old_start, one.hunk.old, one.hunk.new) not in known
    ]
    if any(one.touches(other, old) for one in mine for other in others):
        return None
    made: list[str] = []
    done = 0
    for hunk in sorted((one.hunk for one in (*mine, *others)), key=lambda one: one.old_start):
        made += [*old[done : hunk.old_start], *hunk.new]
        done = hunk.old_start + len(hunk.old)
    return "".join((base[:head], *made, *old[done:], base[len(base) - tail :]))


def _changes(old: Sequence[str], new: Sequence[str]) -> list[_Change]:
    """Return the changes that lead from `old` to `new`, each with its leeway."""
    return [_with_leeway(old, hunk) for hunk in diff_lines(old, new)]


def _with_leeway(old: Sequence[str], hunk: LineHunk) -> _Change:
    """How far a pure insertion or deletion can slide without another outcome."""
    first, last = hunk.old_start, hunk.old_start + len(hunk.old)
    if not (hunk.old and hunk.new):
        moved = hunk.old or hunk.new
        n = 0
        while first > 0 and old[first - 1] == moved[-1 - n % len(moved)]:
            first, n = first - 1, n + 1
        n = 0
        while last < len(old) and old[last] == moved[n % len(moved)]:
            last, n = last + 1, n + 1
    return _Change(hunk, first, last)


def _common_ends(base: str, ours: str, theirs: str) -> tuple[int, int]:
    """How many characters all three begin and end with, up to white space that parts tokens."""
    head = _before_blank(base, min(n_common(base, ours), n_common(base, theirs)))
    rest = [text[head:][::-1] for text in (base, ours, theirs)]
    tail = min(n_common(rest[0], rest[1]), n_common(rest[0], rest[2]))
    return head, _before_blank(rest[0], tail)


def _before_blank(text: str, end: int) -> int:
    """Return the last place before `end` where a token ends and white space begins, or 0."""
    found = _END_OF_TOKEN.search(text[:end][::-1])
    return end - 1 - found.start() if found else 0
