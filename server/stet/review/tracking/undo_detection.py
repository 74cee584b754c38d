"""The editor's undo and redo of accepted hunks, recognised by the text.

- `detect_editor_undo` compares the places of hunks. Hunks that were accepted at once are undone at
  once. If they touch, the editor reports one change that affects all of them: only together do
  their places contain the text before.
- `UndoneInEditor` tracks hunks that were undone and are pending again. A redo is recognised by the
  whole text, because a moved line looks like the redo of its deletion.
- `TextStates` stores texts around accepted edits, with the state of each hunk. The difference does
  not show which of several neighbours were undone; the whole text does. A text is identified by its
  number of lines and a hash of its lines.
- `AppliedEdit` tracks an edit as a whole, because the smallest difference does not show whose lines
  changed if hunks touch, or if lines between or beside them read alike. After an undo, all lines
  that the difference may reach, and one more on either side, read exactly as before the edit.
  Pending hunks among these lines are then in their earlier places.
"""

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from stet.review.proposal import Hunk
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.edit_plan import EditPlan
from stet.review.tracking.replay import apply_to_settled, fingerprint_of
from stet.review.tracking.tracked_span import LineSpan
from stet.text.edit import LineChange, TextChange
from stet.text.lines import split_lines, whole_lines, without_end
from stet.text.merge import Merger

MAX_TEXTS = 32
"""The number of remembered texts of a document; the oldest is dropped first."""
MAX_HUNKS = 1_000
"""The most hunks of recent edits that are recorded with each text."""
MAX_LINES = 50_000
"""Texts of more lines are not recorded: hashing them would block the event loop."""
MAX_SIZE = 2_000_000
"""The most code points of a text; longer texts are not recorded."""
_NESTED = 4
"""The most hunks on one line that are compared."""
MAX_EDITS = 16
"""The most applied edits of a document that are tracked; the oldest is dropped first."""
_MAX_REACH = 1_000
"""The most lines that the difference of a tracked edit may reach."""


class HunkInText(NamedTuple):
    """The state of one hunk in a text.

    Attributes:
        recorded: The value of the hunk at that time.
        is_accepted: Whether the hunk was accepted; otherwise it was pending.
        first: The first line of the hunk, 0-based.
        end: The line after its last line.
        text: The hash of the text of its lines.
    """

    recorded: Hunk
    is_accepted: bool
    first: int
    end: int
    text: int

    def is_present_in(self, lines: Sequence[str]) -> bool:
        """Return whether the hunk's text is on its lines."""
        return hash("".join(lines[self.first : self.end])) == self.text


class TextState(NamedTuple):
    """A text, and its hunks in order of place; at one place, pending hunks in their order.

    Attributes:
        n_lines: The number of lines of the text.
        fingerprint: A hash of the lines, valid in this process only.
        hunks: The pending and accepted hunks.
        firsts: The first line of each hunk.
    """

    n_lines: int
    fingerprint: int
    hunks: Sequence[HunkInText]
    firsts: Sequence[int]

    def may_be(self, lines: Sequence[str], typed: int | None) -> bool:
        """Return whether `lines` may be this text, judged by a few hunks.

        Args:
            lines: The current text, which has as many lines as this text.
            typed: The only changed line, if there is one: it must belong to a hunk.
        """
        if typed is not None:
            at = bisect_right(self.firsts, typed)
            near = self.hunks[max(at - _NESTED, 0) : at]
            if not any(one.end > typed and one.is_present_in(lines) for one in near):
                return False
        some = (self.hunks[0], self.hunks[len(self.hunks) // 2], self.hunks[-1])
        return all(one.is_present_in(lines) for one in some)


class TextStates:
    """The known texts of one document; owned and changed with its `TrackedDocument`.

    Attributes:
        edited: The hunks of recent edits, at most `MAX_HUNKS`.
    """

    def __init__(self) -> None:
        """Create an empty collection."""
        self._texts: list[TextState] = []
        self.edited: dict[str, None] = {}

    def __bool__(self) -> bool:
        """Return whether the collection has texts."""
        return bool(self._texts)

    def add_edited(self, hunks: Iterable[str]) -> None:
        """Record that an edit of these hunks is sent to the editor."""
        for hunk in hunks:
            _ = self.edited.pop(hunk, None)
            self.edited[hunk] = None
        for hunk in list(self.edited)[:-MAX_HUNKS]:
            del self.edited[hunk]

    def note(self, lines: Sequence[str], hunks: Sequence[HunkInText]) -> None:
        """Record the hunks of a text; replace an earlier record of the same text.

        Args:
            lines: The text.
            hunks: The hunks in any order; at one place the pending ones in their order. Without
                hunks nothing is recorded.
        """
        if not hunks or len(lines) > MAX_LINES or sum(map(len, lines)) > MAX_SIZE:
            return
        in_order = tuple(sorted(hunks, key=lambda one: (one.first, one.end)))
        firsts = tuple(one.first for one in in_order)
        text = TextState(len(lines), fingerprint_of(lines), in_order, firsts)
        self._texts = [*(one for one in self._texts if one[:2] != text[:2]), text][-MAX_TEXTS:]

    def adopt(self, other: "TextStates", lines: Sequence[str]) -> None:
        """Add the texts of another document's `TextStates`, except the present text.

        Args:
            other: The `TextStates` of the other document.
            lines: The present text, whose hunks have their present states.
        """
        mine = {one[:2] for one in self._texts} | {(len(lines), fingerprint_of(lines))}
        others = [one for one in other._texts if one[:2] not in mine]  # noqa: SLF001 - its own kind
        self._texts = [*others, *self._texts][-MAX_TEXTS:]
        self.add_edited(other.edited)

    def find(self, changes: Sequence[TextChange], lines: Sequence[str]) -> TextState | None:
        """Return the recorded text that is the result of changes; None if there is none.

        A typed line is compared only with the hunks on that line, and a whole text is hashed only
        if its length and a few of its hunks match.

        Args:
            changes: The changes, in order.
            lines: The text after the changes.
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


class UndoneHunk(NamedTuple):
    """A decided hunk that was undone or redone in the editor.

    Attributes:
        anchor: The anchor of the hunk until now.
        place: The present lines of the hunk's text: the first, and the line after the last.
        other: The text after the next undo or redo, including the user's later changes.
    """

    anchor: Anchor
    place: tuple[int, int]
    other: str


def detect_editor_undo(anchors: Iterable[Anchor], lines: Sequence[str]) -> Iterator[UndoneHunk]:
    """Yield the decided hunks whose place contains the text to which an undo leads.

    If `base` is the same text, an undo can't be recognised.

    Args:
        anchors: The anchors of decided hunks that a change has touched.
        lines: The current text.
    """
    for run in _touching(sorted(anchors, key=lambda anchor: anchor.previous_lines)):
        first, end = run[0].first, max(anchor.end for anchor in run)
        proposed = "".join(anchor.proposed for anchor in run)
        if len(run) > 1 and _were_disjoint(run) and "".join(lines[first:end]) == proposed:
            for anchor in run:
                end_line = first + len(whole_lines(anchor.proposed))
                yield UndoneHunk(anchor, (first, end_line), anchor.base)
                first = end_line
            continue
        for anchor in run:
            if not anchor.is_done or anchor.base in (anchor.current, anchor.proposed):
                continue
            # Of line ends alone, any text of the user may be the result of an undo.
            if anchor.current != anchor.proposed and _changes_line_ends_only(anchor):
                continue
            other = Merger(anchor.proposed, anchor.base).merge(anchor.current)
            if other is not None:
                yield UndoneHunk(anchor, (anchor.first, anchor.end), other)


def _changes_line_ends_only(anchor: Anchor) -> bool:
    before, after = (whole_lines(text) for text in (anchor.base, anchor.proposed))
    return list(map(without_end, before)) == list(map(without_end, after))


def _were_disjoint(run: Sequence[Anchor]) -> bool:
    """Return whether the anchors shared no lines before the last change."""
    places = [anchor.previous_lines for anchor in run]
    return all(one[1] <= later[0] for one, later in pairwise(places))


def _touching(anchors: Sequence[Anchor]) -> Iterator[list[Anchor]]:
    """Yield groups of anchors that overlap or touch; `anchors` are in order of place."""
    run: list[Anchor] = []
    end = 0
    for anchor in anchors:
        if run and anchor.first > end:
            yield run
            run = []
        end = max(end, anchor.end) if run else anchor.end
        run.append(anchor)
    if run:
        yield run


class UndoneInEditor:
    """The accepted hunks of a document that are pending again after an undo in the editor.

    Their anchors are tracked as long as the editor can redo them. Owned by a `TrackedDocument` and
    changed with it.

    Attributes:
        due: The hunks that the current message has undone; after the message they become pending.
        texts: The texts to which the editor's undo and redo may return.
        given_up: The hunks that a timed-out edit of Stet was to undo. If the edit arrives later,
            this is no undo by the user: the hunks remain undone and do not become pending.
    """

    def __init__(self) -> None:
        """Create an empty collection."""
        self.due: list[str] = []
        self.given_up: set[str] = set()
        self.texts = TextStates()
        # By hunk: its anchor, and the number of lines and hash of each text after a redo.
        self._undone: dict[str, tuple[Anchor, frozenset[tuple[int, int]]]] = {}

    def __contains__(self, hunk: str) -> bool:
        """Return whether a hunk is pending again and the editor can redo it."""
        return hunk in self._undone

    def add(self, anchor: Anchor, texts: Iterable[str]) -> None:
        """Track the hunk of `anchor`, which is pending again.

        `texts` are the possible whole texts of the document after a redo.
        """
        known = frozenset((len(split_lines(text)), hash(text)) for text in texts)
        self._undone[anchor.hunk] = anchor, known

    def is_redone(self, hunk: str, lines: Sequence[str]) -> bool:
        """Return whether a text is the result of the redo of a hunk."""
        if hunk not in self._undone:
            return False
        (_, texts), n_lines = self._undone[hunk], len(lines)
        # The length distinguishes most texts.
        return any(one == n_lines for one, _ in texts) and (n_lines, hash("".join(lines))) in texts

    def forget(self, hunk: str) -> None:
        """Forget a hunk that was decided or no longer exists."""
        self._undone.pop(hunk, None)

    def clear(self) -> None:
        """Forget all hunks: after another edit the editor has nothing to redo."""
        self._undone.clear()

    def apply_changes(self, effects: Sequence[LineChange], lines: Sequence[str]) -> list[Anchor]:
        """Move the anchors; return the touched anchors if the text of any has changed, else none.

        Args:
            effects: The changes of lines, in order, each in lines of the text after those before.
            lines: The text after the changes.
        """
        anchors = [anchor for anchor, _ in self._undone.values()]
        touched = [one for effect in effects for one in apply_to_settled(anchors, effect)]
        changed = [anchor for anchor in touched if anchor.refresh(lines)]
        for anchor in changed:
            anchor.find_base(lines, 0, len(lines))
        return touched if changed else []


class ToggledHunk(NamedTuple):
    """A hunk of an edit that was undone or redone.

    Attributes:
        hunk: The id of the hunk.
        is_undone: Whether the edit was undone; otherwise it was redone.
        place: The lines of the hunk in the text.
        other: The text of the hunk before the undo or redo.
    """

    hunk: str
    is_undone: bool
    place: tuple[int, int]
    other: str


class _HunkLines(NamedTuple):
    """The lines of one hunk before and after the edit, relative to the first tracked line."""

    hunk: str
    before: slice
    after: slice


class PendingSpans(NamedTuple):
    """The place of a hunk that the edit does not change, before and after the edit."""

    before: LineSpan
    after: LineSpan


class AppliedEdit:
    """One edit that has arrived, tracked as a whole; changed by its `TrackedDocument` only."""

    def __init__(
        self,
        plan: EditPlan,
        before: Sequence[str],
        after: Sequence[str],
        reach: tuple[int, int],
        pending: Mapping[str, PendingSpans],
    ) -> None:
        """Track the edit of `plan`, which has changed the lines `before` to `after`.

        `reach` is the part of `before` that the difference may reach; `pending` are other hunks.
        """
        top, bottom = reach
        self._is_top, self._is_bottom = top == 0, bottom == len(before)
        self._first, end = max(top - 1, 0), min(bottom + 1, len(before))
        self._end = end + len(after) - len(before)
        self._before = tuple(before[self._first : end])
        self._after = tuple(after[self._first : self._end])
        self._parts = tuple(_parts(plan, self._first))
        # Lines outside may be inserted before a hunk at the edge.
        inside = self._first + (not self._is_top), end - (not self._is_bottom)
        self._pending = {
            hunk: PendingSpans(one.before.shifted(-self._first), one.after.shifted(-self._first))
            for hunk, one in pending.items()
            if inside[0] <= one.before.first and one.before.end <= inside[1]
        }
        self._touched = False

    def apply_changes(self, effects: Iterable[LineChange]) -> bool:
        """Move with the changes of one message; return False if a change crosses the edge."""
        self._touched = False
        return all(self._apply_change(effect) for effect in effects)

    def _apply_change(self, change: LineChange) -> bool:
        first, removed, added = change
        stop, delta = first + removed, added - removed
        if stop <= self._first and not self._is_top:
            self._first += delta
            self._end += delta
            return True
        if first >= self._end and not self._is_bottom:
            return True
        self._end += delta
        self._touched = True
        return first >= self._first and stop <= self._end - delta

    def forget(self, hunks: Container[str]) -> bool:
        """Forget these hunks, whose text has changed since; return False if no hunks are left."""
        self._parts = tuple(part for part in self._parts if part.hunk not in hunks)
        return bool(self._parts)

    def detect_undo(self, lines: Sequence[str]) -> Iterator[ToggledHunk]:
        """Yield the hunks of the edit, if the last changes have undone or redone the edit.

        Args:
            lines: The current text.
        """
        is_undone = self._is_undone(lines)
        if is_undone is None:
            return
        for hunk, before, after in self._parts:
            now, other = (
                (before, self._after[after]) if is_undone else (after, self._before[before])
            )
            place = (self._first + now.start, self._first + now.stop)
            yield ToggledHunk(hunk, is_undone, place, "".join(other))

    def pending_spans(self, lines: Sequence[str]) -> Iterator[tuple[str, LineSpan]]:
        """Yield the places of the other pending hunks, if the edit was undone or redone."""
        is_undone = self._is_undone(lines)
        if is_undone is None:
            return
        for hunk, (before, after) in self._pending.items():
            yield hunk, (before if is_undone else after).shifted(self._first)

    def _is_undone(self, lines: Sequence[str]) -> bool | None:
        """Return True after an undo of the edit, False after a redo, None after other changes."""
        sides = (self._before, self._after)
        if not self._touched or self._end - self._first not in map(len, sides):
            return None
        present = tuple(lines[self._first : self._end])
        return present == self._before if present in sides else None


def _parts(plan: EditPlan, first: int) -> Iterator[_HunkLines]:
    """Yield the hunks of `plan` in order of place, with lines relative to `first`."""
    shift = -first
    for hunk, (start, removed, added) in reversed(plan.effects):
        before = slice(start - first, start - first + removed)
        yield _HunkLines(hunk, before, slice(start + shift, start + shift + added))
        shift += added - removed


def applied_edit(
    plan: EditPlan, before: Sequence[str], after: Sequence[str], pending: Mapping[str, PendingSpans]
) -> AppliedEdit | None:
    """Return an edit that has arrived, to be tracked; None if it is enough to track its hunks.

    Args:
        plan: The plan of the edit.
        before: The lines of the text before the edit.
        after: The lines of the text after the edit.
        pending: The places of the hunks that the edit does not change.
    """
    if plan.is_undo or plan.settle or not plan.effects:
        return None
    (_, last), (_, first) = plan.effects[0], plan.effects[-1]
    hunks = first.first, last.first + last.removed
    reach = _reach(before, after, *hunks)
    if len(plan.effects) < 2 and reach == hunks:
        return None
    grown = sum(change.added - change.removed for _, change in plan.effects)
    if hunks[1] == len(before) and last.added == 0 and not after[-1]:
        grown += 1  # an empty line follows the new last line end
    if reach[1] - reach[0] > _MAX_REACH or len(after) - len(before) != grown:
        return None
    return AppliedEdit(plan, before, after, reach, pending)


def _reach(before: Sequence[str], after: Sequence[str], top: int, bottom: int) -> tuple[int, int]:
    """Return the lines of `before` that a smallest difference to `after` may include.

    All changes are between `top` and `bottom`. If lines beside the changed lines read like them, a
    difference may report the change further up or down.
    """
    n_before, n_after = len(before), len(after)
    shorter = min(n_before, n_after)
    alike_above, most = top, min(shorter, bottom + _MAX_REACH)
    while alike_above < most and before[alike_above] == after[alike_above]:
        alike_above += 1
    alike_below, most = n_before - bottom, min(shorter, n_before - top + _MAX_REACH)
    while alike_below < most and before[-1 - alike_below] == after[-1 - alike_below]:
        alike_below += 1
    return (
        min(top, shorter - alike_below),
        max(bottom, n_before - min(alike_below, shorter - alike_above)),
    )
