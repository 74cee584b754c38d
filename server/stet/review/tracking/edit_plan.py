"""What an edit of some hunks does, before it is sent."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise

from stet.review.errors import UndoConflict
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.line_boundaries import HunkEdit, add_line_boundaries
from stet.review.tracking.line_span import last_gap, range_of
from stet.text.buffer import TextBuffer
from stet.text.change import LineChange, TextChange
from stet.text.diff import diff_lines, line_changes
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import line_end, whole_lines
from stet.text.position import Position

Settle = Callable[[Mapping[str, tuple[int, int]]], None]


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What an edit of some hunks does, before it is sent.

    Attributes:
        edit: All of it, for the text it was made for.
        texts: What each hunk writes, by hunk.
        places: The lines that stands on afterwards, if nothing else happens.
        effects: What it does to the lines, bottom to top, each with its hunk where that is known.
        is_undo: Whether it takes accepted hunks back.
        settle: What becomes of its hunks once it has arrived, by the lines they stand on then, where
            that is neither that they are accepted nor that they are undone.
    """

    edit: TextEdit
    texts: Mapping[str, str]
    places: Mapping[str, tuple[int, int]]
    effects: tuple[tuple[str, LineChange], ...]
    is_undo: bool = False
    settle: Settle | None = None


def plan_accept(document: TextDocument, anchors: Sequence[Anchor]) -> EditPlan:
    """Return the plan for accepting hunks. `anchors` are the anchors of the hunks, in order of
    place and without a conflict.
    """
    pieces = []
    for anchor in anchors:
        assert anchor.merged is not None, "a conflict can't be accepted"
        pieces.append(HunkEdit(anchor.hunk, anchor.first, anchor.end, anchor.merged))
    return plan_write(document, pieces)


def plan_write(
    document: TextDocument, pieces: Sequence[HunkEdit], settle: Settle | None = None
) -> EditPlan:
    """Return the plan for writing `pieces`, which are in order of place and do not overlap."""
    replacements, texts, places, effects, shift = [], {}, {}, [], 0
    last, n_lines = last_gap(document.lines), len(document.lines)
    for hunk, at, end, text, before, after in add_line_boundaries(document, pieces):
        place = range_of(document.lines, at, end)
        start, stop = document.offset_at(place.start), document.offset_at(place.end)
        replacements.append(Replacement(start, stop, before + text + after))
        texts[hunk] = text
        n_old, n_new = end - at, len(whole_lines(text))
        if n_old and end == n_lines and line_end(text):
            n_new += 1  # the text ends with a line that holds nothing
        first = at if n_old else min(at, last)
        places[hunk] = (first + shift, first + shift + n_new)
        effects.append((hunk, LineChange(first, n_old, n_new)))
        shift += n_new - n_old
    effects.reverse()
    return EditPlan(TextEdit(tuple(replacements)), texts, places, tuple(effects), settle=settle)


def plan_undo(document: TextDocument, anchors: Sequence[Anchor]) -> EditPlan:
    """Return the plan for undoing accepted hunks; `anchors` are their anchors, the last accepted
    first.

    Where each stands by itself, that is to write what was there before. Else it is played through on
    a copy: a later hunk may stand within an earlier one.

    Raises:
        UndoConflict: If the user has written over one of them.
    """
    in_order = sorted(anchors, key=lambda anchor: anchor.first)
    if all(one.end < other.first for one, other in pairwise(in_order)):
        return _plan_disjoint_undo(document, in_order)
    return _plan_nested_undo(document, [copy(anchor) for anchor in anchors])


def _plan_nested_undo(document: TextDocument, ghosts: Sequence[Anchor]) -> EditPlan:
    """Return the plan for undoing nested hunks. `ghosts` are copies of the anchors, the last
    accepted first.
    """
    buffer = TextBuffer(document.text)
    texts: dict[str, str] = {}
    for ghost in ghosts:
        if ghost.merged is None:
            raise UndoConflict(ghost.hunk)
        texts[ghost.hunk] = ghost.merged
        n_before, n_old = len(buffer.lines), ghost.end - ghost.first
        _ = buffer.apply(TextChange(ghost.range_in(buffer.lines), ghost.merged))
        n_new = n_old + len(buffer.lines) - n_before
        # Not the smallest difference: that may cut through another one.
        effect = LineChange(ghost.first, n_old, n_new)
        for other in ghosts:
            if other is not ghost:
                _ = other.apply_change(effect)
                _ = other.refresh(buffer.lines)
        ghost.move_to(ghost.first, ghost.first + n_new)
    effects = line_changes(0, document.lines, buffer.lines)
    return EditPlan(
        _difference(document, buffer.lines),
        texts,
        {ghost.hunk: (ghost.first, ghost.end) for ghost in ghosts},
        tuple(("", effect) for effect in effects),
        is_undo=True,
    )


def _plan_disjoint_undo(document: TextDocument, anchors: Sequence[Anchor]) -> EditPlan:
    """Return the plan for undoing disjoint hunks. `anchors` are in order of place, with lines
    between them.
    """
    pieces = []
    for anchor in anchors:
        if anchor.merged is None:
            raise UndoConflict(anchor.hunk)
        pieces.append(HunkEdit(anchor.hunk, anchor.first, anchor.end, anchor.merged))
    return replace(plan_write(document, pieces), is_undo=True)


def _difference(document: TextDocument, lines: Sequence[str]) -> TextEdit:
    """Return the edit that turns the text of `document` into `lines`."""
    return TextEdit(
        tuple(
            Replacement(
                document.offset_at(Position(hunk.old_start, 0)),
                document.offset_at(Position(hunk.old_start + len(hunk.old), 0)),
                "".join(hunk.new),
            )
            for hunk in diff_lines(document.lines, lines)
        )
    )
