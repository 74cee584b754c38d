"""A change of a file together with how the model writes it, to be bent by `edits_kinds`."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from stet.text.render import number_lines
from tests.bench.edits_sources import Change, contents

MARK = "zq17"
"""What the user types inside; it occurs in no file."""


@dataclass(frozen=True, slots=True)
class Key:
    """`text` typed at a line and column (0-based, code points) of the text shown."""

    line: int
    column: int
    text: str


@dataclass(slots=True)
class Draft:
    """A change, bent by one kind after the other.

    Attributes:
        file: The lines of the file, without line ends.
        first: The first line that changes.
        n: How many lines change.
        new: What they become, as the file should have them.
        top: How many lines the model quotes before them.
        model_old: What the model quotes.
        model_new: What it wants there.
        end: The file's line end.
        is_ended: Whether its last line has one.
        model_end: The model's line end.
        ends: Whether the model ends the last line of the old and of the new text.
        numbers: Whether the model copies line numbers into the old and into the new text.
        before: What the user types after the file was shown.
        after: What the user types after the edit was proposed, in lines of the text shown.
        forgives: What is not compared in the lines that the edit wrote.
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
        """The first line that the model quotes."""
        return self.first - self.top

    @property
    def shown(self) -> str:
        """The file."""
        return self._text(self.file)

    @property
    def expected_lines(self) -> list[str]:
        """The lines of the file with the change, before anything is typed."""
        return [*self.file[: self.first], *self.new, *self.file[self.first + self.n :]]

    @property
    def expected(self) -> str:
        """The file with the change, before anything is typed."""
        return self._text(self.expected_lines)

    @property
    def old_text(self) -> str:
        """What the model sends as the old text."""
        return self._sent(self.model_old, 0)

    @property
    def new_text(self) -> str:
        """What it sends as the new one."""
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
    """The change as a careful model writes it: with as much context as makes it unique."""
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
