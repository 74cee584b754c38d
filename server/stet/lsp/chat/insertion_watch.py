"""Whether an insertion has arrived, told from the changes of a text and the lines round them alone.

Editors report an insertion as they like: where text repeats itself, at another of several places that
come to the same; as whole lines; in several changes; or together with what was typed meanwhile.
"""

from collections.abc import Sequence

from stet.text.change import TextChange

MAX_TOGETHER = 20
"""Changes that are looked at as one."""
MAX_CHARACTERS = 1_000_000
"""Characters of the lines that changes have made, up to which they are looked at as one."""


class InsertionWatch:
    """Follows a text from the moment an insertion was sent until it has arrived."""

    def __init__(self, new: str) -> None:
        """`new` is what was sent to be inserted."""
        self.has_come = False
        self._new = new
        self._changes: list[TextChange] = []

    def follow(self, changes: Sequence[TextChange], lines: Sequence[str]) -> None:
        """The text has changed.

        Args:
            changes: How, in order.
            lines: Those of the text behind them.
        """
        if self.has_come or not changes:
            return
        self._changes += changes
        together = self._changes if len(self._changes) <= MAX_TOGETHER else changes
        self.has_come = is_among(self._new, together, lines)


def is_among(new: str, changes: Sequence[TextChange], lines: Sequence[str]) -> bool:
    """Whether an insertion is among changes, alone, with other text, or as all of them together.

    Args:
        new: What was to be inserted, wherever.
        changes: In order; each with its splice.
        lines: Those of the text behind them.
    """
    now = lines
    top, bottom = len(lines), len(lines)
    for nth, change in enumerate(reversed(changes)):
        if change.splice is None:
            return False
        first, before, after = change.splice
        rest = first + len(after)
        head, tail = _context_of(now, first, rest, len(new))
        if _is_inserted(new, head + "".join(before) + tail, head + "".join(after) + tail):
            return True
        top, bottom = min(top, first), min(bottom, len(now) - rest)
        if nth < len(changes) - 1 or nth:
            now = [*now[:first], *before, *now[rest:]]
    if len(changes) < 2:
        return False
    made, expected = lines[top : len(lines) - bottom], now[top : len(now) - bottom]
    if sum(map(len, made)) > MAX_CHARACTERS:
        return False
    head, tail = _context_of(lines, top, len(lines) - bottom, len(new))
    return _is_inserted(new, head + "".join(expected) + tail, head + "".join(made) + tail)


def _context_of(lines: Sequence[str], first: int, after: int, size: int) -> tuple[str, str]:
    """The text before line `first` and from line `after` on, at least `size` characters of each."""
    head: list[str] = []
    left = size
    while first and left > 0:
        first -= 1
        head.append(lines[first])
        left -= len(lines[first])
    tail: list[str] = []
    left = size
    while after < len(lines) and left > 0:
        tail.append(lines[after])
        left -= len(lines[after])
        after += 1
    return "".join(reversed(head))[-size:], "".join(tail)[:size]


def _is_inserted(new: str, before: str, after: str) -> bool:
    """Whether `after` is `before` with `new` in it, wherever, or holds it once more."""
    n = len(after) - len(before)
    if n == len(new):
        start = _common_start(before, after)
        end = _common_start(before[::-1], after[::-1])
        # At each place between these two the text before and behind it is the same.
        if after.find(new, max(len(before) - end, 0), start + n) >= 0:
            return True
    return after.count(new) > before.count(new)


def _common_start(first: str, second: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first.startswith(second[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low
