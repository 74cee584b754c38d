"""Somebody who types, moves lines, presses undo, and lets tools rewrite the whole text."""

from stet.text.diff import changes_between
from stet.text.edit import TextChange
from stet.text.position import Range
from tests.soak.checks import CheckedDocument
from tests.soak.simulated_document import URI


class Typist(CheckedDocument):
    """The user, as far as they know of no review."""

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

    def _move_lines(self) -> None:
        """The user moves lines, by a key or by cutting and pasting, or a sorter does."""
        _ = self._rewrite(self._moves(), self._dice.choice(["whole", "small", "one", "by hand"]))

    def _go_and_return(self) -> None:
        """The text is rewritten, perhaps several times, and is what it was again: every hunk is too."""
        before, text = self._states(), self.buffer.text
        undo: list[list[TextChange]] = []
        how = self._dice.choice(["whole", "small", "one", "by hand"])
        for _ in range(self._dice.choice([1, 1, 2, 3])):
            undo += self._rewrite(self._moves(), how)
            self._check()
        if self._dice.random() < 0.5:
            for changes in reversed(undo):
                self._follow(changes, apply=True)
        else:
            self._follow(self._reported_changes(text))
        if self.buffer.text == text:
            self._are_as(before, "a text that came back")

    def _rewrite(
        self, moves: list[tuple[list[str], list[str]]], how: str
    ) -> list[list[TextChange]]:
        """Lines move, as one of the ways of editors tells it.

        Returns:
            By message, the changes that an editor's undo of it tells.
        """
        undo = []
        for cut, pasted in moves:
            old, text = self.buffer.text, "".join(pasted)
            if how == "by hand":
                for then in ("".join(cut) or "", text):
                    undo.append([*changes_between(then, self.buffer.text)])
                    self._follow(changes_between(self.buffer.text, then), apply=True)
                    self._note_buried()
                continue
            undo.append([*changes_between(text, old)])
            if how == "one":
                self._follow([self._as_one(text)])
            else:
                self._follow(self._reported(text, whole=how == "whole"))
            self._note_buried()
        return undo

    def _line_ends(self) -> None:
        """A tool turns all line ends round."""
        self._line_end = "\r\n" if self._line_end == "\n" else "\n"
        self._is_mixed = False
        text = self.buffer.text.replace("\r\n", "\n").replace("\n", self._line_end)
        self._follow(self.buffer.replace_all(text))
