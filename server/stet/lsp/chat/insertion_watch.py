"""Whether an insertion has arrived, told from the changes of a text and the lines round them alone.

Editors report an insertion as they like: where text repeats itself, at another of several places that
come to the same; as whole lines; in several changes; or together with what was typed meanwhile. No more
of the text is read than the changed lines and as many characters around them as were inserted, so that
a keystroke costs the same in a long text as in a short one.
"""

from collections.abc import Sequence

from stet.chat.earlier_lines import ChangedLines, EarlierLines
from stet.text.change import Splice, TextChange
from stet.text.lines import n_breaks

MAX_TOGETHER = 20
"""The most changes, of several messages, that are examined as one change."""
MAX_IN_ORDER = 200
"""The most changes of one message that are taken back one after the other; more are the difference of
two whole texts."""
MAX_CHARACTERS = 1_000_000
"""The most characters of changed lines that are examined as one change."""
MAX_GAP = 20
"""The most lines between two changes that are examined as one, unless the insertion has more."""


class InsertionWatch:
    """Follows a text from the moment an insertion was sent until it has arrived.

    Attributes:
        has_come: Whether the insertion has arrived.
    """

    def __init__(self, new: str) -> None:
        """Wait for the insertion of `new`."""
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
    new: str,
    changes: Sequence[TextChange],
    lines: Sequence[str],
    earlier: Sequence[TextChange] = (),
) -> bool:
    """Return whether an insertion is among changes: alone, with other text, or as several of them.

    The cost depends on the changes, not on the length of the text.

    Args:
        new: The inserted text. Where it was inserted does not matter.
        changes: The changes, in order. Without the splice of each of them the result is False.
        lines: The lines of the text after the changes.
        earlier: The changes before those, none of which is the insertion alone.
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

    They are the difference of two whole texts: in order from the bottom to the top, so that the later
    ones only move the lines of the earlier ones. Changes that are not are examined one by one, without
    the lines around them. Only changes that make a line with the longest line of `new` are examined.
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
        The joined changes from the top to the bottom, with line numbers of the text after all of them;
        None if the changes are not in order.
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
    """Return whether `new` was inserted where a range of lines has changed; False for a very long one."""
    after = lines[changed.first : changed.end]
    if sum(map(len, after)) > MAX_CHARACTERS:
        return False
    before = earlier.between(changed.earlier_first, changed.earlier_end)
    context = EarlierLines(lines).around(changed.first, changed.end, _context_size(new))
    return _is_inserted(new, before, after, context)


def _context_size(new: str) -> int:
    """Return how many characters to read before and after changed lines: `new`, with any line ends."""
    return len(new) + n_breaks(new)


def _is_inserted(
    new: str, before: Sequence[str], after: Sequence[str], context: tuple[str, str]
) -> bool:
    """Return whether lines became others because `new` was inserted.

    Line ends count as the same: an editor may convert those of a whole text at any time.

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
    start, end = _common_start(before, after), _common_end(before, after)
    # Between these two places the inserted text may begin anywhere: the text around it is the same.
    if n == len(new) and after.find(new, max(len(before) - end, 0), start + n) >= 0:
        return True
    # What both begin and end with holds it equally often.
    end = min(end, len(before) - start, len(after) - start)
    first, last = max(start - len(new), 0), max(end - len(new), 0)
    before, after = before[first : len(before) - last], after[first : len(after) - last]
    return after.count(new) > before.count(new)


def _with_line_feeds(text: str) -> str:
    r"""Return `text` with `\n` as its only line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _common_start(first: str, second: str) -> int:
    """Return how many characters at their start two texts have in common."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first.startswith(second[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(first: str, second: str) -> int:
    """Return how many characters at their end two texts have in common."""
    low, high = 0, min(len(first), len(second))
    n = len(second)
    while low < high:
        middle = (low + high + 1) // 2
        if first.endswith(second[n - middle : n - low], 0, len(first) - low):
            low = middle
        else:
            high = middle - 1
    return low
