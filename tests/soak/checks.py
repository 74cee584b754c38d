"""Invariants of a simulated workspace, checked after every operation."""

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence

from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState
from stet.text.edit import TextChange
from stet.text.lines import line_end, whole_lines, without_end
from stet.text.position import Position, Range
from tests.soak.journal import MemoryJournal
from tests.soak.simulated_document import URI, WORD, SimulatedDocument, words_of


class Violation(AssertionError):
    """A violated invariant."""


class CheckedDocument(SimulatedDocument):
    """A document and the ledger that tracks it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.journal = MemoryJournal()
        self.ledger = self._new_ledger()
        self.n_checks = 0
        self._given_up: set[str] = set()
        self._doubled: set[str] = set()
        self._buried: set[str] = set()

    def _new_ledger(self) -> ReviewLedger:
        """Return the ledger of a server that has just started."""
        return ReviewLedger(self.journal)

    def _pending(self) -> list[Hunk]:
        return [h for h in self.ledger.live(URI) if h.state is HunkState.PENDING]

    def _follow(self, changes: Sequence[TextChange], *, apply: bool = False) -> None:
        if apply:
            changes = [self.buffer.apply(change) for change in changes]
        self.ledger.apply_changes(URI, tuple(changes), self.buffer.lines)
        words = Counter(WORD.findall(self.buffer.text))
        self._doubled |= {word for word, n in words.items() if n > 1}

    def _is_in_order(self) -> bool:
        """Check that anchors are in order, as the ledger finds them by binary search."""
        track = self.ledger._store.tracked(URI)  # a wrong order would otherwise show much later
        places = [] if track is None else [(one.first, one.end) for one in track.live]
        bounds = [line for place in places for line in place]
        return bounds == sorted(bounds) and max(bounds, default=0) <= len(self.buffer.lines)

    def _check(self) -> None:
        self.n_checks += 1
        if not self._is_in_order():
            raise Violation("places of hunks are out of order")
        document, end = self._document(), 0
        words = Counter(WORD.findall(document.text))
        self._doubled |= {word for word, n in words.items() if n > 1}
        for hunk in self.ledger.live(URI):
            start, stop = document.offset_at(hunk.range.start), document.offset_at(hunk.range.end)
            if start < end:
                raise Violation(f"{hunk.id} overlaps the one before it")
            end = stop
            if document.text[start:stop] != hunk.old:
                raise Violation(f"{hunk.id} says {hunk.old!r}, not {document.text[start:stop]!r}")
            after = document.text[stop:]
            joins = hunk.new and after and not hunk.new.endswith(("\n", "\r"))
            if joins and hunk.state is HunkState.PENDING:
                raise Violation(f"{hunk.id} would join its last line with the one behind: {hunk}")
            if hunk.state is HunkState.SENT:
                raise Violation(f"{hunk.id} is on its way for ever")
            self._check_position(hunk)
        all_pending = [hunk.id for hunk in self._pending()]
        wanted = self.ledger.edit_of(document, all_pending).apply(document.text)
        if "\r\n" in wanted and re.search(r"\r(?!\n)", wanted):
            raise Violation("a line end was torn")

    def _check_position(self, hunk: Hunk) -> None:
        """Check that a hunk is on the lines that it was made against, if they are contiguous."""
        # An empty line at the edge of a hunk, or a line after the last line end, may be anyone's.
        own = [without_end(line) for line in whole_lines(self.journal.hunks[hunk.id].old)]
        if not own or not words_of(own[0]) or not words_of(own[-1]):
            return
        lines = [without_end(line) for line in self.buffer.lines]
        ends_text = hunk.proposed and not line_end(hunk.proposed)
        # The rest of two words may form a third. Another hunk may write the same lines, or has
        # restored them; and an editor that applies an edit in part duplicates lines.
        others = [
            h.proposed + h.new + (h.old if h.state is HunkState.UNDONE else "")
            for h in self.journal.hunks.values()
            if h.id != hunk.id
        ]
        copied = self._doubled | self._composed | words_of("\n".join(others)).keys()
        if (
            ends_text
            or hunk.range.end.line >= len(lines) - 1
            or copied & words_of("\n".join(own)).keys()
        ):
            return
        places = [at for at in range(len(lines)) if lines[at : at + len(own)] == own]
        if not places or hunk.id in self._buried:
            return
        # A hunk must not displace another either.
        gaps = {h.range.start.line for h in self.ledger.live(URI) if h.id != hunk.id}
        if any(not gaps.isdisjoint(range(at + 1, at + len(own))) for at in places):
            return
        if places != [hunk.range.start.line]:
            raise Violation(f"{hunk.id} should be on line {places}: {hunk}")
        if [without_end(line) for line in whole_lines(hunk.old)] != own:
            raise Violation(f"{hunk.id} should be on its lines {own}, and no others: {hunk}")

    def _note_buried(self) -> None:
        """Record the hunks whose lines lie among those of another: their lines are ambiguous."""
        live, lines = self.ledger.live(URI), [without_end(line) for line in self.buffer.lines]
        for hunk in live:
            own = [without_end(line) for line in whole_lines(self.journal.hunks[hunk.id].old)]
            for other in live if own else ():
                there = lines[other.range.start.line : other.range.end.line]
                if other is not hunk and not set(own).isdisjoint(there):
                    self._buried.add(hunk.id)

    def _check_requested_text(
        self, before: str, wanted: str, hunks: Sequence[Hunk], *, back: bool
    ) -> None:
        """Check that an edit removes only the hunks' old words and adds only their new words."""
        had, has = words_of(before), words_of(wanted)
        taken = {word for h in hunks for word in (*words_of(h.base), *words_of(h.old))}
        brought = {word for h in hunks for word in (*words_of(h.proposed), *words_of(h.new))}
        if back:
            taken, brought = brought, taken
        if lost := [word for word in had if word not in has and word not in taken]:
            raise Violation(f"the edit loses {lost}")
        if more := [word for word in has if word not in had and word not in brought]:
            raise Violation(f"the edit brings {more}")
        once = {w for w in had if w not in brought and before.count(w) == wanted.count(w) == 1}
        if [word for word in had if word in once] != [word for word in has if word in once]:
            raise Violation("the edit turns the order of words round")
        if not back:
            self._check_merge(hunks, has)

    def _check_merge(self, hunks: Sequence[Hunk], has: dict[str, None]) -> None:
        """Check that the agent's text and the user's later text are there; only text that the agent
        removed and the user did not write may be gone."""
        for hunk in hunks:
            if hunk.old == hunk.new:
                continue
            # An amended hunk, or one over the user's text, was made against the text at that time.
            base = words_of(hunk.base) | words_of(self.journal.hunks[hunk.id].old)
            proposed = words_of(hunk.proposed)
            if missing := [
                w for w in proposed if w not in base and w not in has and w in words_of(hunk.new)
            ]:
                raise Violation(f"the agent's {missing} did not come")
            if lost := [w for w in words_of(hunk.old) if w not in has and w not in base]:
                raise Violation(f"the user's {lost} got lost in {hunk}")

    def _states(self) -> dict[str, tuple[HunkState, str, Range]]:
        return {h.id: (h.state, h.new, h.range) for h in self.ledger.live(URI)}

    def _views(self) -> list[Hunk]:
        """Return every hunk; decided hunks without their place, which is computed when needed."""
        live = {hunk.id for hunk in self.ledger.live(URI)}
        views = [dataclasses.replace(h, reason="", changed=0) for h in self.ledger.hunks(uri=URI)]
        top = Range(Position(0, 0), Position(0, 0))
        decided = [dataclasses.replace(h, range=top) for h in views if h.id not in live]
        decided.sort(key=lambda hunk: hunk.id)
        return [hunk for hunk in views if hunk.id in live] + decided

    def _are_as(self, before: dict[str, tuple[HunkState, str, Range]], reported: str) -> None:
        """Check that pending hunks are as `before`; conflicts may have been resolved."""
        now = self._states()
        for hunk_id, was in before.items():
            # A user who types the text of an abandoned edit looks like an editor that applies it
            # late: that hunk is accepted.
            is_late = hunk_id in self._given_up and hunk_id not in now
            # The undo may have restored missing lines.
            is_found = was[2].start == was[2].end and bool(self.ledger.hunk(hunk_id).old)
            if is_late or is_found:
                continue
            if was[0] is HunkState.PENDING and now.get(hunk_id) != was:
                raise Violation(f"{reported} left {hunk_id} {now.get(hunk_id)}, not {was}")

    def _expect(self, hunk_id: str, state: HunkState) -> None:
        if (hunk := self.ledger.hunk(hunk_id)).state is not state:
            raise Violation(f"{hunk_id} should be {state}: {hunk}")

    def _expect_taken_back(self, hunks: Sequence[Hunk]) -> None:
        """Check that hunks undone in the editor are pending, unless another has their place."""
        for hunk in hunks:
            state = self.ledger.hunk(hunk.id).state
            if state not in {HunkState.PENDING, HunkState.UNDONE}:
                raise Violation(f"{hunk.id} was undone in the editor, and is {state}")

    def _expect_all(self, hunks: Sequence[Hunk], state: HunkState) -> None:
        for hunk in hunks:
            self._expect(hunk.id, state)
