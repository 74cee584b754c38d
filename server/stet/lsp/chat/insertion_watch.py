"""Detect that an insertion has arrived, from the changes of a text and the lines around them alone.

Editors report an insertion in different ways: in repeated text, at another place with the same
result; as whole lines; in several changes; or together with text that the user typed meanwhile.
Only the changed lines and as many characters around them as were inserted are read, so a keystroke
costs the same in a long text as in a short one.

`EarlierLines` returns the lines before the latest changes without a copy of the text: as ranges of
the current lines, and the replaced lines between them. Its cost depends on the number of changes,
not on the length of the text. Line numbers are 0-based.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stet.text.edit import Splice, TextChange
from stet.text.lines import n_breaks
from stet.text.sequence import n_common


class ChangedLines(NamedTuple):
    """A range of lines that differ from those of an earlier text.

    Attributes:
        first: The first line, in the current text.
        end: The line after the last one, in the current text.
        earlier_first: The first line, in the earlier text.
        earlier_end: The line after the last one, in the earlier text.
    """

    first: int
    end: int
    earlier_first: int
    earlier_end: int


class EarlierLines:
    """The lines of a text with changes reversed, the latest change first.

    The text must not change while this object is in use.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """Start with the current text.

        Args:
            lines: The lines of the text, which are not copied.
        """
        self._lines = lines
        self._pieces: list[tuple[Sequence[str], int, int]] = [(lines, 0, len(lines))]

    def replace(self, first: int, end: int, lines: Sequence[str]) -> None:
        """Replace the lines from `first` to before `end` with `lines`, which are not copied."""
        start, stop = self._split(first), self._split(end)
        self._pieces[start:stop] = [(lines, 0, len(lines))]

    def between(self, first: int, end: int) -> list[str]:
        """Return the lines from `first` to before `end`."""
        start, stop = self._split(first), self._split(end)
        return [line for lines, low, high in self._pieces[start:stop] for line in lines[low:high]]

    def around(self, first: int, end: int, size: int) -> tuple[str, str]:
        """Return the text before line `first` and the text from line `end` on.

        Args:
            first: The line after the first text.
            end: The first line of the second text.
            size: The most characters (code points) of each; fewer are returned only where the text
                begins or ends.
        """
        start, stop = self._split(first), self._split(end)
        above = (
            lines[line]
            for lines, low, high in reversed(self._pieces[:start])
            for line in range(high - 1, low - 1, -1)
        )
        below = (
            lines[line] for lines, low, high in self._pieces[stop:] for line in range(low, high)
        )
        head = "".join(reversed(_take(size, above)))
        return head[max(len(head) - size, 0) :], "".join(_take(size, below))[:size]

    def changed(self, max_gap: int) -> Sequence[ChangedLines]:
        """Return the ranges of lines that were replaced, in order.

        Args:
            max_gap: The most unchanged lines between two changes that become one range.
        """
        first = earlier_first = earlier = 0
        ranges: list[ChangedLines] = []
        for lines, low, high in self._pieces:
            if lines is self._lines:
                is_after_change = (low, earlier) != (first, earlier_first)
                is_gap = high - low > max_gap
                if is_after_change and is_gap:
                    ranges.append(ChangedLines(first, low, earlier_first, earlier))
                if not is_after_change or is_gap:
                    first, earlier_first = high, earlier + high - low
            earlier += high - low
        if (len(self._lines), earlier) != (first, earlier_first):
            ranges.append(ChangedLines(first, len(self._lines), earlier_first, earlier))
        return ranges

    def _split(self, line: int) -> int:
        """Make a piece begin at `line`, and return its index; the number of pieces at the end."""
        for index, (lines, low, high) in enumerate(self._pieces):
            if line <= 0:
                return index
            if line < high - low:
                middle = low + line
                self._pieces[index : index + 1] = [(lines, low, middle), (lines, middle, high)]
                return index + 1
            line -= high - low
        return len(self._pieces)


def _take(size: int, lines: Iterable[str]) -> list[str]:
    """Return the first lines of `lines` that have at least `size` characters together, or all."""
    taken: list[str] = []
    for line in lines:
        if size <= 0:
            break
        taken.append(line)
        size -= len(line)
    return taken


MAX_TOGETHER = 20
"""The most changes, of several messages, that are examined as one change."""
MAX_IN_ORDER = 200
"""The most changes of one message that are reversed one by one.

If a message has more changes, the difference between the two whole texts is used.
"""
MAX_CHARACTERS = 1_000_000
"""The most characters of changed lines that are examined as one change."""
MAX_GAP = 20
"""The most lines between two changes that are examined as one, unless the insertion has more."""


class InsertionWatch:
    """The search for one insertion in the changes of a text, until it has arrived.

    Attributes:
        has_come: Whether the insertion has arrived.
    """

    def __init__(self, new: str) -> None:
        """Start to look for the insertion of `new`."""
        self.has_come = False
        self._new = new
        self._changes: list[TextChange] = []

    def follow(self, changes: Sequence[TextChange], lines: Sequence[str]) -> None:
        """Look for the insertion in changes of the text.

        Args:
            changes: The changes of one message, in order.
            lines: The lines of the text after them.
        """
        if self.has_come or not changes:
            return
        n_together = len(self._changes) + len(changes)
        earlier = self._changes[:] if n_together <= MAX_TOGETHER else []
        self._changes += changes
        self.has_come = is_among(self._new, changes, lines, earlier)


def is_among(
    new: str, changes: Sequence[TextChange], lines: Sequence[str], earlier: Sequence[TextChange]
) -> bool:
    """Return whether changes contain an insertion: alone, with other text, or as several changes.

    The cost depends on the changes, not on the length of the text.

    Args:
        new: The inserted text. Where it was inserted does not matter.
        changes: The changes, in order. If a change has no splice, the result is False.
        lines: The lines of the text after the changes.
        earlier: The previous changes; no single one of them is the insertion.
    """
    splices = [change.splice for change in (*earlier, *changes)]
    known = [splice for splice in splices if splice is not None]
    if len(known) < len(splices):
        return False
    if len(known) > MAX_IN_ORDER:
        return _is_among_many(new, known, lines)
    text = EarlierLines(lines)
    for nth, (first, before, after) in enumerate(reversed(known)):
        end = first + len(after)
        if nth < len(changes):
            context = text.around(first, end, _context_size(new))
            if _is_inserted(new, before, after, context):
                return True
        text.replace(first, end, before)
    max_gap = max(MAX_GAP, n_breaks(new))
    return len(known) > 1 and any(
        _is_range_inserted(new, lines, text, changed) for changed in text.changed(max_gap)
    )


def _is_among_many(new: str, splices: Sequence[Splice], lines: Sequence[str]) -> bool:
    """Return whether one of many changes, or several close to each other, insert `new`.

    The changes are the difference of two whole texts, from the bottom to the top, so that later
    changes only shift the lines of earlier ones. Changes in another order are examined one by one,
    without the surrounding lines. Only changes that make a line with the longest line of `new` are
    examined.
    """
    longest = max(new.splitlines(), key=len, default="")
    groups = _groups(splices, lines, max(MAX_GAP, n_breaks(new)))
    if groups is None or any(sum(map(len, group.after)) > MAX_CHARACTERS for group in groups):
        groups = [Splice(-1, splice.before, splice.after) for splice in splices]
    n_examined = 0
    for first, before, after in groups:
        if not any(longest in line for line in after):
            continue
        n_examined += 1
        if n_examined > MAX_IN_ORDER:
            return False
        context = "", ""
        if first >= 0:
            context = EarlierLines(lines).around(first, first + len(after), _context_size(new))
        if _is_inserted(new, before, after, context):
            return True
    return False


def _groups(
    splices: Sequence[Splice], lines: Sequence[str], max_gap: int
) -> Sequence[Splice] | None:
    """Join changes that are close to each other.

    Args:
        splices: The changes, from the bottom to the top.
        lines: The lines of the text after them.
        max_gap: The most lines between two changes that are joined.

    Returns:
        The joined changes from the top to the bottom, with line numbers of the text after all of
        them; None if the changes are not in order.
    """
    groups: list[tuple[int, int, list[str]]] = []
    n_moved = end = 0
    for splice in reversed(splices):
        first = splice.first + n_moved
        if first < end or list(lines[first : first + len(splice.after)]) != list(splice.after):
            return None
        if groups and first - end <= max_gap:
            top, _, before = groups.pop()
            before += [*lines[end:first], *splice.before]
        else:
            top, before = first, list(splice.before)
        n_moved += len(splice.after) - len(splice.before)
        end = first + len(splice.after)
        groups.append((top, end, before))
    return [Splice(top, before, lines[top:end]) for top, end, before in groups]


def _is_range_inserted(
    new: str, lines: Sequence[str], earlier: EarlierLines, changed: ChangedLines
) -> bool:
    """Return whether `new` was inserted where a range of lines has changed; False for a very long
    range.
    """
    after = lines[changed.first : changed.end]
    if sum(map(len, after)) > MAX_CHARACTERS:
        return False
    before = earlier.between(changed.earlier_first, changed.earlier_end)
    context = EarlierLines(lines).around(changed.first, changed.end, _context_size(new))
    return _is_inserted(new, before, after, context)


def _context_size(new: str) -> int:
    """Return how many characters to read around changed lines: the length of `new` with any line
    ends.
    """
    return len(new) + n_breaks(new)


def _is_inserted(
    new: str, before: Sequence[str], after: Sequence[str], context: tuple[str, str]
) -> bool:
    """Return whether lines changed because `new` was inserted.

    All line ends are equal here: an editor may convert the line ends of a text at any time.

    Args:
        new: The inserted text.
        before: The lines before the change.
        after: The lines after it.
        context: The text before and after those lines, which did not change.
    """
    head, tail = context
    return _holds_once_more(
        _with_line_feeds(new),
        _with_line_feeds(f"{head}{''.join(before)}{tail}"),
        _with_line_feeds(f"{head}{''.join(after)}{tail}"),
    )


def _holds_once_more(new: str, before: str, after: str) -> bool:
    """Return whether `after` is `before` with `new` inserted anywhere, or holds `new` once more."""
    n = len(after) - len(before)
    start, end = n_common(before, after), n_common(before[::-1], after[::-1])
    # The inserted text may begin anywhere between these two places: the surrounding text is equal.
    if n == len(new) and after.find(new, max(len(before) - end, 0), start + n) >= 0:
        return True
    # The common start and the common end contain `new` equally often.
    end = min(end, len(before) - start, len(after) - start)
    first, last = max(start - len(new), 0), max(end - len(new), 0)
    before, after = before[first : len(before) - last], after[first : len(after) - last]
    return after.count(new) > before.count(new)


def _with_line_feeds(text: str) -> str:
    r"""Return `text` with `\n` as its only line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
