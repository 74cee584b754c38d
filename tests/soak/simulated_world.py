"""A user, an agent, an editor and a disk, simulated in one process with the real ledger.

An operation is a few numbers, interpreted in the current state, so that any part of a run is also a
run: a failing run can be minimized.
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from stet.review.errors import HunkOverlap, UndoConflict, WrongHunkState
from stet.review.proposal import LIVE, EditDraft, Hunk, HunkState
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.buffer import TextBuffer
from stet.text.diff import changes_between
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.lines import split_lines
from stet.text.position import Position, Range
from tests.soak.checks import Violation
from tests.soak.simulated_document import URI, range_of, words_of
from tests.soak.typist import Typist
from tests.support.review_harness import restore_state, rules

Op = tuple[str, int]


class SimulatedWorld(Typist):
    """One document with its user, agent, editor and disk.

    Attributes:
        operations: The operations, with their weights.
        counts: How often something has happened, by what happened.
    """

    operations: ClassVar[Mapping[str, int]] = {
        "type": 8, "type_near": 8, "type_and_undo": 3, "at_once": 4, "replace_all": 2, "move_lines": 3,
        "go_and_return": 3, "line_ends": 1,
        "propose": 8, "accept": 4, "accept_all": 1, "reject": 2, "restore": 1, "amend": 1,
        "resolve": 2, "undo": 3, "undo_in_editor": 2, "reopen": 1, "restart": 2,
    }  # fmt: skip

    def __init__(self, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        super().__init__(seed)
        self._turns = itertools.count(1)

    def do(self, op: Op) -> None:
        """Run one operation and check all invariants."""
        kind, number = op
        self._dice.seed(number)
        getattr(self, f"_{kind}")()
        self._check()

    def _propose(self) -> None:
        """Propose, as the agent, an edit of several places."""
        document = self._document()
        wanted = self._edited(document.lines)
        edit = TextEdit((Replacement(0, len(document.text), wanted),))
        turn = f"t{next(self._turns)}"
        draft = EditDraft(
            turn=turn, author="m", document=document, name="a.txt", edit=edit, summary="s"
        )
        try:
            _ = self.ledger.propose(prepare_draft(draft, rules()))
        except HunkOverlap:
            return

    def _edited(self, old: Sequence[str]) -> str:
        """Return the text of lines, changed in several places."""
        lines = list(old)
        for _ in range(self._dice.randrange(1, 4)):
            at = self._dice.randrange(len(lines))
            n = self._dice.randrange(3)
            lines[at : at + n] = [self._changed(line) for line in lines[at : at + n]]
            if self._dice.random() < 0.4:
                lines[at:at] = [self._line() for _ in range(self._dice.randrange(1, 3))]
            if self._dice.random() < 0.3:
                del lines[at : at + 1]
            lines = lines or [""]
        return "".join(lines)

    def _accept(self) -> None:
        """Accept some hunks; the editor behaves at random."""
        self._send([h for h in self._pending() if self._dice.random() < 0.4])

    def _accept_all(self) -> None:
        """Accept all hunks."""
        self._send(self._pending())

    def _reject(self) -> None:
        text = self.buffer.text
        for hunk in self.ledger.live(URI):
            if self._dice.random() < 0.4:
                self.ledger.reject(hunk.id)
        if self.buffer.text != text:
            raise Violation("rejecting changed the text")

    def _restore(self) -> None:
        for hunk in self.ledger.hunks(uri=URI):
            if self._dice.random() < 0.3:
                try:
                    restored = self.ledger.restore(hunk.id)
                except WrongHunkState:
                    continue
                # The ledger tracks decided hunks less closely: in doubt they become conflicts.
                if restored.state is HunkState.CONFLICT:
                    self._buried.add(hunk.id)

    def _amend(self) -> None:
        for hunk in self.ledger.live(URI)[:1]:
            try:
                _ = self.ledger.amend(hunk.id, hunk.new + self._line())
            except WrongHunkState:
                continue  # the hunk shares the text's last line with another hunk

    def _resolve(self) -> None:
        for hunk in self.ledger.live(URI):
            if hunk.state is HunkState.CONFLICT:
                if self._dice.random() < 0.5:
                    self.ledger.take_mine(hunk.id)
                else:
                    self._take_theirs(hunk)

    def _take_theirs(self, hunk: Hunk) -> None:
        try:
            theirs = self.ledger.take_theirs(hunk.id)
        except WrongHunkState:
            return  # the hunk shares the text's last line with another hunk
        if theirs.state is not HunkState.PENDING:
            raise Violation(f"taking theirs left {theirs}")

    def _undo(self) -> None:
        """Undo some accepted hunks through Stet."""
        done = [h for h in self.ledger.hunks(uri=URI) if h.state is HunkState.ACCEPTED]
        chosen = [h for h in done if self._dice.random() < 0.4]
        if chosen:
            self._send(chosen, back=True)

    def _undo_in_editor(self) -> None:
        """Accept one or several hunks, and use the editor's undo, and perhaps redo."""
        pending = self._pending()
        if not pending:
            return
        hunks, before = [self._dice.choice(pending)], self.buffer.text
        if self._dice.random() < 0.5:
            hunks = [hunk for hunk in pending if self._dice.random() < 0.5] or hunks
        if not all(_is_reportable(hunk, before) for hunk in hunks):
            return
        chosen, states = {hunk.id for hunk in hunks}, self._states()
        others = {hunk_id: was for hunk_id, was in states.items() if hunk_id not in chosen}
        self._send(hunks, honest=True)
        after = self.buffer.text
        self._expect_all(hunks, HunkState.ACCEPTED)
        self._follow(self.buffer.replace_all(before))
        self._expect_taken_back(hunks)
        self._are_as(others, "an accept undone")
        if self._dice.random() < 0.5:
            self._follow(self.buffer.replace_all(after))
            self._expect_all(hunks, HunkState.ACCEPTED)

    def _reopen(self) -> None:
        """Close the document, perhaps change it on the disk, and open it again."""
        self.ledger.closed(URI)
        before = self._views()
        text = self.buffer.text
        if self._dice.random() < 0.5:
            text = "".join(self._shaken(split_lines(text)))
        same = text == self.buffer.text
        if self._dice.random() < 0.5:
            self.ledger.on_disk(URI, text)
        self.buffer = TextBuffer(text)
        self.ledger.opened(URI, self.buffer.lines)
        self._note_buried()
        if same and before != self._views():
            raise Violation("closing and opening changed hunks")

    def _restart(self) -> None:
        """Kill and restart the server; the text may have changed meanwhile."""
        before, live = self._views(), {h.id for h in self.ledger.live(URI)}
        if self._dice.random() < 0.5:
            snapshot = self.ledger.anchor_snapshot(URI)
            if snapshot is not None:
                self.journal.persist((), snapshot)
        text = self.buffer.text
        if self._dice.random() < 0.3:
            text = "".join(self._shaken(split_lines(text)))
        exact = text == self.buffer.text and self.journal.positions == self.ledger.anchor_snapshot(
            URI
        )
        # An edit whose text is already there counts as having been in flight.
        # Lines that are missing from their place are searched in the rest of the text.
        exact = exact and all(h.old and h.old != h.new for h in self.ledger.live(URI))
        # After a restart, an empty last line may be the hunk's or the user's, with any line end.
        empty_last = re.compile(r"\n\r?\n\Z")
        exact = exact and not any(empty_last.search(h.old) for h in self.ledger.live(URI))
        self.buffer = TextBuffer(text)
        self.ledger = self._new_ledger()
        restore_state(self.ledger, self.journal.kept(), {URI: text})
        self.ledger.opened(URI, self.buffer.lines)
        self._note_buried()
        after = {hunk.id: hunk for hunk in self.ledger.hunks(uri=URI)}
        for hunk_id in live:
            if after[hunk_id].state not in {*LIVE, HunkState.ACCEPTED}:
                raise Violation(f"a live hunk came back as {after[hunk_id]}")
        if exact and self._views() != before:
            raise Violation(f"a restart changed\n{before}\nto\n{self._views()}")

    def _send(self, hunks: Sequence[Hunk], *, back: bool = False, honest: bool = False) -> None:
        """Send an edit to the editor, which applies it, refuses it, or reports a wrong result."""
        if not hunks:
            return
        document, before = self._document(), self.buffer.text
        ids = [hunk.id for hunk in hunks]
        try:
            edit = self.ledger.outbox.send(document, ids, back=back)
        except UndoConflict:
            return
        wanted = edit.apply(before)
        self._check_requested_text(before, wanted, hunks, back=back)
        behaviour = "apply" if honest else self._dice.choice(_BEHAVIOURS)
        self._answer(behaviour, before, wanted)
        if not self.ledger.outbox.arrived(URI):
            self.ledger.outbox.cancel(URI, "the editor did not")
            self._given_up.update(ids)
        if behaviour in ("apply", "late"):
            state = HunkState.UNDONE if back else HunkState.ACCEPTED
            for hunk_id in ids:
                self._expect(hunk_id, state)

    def _answer(self, behaviour: str, before: str, wanted: str) -> None:
        """React as the editor to an edit from `before` to `wanted`."""
        changes = [*changes_between(before, wanted)]
        match behaviour:
            case "apply":
                self._follow(self._reported_changes(wanted))
            case "late":
                _ = self.ledger.outbox.arrived(URI)
                self._follow(self._reported_changes(wanted))
            case "typed before":
                # The editor applies the edit although the user has typed since, say below the edit.
                n = len(self.buffer.text)
                tail = TextChange(range_of(self.buffer.text, n, n), self._end + self._line())
                self._follow([self.buffer.apply(tail)])
                self._follow(changes, apply=True)
            case "typed behind":
                top = TextChange(Range(Position(0, 0), Position(0, 0)), self._line())
                self._follow([*changes, top], apply=True)
            case "partly":
                self._follow([c for c in changes if self._dice.random() < 0.5], apply=True)


def _is_reportable(hunk: Hunk, text: str) -> bool:
    """Tell whether the editor's undo of the hunk, accepted in `text`, can be recognized."""
    if hunk.old == hunk.new or not (words_of(hunk.old) or words_of(hunk.new)):
        return False  # empty lines can't be told apart
    # Otherwise an editor that applied the hunk in part has left its words there.
    return not any(word in text for word in words_of(hunk.new) if word not in hunk.old)


_BEHAVIOURS = (
    "apply", "apply", "apply", "late", "refuse", "typed before", "typed behind", "partly",
)  # fmt: skip
