"""A user who types, moves lines, uses undo, and lets tools rewrite the whole text."""

from stet.text.diff import changes_between
from stet.text.edit import TextChange
from stet.text.position import Range
from tests.soak.checks import CheckedDocument
from tests.soak.simulated_document import URI


class Typist(CheckedDocument):
    """The user, without any review actions."""

    def _type(self) -> None:
        """Change a few characters or lines anywhere; sometimes several at once."""
        changes = [self._a_change() for _ in range(self._dice.choice([1, 1, 1, 2, 3]))]
        self._follow(changes)

    def _at_once(self) -> None:
        """Run a macro, or hold the undo key: many changes in one message, some of them undone."""
        before, text = self._states(), self.buffer.text
        changes, back = [], []
        often = self._dice.choice([0.0, 0.5, 1.0])
        for _ in range(self._dice.choice([1, 2, 3, 6, 12])):
            line = None if self._dice.random() < 0.3 else self._a_hunks_line()
            change = self._a_change(line, apply=False)
            old = self.buffer.text_in(change.range)
            changes.append(done := self.buffer.apply(change))
            if done.range == change.range:  # else the range was widened at a line end
                back.append(TextChange(Range(done.range.start, done.new_end), old))
            while back and self._dice.random() < often:
                changes.append(self.buffer.apply(back.pop()))
        if self._dice.random() < 0.5:
            changes += [self.buffer.apply(change) for change in reversed(back)]
        self._follow(changes)
        if self.buffer.text == text:
            self._are_as(before, "changes taken back at once")

    def _a_hunks_line(self) -> int | None:
        """Return a line in or beside a hunk; None without a hunk."""
        live = self.ledger.live(URI)
        if not live:
            return None
        return self._dice.choice(live).range.start.line + self._dice.choice([-1, 0, 0, 1])

    def _type_near(self) -> None:
        """Change something in or beside a hunk."""
        live = self.ledger.live(URI)
        if live:
            hunk = self._dice.choice(live)
            self._follow([self._a_change(hunk.range.start.line + self._dice.choice([-1, 0, 0, 1]))])

    def _type_and_undo(self) -> None:
        """Change something and undo it: every hunk must be as before."""
        before, text = self._states(), self.buffer.text
        undone = []
        for _ in range(self._dice.choice([1, 1, 2, 3])):
            change = self._a_change(apply=False)
            old = self.buffer.text_in(change.range)
            done = self.buffer.apply(change)
            self._follow([done])
            if done.range != change.range:
                return  # the range was widened at a line end
            undone.append(TextChange(Range(done.range.start, done.new_end), old))
        for inverse in reversed(undone):
            self._follow([inverse], apply=True)
        if self.buffer.text == text:
            self._are_as(before, "typing undone")

    def _replace_all(self) -> None:
        """Send the whole text: an editor that sends no ranges, a formatter, a branch."""
        lines = list(self.buffer.lines)
        for _ in range(self._dice.randrange(1, 4)):
            at = self._dice.randrange(len(lines))
            if self._dice.random() < 0.5 and lines[at]:
                lines[at] = self._line()
            else:
                lines.insert(at, self._line())
        self._follow(self.buffer.replace_all("".join(lines)))

    def _move_lines(self) -> None:
        """Move lines, with a key, by cut and paste, or with a sort command."""
        _ = self._rewrite(self._moves(), self._dice.choice(["whole", "small", "one", "by hand"]))

    def _go_and_return(self) -> None:
        """Rewrite the text, perhaps several times, and restore it: every hunk must be as before."""
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
        """Move lines in one of the ways in which editors report it.

        Returns:
            The changes by which an editor reports the undo, by message.
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
        """Convert all line ends."""
        self._line_end = "\r\n" if self._line_end == "\n" else "\n"
        self._is_mixed = False
        text = self.buffer.text.replace("\r\n", "\n").replace("\n", self._line_end)
        self._follow(self.buffer.replace_all(text))
