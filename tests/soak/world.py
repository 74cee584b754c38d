"""A user, an agent, an editor and a disk, simulated in one process around the real ledger.

Every word of every text is unique, so that it can be told whose it is and whether it got lost. An
operation is a few numbers that are read against the world as it is, so that any part of a run is
a run too: a failing one can be cut down.
"""

import dataclasses
import itertools
import random
import re
from collections import Counter
from collections.abc import Sequence

from stet.review.drafts import EditDraft
from stet.review.errors import CantUndo, Overlap, WrongState
from stet.review.journal import Footing, Kept
from stet.review.ledger import ReviewLedger
from stet.review.proposal import LIVE, Hunk, HunkState
from stet.text.buffer import TextBuffer
from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import line_end, split_lines, whole_lines, without_end
from stet.text.position import Position, Range
from tests.support.page import rules

URI = "file:///ws/a.txt"
_WORD = re.compile(r"w\d{5}x")

Op = tuple[str, int]
MIXED = 5
"""One world in so many has both kinds of line ends, until a tool makes them one."""


class Violation(AssertionError):
    """The world is not as it must be."""


class MemoryJournal:
    """A journal whose memory outlives the ledger, not the process."""

    def __init__(self) -> None:
        self._numbers: dict[str, itertools.count[int]] = {}
        self.hunks: dict[str, Hunk] = {}
        self.footing: Footing | None = None

    def number(self, kind: str, n: int = 1) -> int:
        numbers = self._numbers.setdefault(kind, itertools.count(1))
        first, *_ = [next(numbers) for _ in range(n)]
        return first

    def keep(self, hunks: Sequence[Hunk], *footings: Footing, decision: bool = False) -> None:
        for hunk in hunks:
            self.hunks[hunk.id] = hunk
        for footing in footings:
            self.footing = footing

    def kept(self) -> Kept:
        return Kept(tuple(self.hunks.values()), (self.footing,) if self.footing else ())


class World:
    """One document and everybody who works on it."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._words = itertools.count(1)
        self._turns = itertools.count(1)
        self.journal = MemoryJournal()
        self.ledger = ReviewLedger(self.journal)
        self._line_end = self._dice.choice(["\n", "\n", "\r\n"])
        self._is_mixed = seed % MIXED == MIXED - 1
        text = "".join(self._line() for _ in range(self._dice.randrange(12)))
        self.buffer = TextBuffer(text)
        self.is_open = True
        self.n_checks = 0
        self._given_up: set[str] = set()
        self._doubled: set[str] = set()

    @property
    def _end(self) -> str:
        """What a line ends with that is written now."""
        return self._dice.choice(["\n", "\r\n"]) if self._is_mixed else self._line_end

    # -- operations ------------------------------------------------------------------------------

    def do(self, op: Op) -> None:
        """Carry out one operation and look whether all is well."""
        kind, number = op
        self._dice.seed(number)
        getattr(self, f"_{kind}")()
        self._check()

    def _type(self) -> None:
        """The user changes a few characters or lines somewhere; sometimes several at once."""
        changes = [self._a_change() for _ in range(self._dice.choice([1, 1, 1, 2, 3]))]
        self._follow(changes)

    def _at_once(self) -> None:
        """A macro, or a held undo key: many changes in one message, some of them taken back in it."""
        before, text = self._states(), self.buffer.text
        changes, back = [], []
        often = self._dice.choice([0.0, 0.5, 1.0])
        for _ in range(self._dice.choice([1, 2, 3, 6, 12])):
            line = None if self._dice.random() < 0.3 else self._a_hunks_line()
            change = self._a_change(line, apply=False)
            old = self.buffer.text_in(change.range)
            changes.append(done := self.buffer.apply(change))
            if done.range == change.range:  # else it was widened at a line end
                back.append(TextChange(Range(done.range.start, done.new_end), old))
            while back and self._dice.random() < often:
                changes.append(self.buffer.apply(back.pop()))
        if self._dice.random() < 0.5:
            changes += [self.buffer.apply(change) for change in reversed(back)]
        self._follow(changes)
        if self.buffer.text == text:
            self._are_as(before, "changes taken back at once")

    def _a_hunks_line(self) -> int | None:
        """A line in or beside a hunk; None if there is none."""
        live = self.ledger.live(URI)
        if not live:
            return None
        return self._dice.choice(live).range.start.line + self._dice.choice([-1, 0, 0, 1])

    def _type_near(self) -> None:
        """The user changes something in or beside a hunk."""
        live = self.ledger.live(URI)
        if live:
            hunk = self._dice.choice(live)
            self._follow([self._a_change(hunk.range.start.line + self._dice.choice([-1, 0, 0, 1]))])

    def _type_and_undo(self) -> None:
        """The user changes something and takes it back: every hunk is as it was."""
        before, text = self._states(), self.buffer.text
        undone = []
        for _ in range(self._dice.choice([1, 1, 2, 3])):
            change = self._a_change(apply=False)
            old = self.buffer.text_in(change.range)
            done = self.buffer.apply(change)
            self._follow([done])
            if done.range != change.range:
                return  # it was widened at a line end
            undone.append(TextChange(Range(done.range.start, done.new_end), old))
        for inverse in reversed(undone):
            self._follow([inverse], apply=True)
        if self.buffer.text == text:
            self._are_as(before, "typing undone")

    def _replace_all(self) -> None:
        """The whole text comes anew: an editor that sends no ranges, a formatter, a branch."""
        lines = list(self.buffer.lines)
        for _ in range(self._dice.randrange(1, 4)):
            at = self._dice.randrange(len(lines))
            if self._dice.random() < 0.5 and lines[at]:
                lines[at] = self._line()
            else:
                lines.insert(at, self._line())
        self._follow(self.buffer.replace_all("".join(lines)))

    def _line_ends(self) -> None:
        """A tool turns all line ends round."""
        self._line_end = "\r\n" if self._line_end == "\n" else "\n"
        self._is_mixed = False
        text = self.buffer.text.replace("\r\n", "\n").replace("\n", self._line_end)
        self._follow(self.buffer.replace_all(text))

    def _propose(self) -> None:
        """The agent proposes an edit of several places."""
        document = self._document()
        lines = list(document.lines)
        for _ in range(self._dice.randrange(1, 4)):
            at = self._dice.randrange(len(lines))
            n = self._dice.randrange(3)
            lines[at : at + n] = [self._changed(line) for line in lines[at : at + n]]
            if self._dice.random() < 0.4:
                lines[at:at] = [self._line() for _ in range(self._dice.randrange(1, 3))]
            if self._dice.random() < 0.3:
                del lines[at : at + 1]
            lines = lines or [""]
        edit = TextEdit((Replacement(0, len(document.text), "".join(lines)),))
        turn = f"t{next(self._turns)}"
        draft = EditDraft(
            turn=turn, author="m", document=document, name="a.txt", edit=edit, summary="s"
        )
        try:
            _ = self.ledger.propose_edit(draft, rules())
        except Overlap:
            return

    def _accept(self) -> None:
        """The user accepts some hunks, the editor does as it likes."""
        self._send([h for h in self._pending() if self._dice.random() < 0.4])

    def _accept_all(self) -> None:
        """The user accepts all of them."""
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
                    _ = self.ledger.restore(hunk.id)
                except WrongState:
                    continue

    def _amend(self) -> None:
        for hunk in self.ledger.live(URI)[:1]:
            try:
                _ = self.ledger.amend(hunk.id, hunk.new + self._line())
            except WrongState:
                continue  # it shares the text's last line with another hunk

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
        except WrongState:
            return  # it shares the text's last line with another hunk
        if theirs.state is not HunkState.PENDING:
            raise Violation(f"taking theirs left {theirs}")

    def _undo(self) -> None:
        """The user takes some accepted hunks back through Stet."""
        done = [h for h in self.ledger.hunks(uri=URI) if h.state is HunkState.ACCEPTED]
        chosen = [h for h in done if self._dice.random() < 0.4]
        if chosen:
            self._send(chosen, back=True)

    def _undo_in_editor(self) -> None:
        """The user accepts one hunk, or some, and presses the editor's undo, and perhaps redo."""
        pending = self._pending()
        if not pending:
            return
        hunks, before = [self._dice.choice(pending)], self.buffer.text
        if self._dice.random() < 0.5:
            hunks = [hunk for hunk in pending if self._dice.random() < 0.5] or hunks
        if not all(_can_be_told(hunk, before) for hunk in hunks):
            return
        chosen, states = {hunk.id for hunk in hunks}, self._states()
        others = {hunk_id: was for hunk_id, was in states.items() if hunk_id not in chosen}
        self._send(hunks, honest=True)
        after = self.buffer.text
        self._expect_all(hunks, HunkState.ACCEPTED)
        self._follow(self.buffer.replace_all(before))
        self._expect_all(hunks, HunkState.UNDONE)
        self._are_as(others, "an accept undone")
        if self._dice.random() < 0.5:
            self._follow(self.buffer.replace_all(after))
            self._expect_all(hunks, HunkState.ACCEPTED)

    def _reopen(self) -> None:
        """The document is closed, perhaps changed on the disk, and opened again."""
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
        if same and before != self._views():
            raise Violation("closing and opening changed hunks")

    def _restart(self) -> None:
        """The server is killed and comes back; the text may have moved on meanwhile."""
        before, live = self._views(), {h.id for h in self.ledger.live(URI)}
        if self._dice.random() < 0.5:
            footing = self.ledger.footing(URI)
            if footing is not None:
                self.journal.keep((), footing)
        text = self.buffer.text
        if self._dice.random() < 0.3:
            text = "".join(self._shaken(split_lines(text)))
        exact = text == self.buffer.text and self.journal.footing == self.ledger.footing(URI)
        # What reads as proposed already was on its way, as far as one can tell.
        # And lines that are gone from their place are looked for elsewhere.
        exact = exact and all(h.old and h.old != h.new for h in self.ledger.live(URI))
        # Nor can it be told later whether an empty last line was the hunk's or the user's, whichever
        # line end it has.
        empty_last = re.compile(r"\n\r?\n\Z")
        exact = exact and not any(empty_last.search(h.old) for h in self.ledger.live(URI))
        self.buffer = TextBuffer(text)
        self.ledger = ReviewLedger(self.journal)
        self.ledger.take_back(self.journal.kept(), {URI: text})
        self.ledger.opened(URI, self.buffer.lines)
        after = {hunk.id: hunk for hunk in self.ledger.hunks(uri=URI)}
        for hunk_id in live:
            if after[hunk_id].state not in {*LIVE, HunkState.ACCEPTED}:
                raise Violation(f"a live hunk came back as {after[hunk_id]}")
        if exact and self._views() != before:
            raise Violation(f"a restart changed\n{before}\nto\n{self._views()}")

    # -- the editor ------------------------------------------------------------------------------

    def _send(self, hunks: Sequence[Hunk], *, back: bool = False, honest: bool = False) -> None:
        """An edit goes to the editor, which applies it, refuses it, or lies."""
        if not hunks:
            return
        document, before = self._document(), self.buffer.text
        ids = [hunk.id for hunk in hunks]
        try:
            edit = self.ledger.outbox.send(document, ids, back=back)
        except CantUndo:
            return
        wanted = edit.apply(before)
        self._check_wish(before, wanted, hunks, back=back)
        behaviour = "apply" if honest else self._dice.choice(_BEHAVIOURS)
        self._answer(behaviour, before, wanted)
        if not self.ledger.outbox.arrived(URI):
            self.ledger.outbox.unsend(URI, "the editor did not")
            self._given_up.update(ids)
        if behaviour in ("apply", "late"):
            state = HunkState.UNDONE if back else HunkState.ACCEPTED
            for hunk_id in ids:
                self._expect(hunk_id, state)

    def _answer(self, behaviour: str, before: str, wanted: str) -> None:
        """What the editor makes of an edit that leads from `before` to `wanted`."""
        changes = [*changes_between(before, wanted)]
        match behaviour:
            case "apply":
                self._follow(self._as_the_editor_tells(wanted))
            case "late":
                _ = self.ledger.outbox.arrived(URI)
                self._follow(self._as_the_editor_tells(wanted))
            case "typed before":
                # The editor takes the edit although the user has typed since: below it, say.
                n = len(self.buffer.text)
                tail = TextChange(_range(self.buffer.text, n, n), self._end + self._line())
                self._follow([self.buffer.apply(tail)])
                self._follow(changes, apply=True)
            case "typed behind":
                top = TextChange(Range(Position(0, 0), Position(0, 0)), self._line())
                self._follow([*changes, top], apply=True)
            case "partly":
                self._follow([c for c in changes if self._dice.random() < 0.5], apply=True)

    def _as_the_editor_tells(self, wanted: str) -> Sequence[TextChange]:
        """The changes by which an editor reports that its text is `wanted` now."""
        if self._dice.random() < 0.5:
            return [self.buffer.apply(c) for c in changes_between(self.buffer.text, wanted)]
        old, head, tail = self.buffer.text, 0, 0
        while head < min(len(old), len(wanted)) and old[head] == wanted[head]:
            head += 1
        while tail < min(len(old), len(wanted)) - head and old[-1 - tail] == wanted[-1 - tail]:
            tail += 1
        # No editor has a place between the two halves of a line end.
        head -= old[:head].endswith("\r")
        tail -= bool(tail) and old[len(old) - tail] == "\n"
        place = _range(old, head, len(old) - tail)
        return [self.buffer.apply(TextChange(place, wanted[head : len(wanted) - tail]))]

    def _check_wish(self, before: str, wanted: str, hunks: Sequence[Hunk], *, back: bool) -> None:
        """No word is lost but those that the hunks take away, none comes but those they bring."""
        had, has = _words(before), _words(wanted)
        taken = {word for h in hunks for word in (*_words(h.base), *_words(h.old))}
        brought = {word for h in hunks for word in (*_words(h.proposed), *_words(h.new))}
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
        """What the agent wrote is there, and what the user wrote since; only what the agent took
        away and the user did not write is gone."""
        for hunk in hunks:
            if hunk.old == hunk.new:
                continue
            # Once amended, or taken over the user's text, it was made against what stood there then.
            base = _words(hunk.base) | _words(self.journal.hunks[hunk.id].old)
            proposed = _words(hunk.proposed)
            if missing := [
                w for w in proposed if w not in base and w not in has and w in _words(hunk.new)
            ]:
                raise Violation(f"the agent's {missing} did not come")
            if lost := [w for w in _words(hunk.old) if w not in has and w not in base]:
                raise Violation(f"the user's {lost} got lost in {hunk}")

    # -- looking ---------------------------------------------------------------------------------

    def _check(self) -> None:
        self.n_checks += 1
        document, end = self._document(), 0
        words = Counter(_WORD.findall(document.text))
        self._doubled |= {word for word, n in words.items() if n > 1}
        for hunk in self.ledger.live(URI):
            start, stop = document.offset_at(hunk.range.start), document.offset_at(hunk.range.end)
            if start < end:
                raise Violation(f"{hunk.id} overlaps the one before it")
            end = stop
            if document.text[start:stop] != hunk.old:
                raise Violation(f"{hunk.id} says {hunk.old!r}, not {document.text[start:stop]!r}")
            behind = document.text[stop:]
            joins = hunk.new and behind and not hunk.new.endswith(("\n", "\r"))
            if joins and hunk.state is HunkState.PENDING:
                raise Violation(f"{hunk.id} would join its last line with the one behind: {hunk}")
            if hunk.state is HunkState.SENT:
                raise Violation(f"{hunk.id} is on its way for ever")
            self._stands_where_its_lines_do(hunk)
        all_pending = [hunk.id for hunk in self._pending()]
        wanted = self.ledger.edit_of(document, all_pending).apply(document.text)
        if "\r\n" in wanted and re.search(r"\r(?!\n)", wanted):
            raise Violation("a line end was torn")

    def _stands_where_its_lines_do(self, hunk: Hunk) -> None:
        """Wherever all lines that a hunk was made against stand together, it stands on them."""
        # Nobody can tell whose an empty line at its edge is, or a line behind the last line end.
        own = [without_end(line) for line in whole_lines(self.journal.hunks[hunk.id].old)]
        if not own or not _words(own[0]) or not _words(own[-1]):
            return
        lines = [without_end(line) for line in self.buffer.lines]
        ends_text = hunk.proposed and not line_end(hunk.proposed)
        # Another hunk may write its lines too, and an editor that applies an edit in part doubles them.
        others = [h.proposed + h.new for h in self.journal.hunks.values() if h.id != hunk.id]
        copied = self._doubled | _words("\n".join(others)).keys()
        if (
            ends_text
            or hunk.range.end.line >= len(lines) - 1
            or copied & _words("\n".join(own)).keys()
        ):
            return
        places = [at for at in range(len(lines)) if lines[at : at + len(own)] == own]
        if places and places != [hunk.range.start.line]:
            raise Violation(f"{hunk.id} should stand on line {places}: {hunk}")
        if places and [without_end(line) for line in whole_lines(hunk.old)] != own:
            raise Violation(f"{hunk.id} should stand on its lines {own}, and no others: {hunk}")

    def _states(self) -> dict[str, tuple[HunkState, str, Range]]:
        return {h.id: (h.state, h.new, h.range) for h in self.ledger.live(URI)}

    def _views(self) -> list[Hunk]:
        """Every hunk; of those that are decided the place does not count: it is found when needed."""
        live = {hunk.id for hunk in self.ledger.live(URI)}
        views = [dataclasses.replace(h, reason="", changed=0) for h in self.ledger.hunks(uri=URI)]
        top = Range(Position(0, 0), Position(0, 0))
        decided = [dataclasses.replace(h, range=top) for h in views if h.id not in live]
        decided.sort(key=lambda hunk: hunk.id)
        return [hunk for hunk in views if hunk.id in live] + decided

    def _are_as(self, before: dict[str, tuple[HunkState, str, Range]], told: str) -> None:
        """What was a conflict may be found again on the way; the rest is what and where it was."""
        now = self._states()
        for hunk_id, was in before.items():
            # Who types what an edit that was given up would write can't be told from an editor that
            # applies it late: that hunk is accepted.
            is_late = hunk_id in self._given_up and hunk_id not in now
            if was[0] is HunkState.PENDING and not is_late and now.get(hunk_id) != was:
                raise Violation(f"{told} left {hunk_id} {now.get(hunk_id)}, not {was}")

    def _expect(self, hunk_id: str, state: HunkState) -> None:
        if (hunk := self.ledger.hunk(hunk_id)).state is not state:
            raise Violation(f"{hunk_id} should be {state}: {hunk}")

    def _expect_all(self, hunks: Sequence[Hunk], state: HunkState) -> None:
        for hunk in hunks:
            self._expect(hunk.id, state)

    def _pending(self) -> list[Hunk]:
        return [h for h in self.ledger.live(URI) if h.state is HunkState.PENDING]

    # -- making ----------------------------------------------------------------------------------

    def _document(self) -> TextDocument:
        return TextDocument(URI, self.buffer.text, version=1)

    def _follow(self, changes: Sequence[TextChange], *, apply: bool = False) -> None:
        if apply:
            changes = [self.buffer.apply(change) for change in changes]
        self.ledger.follow(URI, tuple(changes), self.buffer.lines)

    def _word(self) -> str:
        return f"w{next(self._words):05}x"

    def _line(self) -> str:
        words = " ".join(self._word() for _ in range(self._dice.randrange(1, 4)))
        return self._dice.choice(["", "", "  "]) + words + self._end

    def _changed(self, line: str) -> str:
        """`line` with one of its words another, or one more."""
        words = _WORD.findall(line)
        if not words:
            return self._line()
        word = self._dice.choice(words)
        new = self._word() if self._dice.random() < 0.7 else f"{word} {self._word()}"
        return line.replace(word, new, 1)

    def _shaken(self, lines: list[str]) -> list[str]:
        for _ in range(self._dice.randrange(1, 4)):
            at = self._dice.randrange(len(lines))
            lines.insert(at, self._line())
            if self._dice.random() < 0.3:
                del lines[self._dice.randrange(len(lines))]
        return lines or [""]

    def _a_change(self, line: int | None = None, *, apply: bool = True) -> TextChange:
        """One change of the user's, at a line if given."""
        lines, dice = self.buffer.lines, self._dice
        first = dice.randrange(len(lines)) if line is None else max(0, min(line, len(lines) - 1))
        last = min(first + dice.choice([0, 0, 0, 1, 2]), len(lines) - 1)
        kind = dice.randrange(5)
        if kind == 0:  # a whole new line
            place, text = Range(Position(first, 0), Position(first, 0)), self._line()
        elif kind == 1:  # whole lines taken out
            place, text = Range(Position(first, 0), Position(last, 0)), ""
        elif kind == 2:  # a word typed in
            column = dice.randrange(len(lines[first].rstrip("\r\n")) + 1)
            place = Range(Position(first, column), Position(first, column))
            text = f" {self._word()} "
        elif kind == 3:  # a line broken
            column = dice.randrange(len(lines[first].rstrip("\r\n")) + 1)
            place, text = Range(Position(first, column), Position(first, column)), self._end
        else:  # a stretch replaced
            start = Position(first, dice.randrange(len(lines[first].rstrip("\r\n")) + 1))
            end = Position(last, dice.randrange(len(lines[last].rstrip("\r\n")) + 1))
            place = Range(min(start, end), max(start, end))
            text = dice.choice(["", self._word(), self._line()])
        change = TextChange(place, text)
        return self.buffer.apply(change) if apply else change


def _range(text: str, start: int, end: int) -> Range:
    document = TextDocument(URI, text)
    return Range(document.position_at(start), document.position_at(end))


def _can_be_told(hunk: Hunk, text: str) -> bool:
    """Whether undoing the hunk in the editor can be told, once it is accepted in `text`."""
    if hunk.old == hunk.new or not (_words(hunk.old) or _words(hunk.new)):
        return False  # of empty lines nobody can tell which is which
    # Else an editor that applied it in part has left its words there already.
    return not any(word in text for word in _words(hunk.new) if word not in hunk.old)


def _words(text: str) -> dict[str, None]:
    return dict.fromkeys(_WORD.findall(text))


_BEHAVIOURS = (
    "apply", "apply", "apply", "late", "refuse", "typed before", "typed behind", "partly",
)  # fmt: skip
OPERATIONS = {
    "type": 8, "type_near": 8, "type_and_undo": 3, "at_once": 4, "replace_all": 2, "line_ends": 1,
    "propose": 8, "accept": 4, "accept_all": 1, "reject": 2, "restore": 1, "amend": 1,
    "resolve": 2, "undo": 3, "undo_in_editor": 2, "reopen": 1, "restart": 2,
}  # fmt: skip
