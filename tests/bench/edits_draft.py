"""A change of a file together with the model's edit for it, which `edits_kinds` distorts."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from stet.text.render import number_lines
from tests.bench.edits_sources import Change, contents

MARK = "zq17"
"""The text that the user types; it occurs in no file."""


@dataclass(frozen=True, slots=True)
class Key:
    """A `text` typed at a line and column (0-based, code points) of the shown text."""

    line: int
    column: int
    text: str


@dataclass(slots=True)
class Draft:
    """A change, distorted by one kind after the other.

    Attributes:
        file: The lines of the file, without line ends.
        first: The first changed line, 0-based.
        n: The number of changed lines.
        new: The new lines, as the file should have them.
        top: The number of lines that the model quotes before the change.
        model_old: The lines that the model quotes.
        model_new: The lines that the model puts there.
        end: The file's line end.
        is_ended: Whether the file's last line has a line end.
        model_end: The model's line end.
        ends: Whether the model ends the last line of the old and of the new text.
        numbers: Whether the model copies line numbers into the old and into the new text.
        before: The keys that the user types after the file was shown.
        after: The keys that the user types after the edit was proposed, in lines of the shown text.
        forgives: Removes from a line the differences that are allowed in lines that the edit wrote.
    """

    file: list[str]
    first: int
    n: int
    new: list[str]
    top: int
    model_old: list[str]
    model_new: list[str]
    end: str
    is_ended: bool
    model_end: str = "\n"
    ends: tuple[bool, bool] = (True, True)
    numbers: tuple[bool, bool] = (False, False)
    before: list[Key] = field(default_factory=list)
    after: list[Key] = field(default_factory=list)
    forgives: Callable[[str], str] = str

    @property
    def start(self) -> int:
        """Return the first line that the model quotes, 0-based."""
        return self.first - self.top

    @property
    def shown(self) -> str:
        """Return the text of the file."""
        return self._text(self.file)

    @property
    def expected_lines(self) -> list[str]:
        """Return the lines of the file with the change, before any typing."""
        return [*self.file[: self.first], *self.new, *self.file[self.first + self.n :]]

    @property
    def expected(self) -> str:
        """Return the text of the file with the change, before any typing."""
        return self._text(self.expected_lines)

    @property
    def old_text(self) -> str:
        """Return the old text that the model sends."""
        return self._sent(self.model_old, 0)

    @property
    def new_text(self) -> str:
        """Return the new text that the model sends."""
        return self._sent(self.model_new, 1)

    def _text(self, lines: list[str]) -> str:
        return self.end.join(lines) + (self.end if self.is_ended and lines else "")

    def _sent(self, lines: list[str], which: int) -> str:
        if not lines:
            return ""
        text = "\n".join(lines) + "\n"
        if self.numbers[which]:
            text = number_lines([line + "\n" for line in lines], self.start + 1)
        return (text if self.ends[which] else text[:-1]).replace("\n", self.model_end)


def draft_of(change: Change, rng: random.Random) -> Draft:
    """Write the change like a careful model, with enough context lines to make it unique."""
    lines = contents(change.before)
    text = "\n".join(lines) + "\n"
    n_context = rng.randrange(1, 4)
    while True:
        start = max(0, change.first - n_context)
        end = min(len(lines), change.first + len(change.old) + n_context)
        quoted = "\n".join(lines[start:end]) + "\n"
        if end - start == len(lines) or (quoted.strip() and _n_places(text, quoted) == 1):
            break
        n_context += 1
    n_old = len(change.old)
    tail = lines[change.first + n_old : end]
    return Draft(
        file=lines,
        first=change.first,
        n=n_old,
        new=list(change.new),
        top=change.first - start,
        model_old=lines[start:end],
        model_new=[*lines[start : change.first], *change.new, *tail],
        end="\r\n" if "\r\n" in change.before else "\n",
        is_ended=change.before.endswith("\n"),
    )


def _n_places(text: str, wanted: str) -> int:
    at, n = text.find(wanted), 0
    while at >= 0:
        at, n = text.find(wanted, at + 1), n + 1
    return n
