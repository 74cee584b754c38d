"""Work on very many places at once, as each keystroke does it.

Attributes are read and written in a loop here: a method call for each place costs several times as much.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from stet.review.tracking.line_span import ChangeRecord
from stet.review.tracking.tracked_span import TrackedSpan
from stet.text.change import LineChange

_Place = TypeVar("_Place", bound=TrackedSpan)


class Placement(NamedTuple):
    """What `Anchor.restore_span` needs of places, a list of each value.

    A tuple for each place would take twice the time, and the garbage collector would visit them all.

    Attributes:
        firsts: The first lines, 0-based.
        ends: The lines after the last ones.
        lost: Whether each is only where an insertion's place was lost.
        records: The changes that each remembers.
    """

    firsts: Sequence[int]
    ends: Sequence[int]
    lost: Sequence[bool]
    records: Sequence[tuple[ChangeRecord, ...]]

    def rows(self) -> Iterator[tuple[int, int, bool, tuple[ChangeRecord, ...]]]:
        """Return the values of one place after the other."""
        return zip(self.firsts, self.ends, self.lost, self.records, strict=True)


def placement_of(places: Sequence[TrackedSpan]) -> Placement:
    """Return where places stand now, in their order."""
    return Placement(
        [one.first for one in places],
        [one.end for one in places],
        [one._is_lost for one in places],  # noqa: SLF001 - read in place, as the module says
        [one._undo_records for one in places],  # noqa: SLF001 - the same
    )


def shift_all(places: Iterable[TrackedSpan], n_lines: int) -> bool:
    """Shift places down by so many lines, up if negative; return whether there were any."""
    any_shifted = False
    for one in places:
        any_shifted = True
        one.first += n_lines
        one.end += n_lines
        if one._candidates:  # noqa: SLF001 - the same
            for other in one._candidates:  # noqa: SLF001 - the same
                other.shift(n_lines)
    return any_shifted


def shift_below(places: Sequence[_Place], change: LineChange) -> list[_Place]:
    """Shift the places below a change, except where it may be the inverse of one they remember.

    Args:
        places: In any order.
        change: In lines of the text before it.

    Returns:
        The places that were not shifted, in the same order.
    """
    first, removed, added = change
    after, below, others = first + removed, [], []
    for one in places:
        if one.first <= after or (
            (one._undo_records or one._redo_records) and one.is_inverse_of_last(change)  # noqa: SLF001 - the same
        ):
            others.append(one)
        else:
            below.append(one)
    _ = shift_all(below, added - removed)
    return others
