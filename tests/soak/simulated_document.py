"""The text of a simulated document, and functions that change it.

Every word is unique, so that its author is known and a loss is noticed.
"""

import itertools
import random
import re
from collections.abc import Sequence

from stet.text.buffer import TextBuffer
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.lines import line_end
from stet.text.position import Position, Range

URI = "file:///ws/a.txt"
WORD = re.compile(r"w\d{5}x")
MIXED = 5
"""One simulation in so many has both kinds of line ends, until a tool makes them equal."""


class SimulatedDocument:
    """The text of one document, without a ledger."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._words = itertools.count(1)
        self._line_end = self._dice.choice(["\n", "\n", "\r\n"])
        self._is_mixed = seed % MIXED == MIXED - 1
        text = "".join(self._line() for _ in range(self._dice.randrange(12)))
        self.buffer = TextBuffer(text)
        self._composed: set[str] = set()

    @property
    def _end(self) -> str:
        """Choose the line end of a new line."""
        return self._dice.choice(["\n", "\r\n"]) if self._is_mixed else self._line_end

    def _word(self) -> str:
        return f"w{next(self._words):05}x"

    def _line(self) -> str:
        words = " ".join(self._word() for _ in range(self._dice.randrange(1, 4)))
        return self._dice.choice(["", "", "  "]) + words + self._end

    def _changed(self, line: str) -> str:
        """Return `line` with one of its words replaced, or one added."""
        words = WORD.findall(line)
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

    def _moves(self) -> list[tuple[list[str], list[str]]]:
        """Return texts with lines removed, then with the lines inserted at another place."""
        lines, moves = list(self.buffer.lines), []
        for _ in range(self._dice.choice([1, 1, 2])):
            # A last line without a line end stays.
            n = len(lines) - (not line_end(lines[-1]))
            at = self._dice.randrange(n + 1)
            stretch = lines[at : min(at + self._dice.choice([1, 1, 2, 3]), n)]
            del lines[at : at + len(stretch)]
            to = at + self._dice.choice([-1, 1, -2, 2, self._dice.randrange(-9, 10)])
            to = max(0, min(to, n - len(stretch)))
            moves.append((lines, [*lines[:to], *stretch, *lines[to:]]))
            lines = list(moves[-1][1])
        return moves

    def _a_change(self, line: int | None = None, *, apply: bool = True) -> TextChange:
        """Make one change by the user, at `line` if given."""
        lines, dice = self.buffer.lines, self._dice
        first = dice.randrange(len(lines)) if line is None else max(0, min(line, len(lines) - 1))
        last = min(first + dice.choice([0, 0, 0, 1, 2]), len(lines) - 1)
        kind = dice.randrange(5)
        if kind == 0:  # insert a whole line
            place, text = Range(Position(first, 0), Position(first, 0)), self._line()
        elif kind == 1:  # delete whole lines
            place, text = Range(Position(first, 0), Position(last, 0)), ""
        elif kind == 2:  # insert a word
            column = dice.randrange(len(lines[first].rstrip("\r\n")) + 1)
            place = Range(Position(first, column), Position(first, column))
            text = f" {self._word()} "
        elif kind == 3:  # split a line
            column = dice.randrange(len(lines[first].rstrip("\r\n")) + 1)
            place, text = Range(Position(first, column), Position(first, column)), self._end
        else:  # replace a range
            start = Position(first, dice.randrange(len(lines[first].rstrip("\r\n")) + 1))
            end = Position(last, dice.randrange(len(lines[last].rstrip("\r\n")) + 1))
            place = Range(min(start, end), max(start, end))
            text = dice.choice(["", self._word(), self._line()])
        change = TextChange(place, text)
        joined = lines[place.start.line][: place.start.character] + text
        joined += lines[place.end.line][place.end.character :]
        there = words_of("".join(lines[place.start.line : place.end.line + 1]) + text)
        self._composed |= words_of(joined).keys() - there.keys()
        return self.buffer.apply(change) if apply else change

    def _as_one(self, wanted: str) -> TextChange:
        """Change the text to `wanted` by the smallest single change."""
        old, head, tail = self.buffer.text, 0, 0
        while head < min(len(old), len(wanted)) and old[head] == wanted[head]:
            head += 1
        while tail < min(len(old), len(wanted)) - head and old[-1 - tail] == wanted[-1 - tail]:
            tail += 1
        # Editors have no position between the two halves of a line end.
        head -= old[:head].endswith("\r")
        tail -= bool(tail) and old[len(old) - tail] == "\n"
        place = range_of(old, head, len(old) - tail)
        return self.buffer.apply(TextChange(place, wanted[head : len(wanted) - tail]))

    def _reported(self, text: str, *, whole: bool) -> Sequence[TextChange]:
        """Change the text to `text`, as a whole or by the smallest changes."""
        if whole:
            return self.buffer.replace_all(text)
        return [self.buffer.apply(change) for change in changes_between(self.buffer.text, text)]

    def _reported_changes(self, wanted: str) -> Sequence[TextChange]:
        """Return the changes by which an editor reports that its text is now `wanted`."""
        if self._dice.random() < 0.5:
            return [self.buffer.apply(c) for c in changes_between(self.buffer.text, wanted)]
        return [self._as_one(wanted)]

    def _document(self) -> TextDocument:
        return TextDocument(URI, self.buffer.text, version=1)


def range_of(text: str, start: int, end: int) -> Range:
    document = TextDocument(URI, text)
    return Range(document.position_at(start), document.position_at(end))


def words_of(text: str) -> dict[str, None]:
    return dict.fromkeys(WORD.findall(text))
