"""The texts that a message leads through, one behind each of its changes.

What a place is after a change depends on the lines that stand there then. The text behind the last
change of a message does not tell that of an earlier one: a macro, or an undo key held down, may change
the same line many times and back. Changes with unchanged lines between them tell all by the last text,
and what is made of one difference has no texts between.

Changes that end where they began have changed nothing, whatever lines that read alike went and came.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from stet.text.change import LineChange, Splice, TextChange


class ChangeStep(NamedTuple):
    """Changes that are taken at once.

    Attributes:
        effects: Which whole lines changed, in order.
        lines: The text behind them; good until the next step is asked for.
        changes: The changes themselves.
    """

    effects: Sequence[LineChange]
    lines: Sequence[str]
    changes: Sequence[TextChange]


def replay_changes(changes: Sequence[TextChange], lines: Sequence[str]) -> Iterator[ChangeStep]:
    """Yield the steps that the text has taken.

    Args:
        changes: What happened, in order.
        lines: The text behind all of it.
    """
    effects = [effect for change in changes for effect in change.effects]
    splices = [change.splice for change in changes if change.splice is not None]
    if len(changes) < 2 or len(splices) < len(changes):
        yield ChangeStep(effects, lines, changes)
        return
    may_be_nothing = _may_cancel_out(splices)
    if not may_be_nothing and _are_disjoint(effects):
        yield ChangeStep(effects, lines, changes)
        return
    text = lines_before(splices, lines)
    if may_be_nothing and text == list(lines):
        yield ChangeStep((), lines, ())
        return
    for change, splice in zip(changes[:-1], splices, strict=False):
        _splice(text, splice.first, splice.before, splice.after)
        yield ChangeStep(change.effects, text, (change,))
    yield ChangeStep(changes[-1].effects, lines, changes[-1:])


def lines_before(splices: Sequence[Splice], lines: Sequence[str]) -> list[str]:
    """Return the lines that a text had before `splices`, in order; `lines` are those after them."""
    text = list(lines)
    for splice in reversed(splices):
        _splice(text, splice.first, splice.after, splice.before)
    return text


def _may_cancel_out(splices: Sequence[Splice]) -> bool:
    """Whether the same lines come as go."""
    came = Counter(line for splice in splices for line in splice.after)
    return came == Counter(line for splice in splices for line in splice.before)


def _splice(text: list[str], first: int, old: Sequence[str], new: Sequence[str]) -> None:
    text[first : first + len(old)] = new


def _are_disjoint(effects: Sequence[LineChange]) -> bool:
    """Whether they come in order of place, with lines between them that none has changed."""
    pairs = tuple(pairwise(effects))
    return all(later.first + later.removed < one.first for one, later in pairs) or all(
        later.first > one.first + one.added for one, later in pairs
    )
