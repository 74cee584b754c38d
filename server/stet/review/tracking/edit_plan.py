r"""Plans of edits: the effect of an edit of some hunks, before the edit is sent.

The lines that an edit writes, and the lines beside them, stay separate lines
(`add_line_boundaries`). The user may have removed a line end, or inserted one of another kind.
Without a line end a last line would be joined with the next line, and a `\r` and a `\n` that meet
would become one line end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from stet.review.errors import UndoConflict
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.tracked_span import last_gap
from stet.text.buffer import TextBuffer
from stet.text.diff import line_changes, line_edit
from stet.text.document import TextDocument
from stet.text.edit import LineChange, Replacement, TextChange, TextEdit
from stet.text.lines import dominant_line_end, line_end, whole_lines
from stet.text.position import Position

Settle = Callable[[Mapping[str, tuple[int, int]]], None]


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The effect of an edit of some hunks, before the edit is sent.

    Attributes:
        edit: The whole edit of the present text.
        texts: The text that each hunk writes, by hunk.
        places: The lines of these texts after the edit, if nothing else changes.
        effects: Pairs of a hunk's id ("" if the hunk is not known) and a change of lines, bottom to
            top, so that each line number is also one of the text before the edit.
        steps: The changes of lines one after the other, each in lines of the text after the earlier
            ones, if `effects` are only the difference of two texts.
        is_undo: Whether the edit undoes accepted hunks.
        settle: A function to be called with the lines of the hunks after the edit has arrived, if
            the hunks are then neither accepted nor undone.
    """

    edit: TextEdit
    texts: Mapping[str, str]
    places: Mapping[str, tuple[int, int]]
    effects: tuple[tuple[str, LineChange], ...]
    steps: tuple[LineChange, ...] = ()
    is_undo: bool = False
    settle: Settle | None = None


class HunkEdit(NamedTuple):
    """The part of an edit that one hunk writes.

    Attributes:
        hunk: The id of the hunk.
        first: The first replaced line, 0-based.
        end: The line after the last replaced line.
        text: The text to write.
        prefix: The line end to write first, because the line above has none; else empty.
        suffix: A carriage return to write last, where an empty text would join two line ends.
    """

    hunk: str
    first: int
    end: int
    text: str
    prefix: str = ""
    suffix: str = ""


def plan_accept(document: TextDocument, anchors: Sequence[Anchor]) -> EditPlan:
    """Return the plan for accepting hunks.

    `anchors` are the anchors of the hunks, in order of place and without conflicts.
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
    for hunk, at, end, text, prefix, suffix in add_line_boundaries(document, pieces):
        start, stop = _offsets(document, at, end)
        replacements.append(Replacement(start, stop, prefix + text + suffix))
        texts[hunk] = text
        n_old, n_new = end - at, len(whole_lines(text))
        if n_old and end == n_lines and line_end(text):
            n_new += 1  # the text ends with an empty line
        first = at if n_old else min(at, last)
        places[hunk] = (first + shift, first + shift + n_new)
        effects.append((hunk, LineChange(first, n_old, n_new)))
        shift += n_new - n_old
    effects.reverse()
    return EditPlan(TextEdit(tuple(replacements)), texts, places, tuple(effects), settle=settle)


def plan_undo(document: TextDocument, anchors: Sequence[Anchor]) -> EditPlan:
    """Return the plan for undoing accepted hunks; `anchors` are theirs, the last accepted first.

    Disjoint hunks are written at once. Otherwise the hunks are undone one after the other on a
    copy, because a later hunk may be within an earlier one.

    Raises:
        UndoConflict: If the user has changed the text of a hunk.
    """
    in_order = sorted(anchors, key=lambda anchor: anchor.first)
    if any(one.end >= other.first for one, other in pairwise(in_order)):
        return _plan_nested_undo(document, [copy(anchor) for anchor in anchors])
    for anchor in in_order:
        if anchor.merged is None:
            raise UndoConflict(anchor.hunk)
    return replace(plan_accept(document, in_order), is_undo=True)


def _plan_nested_undo(document: TextDocument, ghosts: Sequence[Anchor]) -> EditPlan:
    """Return the plan for undoing nested hunks; `ghosts` are copies of the anchors, last first."""
    buffer = TextBuffer(document.text)
    texts: dict[str, str] = {}
    steps = []
    for ghost in ghosts:
        if ghost.merged is None:
            raise UndoConflict(ghost.hunk)
        texts[ghost.hunk] = ghost.merged
        n_before, n_old = len(buffer.lines), ghost.end - ghost.first
        _ = buffer.apply(TextChange(ghost.range_in(buffer.lines), ghost.merged))
        n_new = n_old + len(buffer.lines) - n_before
        # The smallest difference may cut through another hunk, so it is not used.
        effect = LineChange(ghost.first, n_old, n_new)
        steps.append(effect)
        for other in ghosts:
            if other is not ghost:
                _ = other.apply_change(effect)
                _ = other.refresh(buffer.lines)
        ghost.end = ghost.first + n_new
    effects = line_changes(0, document.lines, buffer.lines)
    return EditPlan(
        line_edit(document.lines, buffer.lines),
        texts,
        {ghost.hunk: (ghost.first, ghost.end) for ghost in ghosts},
        tuple(("", effect) for effect in effects),
        tuple(steps),
        is_undo=True,
    )


def add_line_boundaries(document: TextDocument, pieces: Sequence[HunkEdit]) -> Sequence[HunkEdit]:
    """Return `pieces`, in order of place and disjoint, with the line ends that they need."""
    spans = [_offsets(document, piece.first, piece.end) for piece in pieces]
    done: list[HunkEdit] = []
    below, upto = "", document.length
    # From the bottom up, so that the text after a piece is known.
    for piece, (start, stop), above in reversed(
        [*zip(pieces, spans, _characters_before(document, pieces, spans), strict=True)]
    ):
        below = document.character_at(stop) if stop < upto else below
        new_text, prefix, suffix = piece.text, "", ""
        if new_text and below and not line_end(new_text):
            new_text += _end_for(document, piece)
        if new_text.endswith("\r") and below == "\n":
            new_text += "\n"
        if new_text and above and not line_end(above):
            prefix = _end_for(document, piece)
        elif new_text.startswith("\n") and above == "\r":
            new_text = f"\r{new_text}"
        elif not new_text and above == "\r" and below == "\n":
            suffix = "\r"
        done.append(piece._replace(text=new_text, prefix=prefix, suffix=suffix))
        below, upto = (new_text or suffix)[:1] or below, start
    return done[::-1]


def _offsets(document: TextDocument, first: int, end: int) -> tuple[int, int]:
    """Return the offsets of the start and end of whole lines, in code points."""
    return document.offset_at(Position(first, 0)), document.offset_at(Position(end, 0))


def _characters_before(
    document: TextDocument, pieces: Sequence[HunkEdit], spans: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """Yield the character of the text before each piece; `""` at the start or after a piece."""
    above, done = "", 0
    for piece, (start, stop) in zip(pieces, spans, strict=True):
        above = document.character_at(start - 1) if done < start else above
        yield above
        above, done = "" if piece.text else above, stop


def _end_for(document: TextDocument, piece: HunkEdit) -> str:
    """Return the line end of the lines of a piece or the line above; else the dominant one."""
    near = document.lines[max(piece.first - 1, 0) : piece.end]
    ends = filter(None, map(line_end, reversed(near)))
    return next(ends, "") or dominant_line_end(document.text)
