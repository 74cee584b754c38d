"""Which lines of a text have been changed, by the changes it has taken."""

from collections.abc import Iterable

from stet.text.change import LineChange, TextChange


def touched_lines(changes: Iterable[TextChange]) -> tuple[range, ...]:
    """The lines (0-based, of the text behind the last change) that a change has left its text on.

    They are in order and disjoint. A line that was only moved is none of them.
    """
    touched: list[tuple[int, int]] = []
    for change in changes:
        for effect in change.effects:
            touched = _after_change(touched, effect)
    return tuple(range(*one) for one in touched)


def _after_change(touched: list[tuple[int, int]], effect: LineChange) -> list[tuple[int, int]]:
    """The stretches (half-open) as they are after a change of lines, which adds its own."""
    first, removed, added = effect
    moved = added - removed
    found = [(first, first + added)]
    for start, end in touched:
        found.append((start, min(end, first)))
        found.append((max(start, first + removed) + moved, end + moved))
    return _merged(sorted((start, end) for start, end in found if start < end))


def _merged(ordered: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in ordered:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
