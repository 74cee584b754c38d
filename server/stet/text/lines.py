r"""Lines of a text, as LSP counts them.

Only `\r\n`, `\n` and `\r` end a line. Form feed, vertical tab, NEL, U+2028 and U+2029 are text,
though `str.splitlines` splits there. Line ends are kept as they are. `PiecewiseLines` is a sequence
of lines that are held in pieces and read in runs.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import overload

from stet.text.position import Position

_AT_ONCE = 500_000
"""The number of code points that are split at a time."""


def split_lines(text: str) -> list[str]:
    r"""Split `text` into its lines, each with its line end.

    There is always at least one line, and the last line has no line end: `"a\n"` is `["a\n", ""]`.
    Joining the lines restores the text.
    """
    source = StringIO(text, newline="")
    lines: list[str] = []
    # Split in parts: no other thread runs during one call.
    while some := source.readlines(_AT_ONCE):
        lines += some
    if not lines or lines[-1][-1] in "\r\n":
        lines.append("")
    return lines


def split_plain(text: str) -> list[str]:
    r"""Split a plain text at its `\n`, which are left out.

    A very long text is split in parts: no other thread runs during one call.
    """
    if len(text) <= _AT_ONCE:
        return text.split("\n")
    lines: list[str] = []
    start = 0
    while len(text) - start > _AT_ONCE and (end := text.find("\n", start + _AT_ONCE)) >= 0:
        lines += text[start:end].split("\n")
        start = end + 1
    return [*lines, *text[start:].split("\n")]


def whole_lines(text: str) -> tuple[str, ...]:
    r"""Return the lines as a person counts: `"a\n"` is one line, `""` has no lines. Each line keeps
    its line end.
    """
    lines = split_lines(text)
    return tuple(lines if lines[-1] else lines[:-1])


def line_end(line: str) -> str:
    r"""Return the line end of `line`: `"\r\n"`, `"\n"`, `"\r"` or `""`."""
    if line.endswith("\n"):
        return "\r\n" if line.endswith("\r\n") else "\n"
    return "\r" if line.endswith("\r") else ""


def without_end(line: str) -> str:
    """Return `line` without its line end."""
    end = line_end(line)
    return line[: -len(end)] if end else line


def strip_ends(lines: Iterable[str]) -> list[str]:
    """Return lines without their line ends, in a third of the time of `without_end` for each."""
    return [line.rstrip("\r\n") for line in lines]


def dominant_line_end(text: str) -> str:
    r"""Return the line end that `text` uses most; `"\n"` if it has none, or on a tie."""
    counts = _n_line_ends(text)
    return max(counts, key=lambda end: counts[end])


def line_ends(text: str) -> frozenset[str]:
    """Return the line ends that `text` has."""
    return frozenset(end for end, n in _n_line_ends(text).items() if n)


def n_breaks(text: str) -> int:
    """Return the number of line ends in `text`."""
    return sum(_n_line_ends(text).values())


def _n_line_ends(text: str) -> dict[str, int]:
    n_crlf = text.count("\r\n")
    return {"\n": text.count("\n") - n_crlf, "\r\n": n_crlf, "\r": text.count("\r") - n_crlf}


def end_of(start: Position, text: str) -> Position:
    r"""Return the end of `text` if it starts at `start` (code points, 0-based).

    The text must not be a part of a `\r\n`: a change is widened to the whole pair before.
    """
    if "\n" not in text and "\r" not in text:
        return Position(start.line, start.character + len(text))
    last_break = max(text.rfind("\n"), text.rfind("\r"))
    return Position(start.line + n_breaks(text), len(text) - last_break - 1)


def text_between(lines: Sequence[str], start: Position, end: Position) -> str:
    """Return the text between two places of a text with these lines; "" if they are reversed."""
    if start.line == end.line:
        return lines[start.line][start.character : end.character]
    if start.line > end.line:
        return ""
    first, *between = lines[start.line : end.line]
    last = lines[end.line][: end.character]
    return "".join((first[start.character :], *between, last))


def front_matter_end(lines: Sequence[str]) -> int:
    """Return the first line (0-based) after the YAML at the top of a note; 0 if there is no
    YAML.
    """
    if not lines or lines[0].rstrip() != "---":
        return 0
    ends = (n for n, line in enumerate(lines) if n and line.rstrip() in ("---", "..."))
    return next(ends, -1) + 1


_LINES_AT_ONCE = 10_000
"""The number of lines that an iteration reads at a time; a change of a locked text waits for it."""


class PiecewiseLines(Sequence[str]):
    """A sequence of lines, made of pieces of other sequences; a subclass sets the pieces.

    Attributes:
        _n: The number of lines.
        _starts: The first line of each piece.
        _pieces: The sequence of each piece, and the number of the piece's first line in it.
    """

    _n: int
    _starts: list[int]
    _pieces: list[tuple[Sequence[str], int]]

    def _between(self, first: int, end: int) -> tuple[str, ...]:
        """Return the lines from `first` (0-based) to before `end`, both within the sequence."""
        found: list[str] = []
        nth = bisect_right(self._starts, first) - 1
        while first < end:
            at, (source, start) = self._starts[nth], self._pieces[nth]
            stop = min(end, self._end_of(nth))
            found += source[start + first - at : start + stop - at]
            first, nth = stop, nth + 1
        return tuple(found)

    def _end_of(self, nth: int) -> int:
        """Return the line after a piece."""
        return self._starts[nth + 1] if nth + 1 < len(self._starts) else self._n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            first, end, step = index.indices(self._n)
            if step != 1:
                return tuple(self[nth] for nth in range(first, end, step))
            return self._between(first, end)
        nth = index + self._n if index < 0 else index
        if not 0 <= nth < self._n:
            raise IndexError(index)
        [line] = self._between(nth, nth + 1)
        return line

    def __iter__(self) -> Iterator[str]:
        for first in range(0, self._n, _LINES_AT_ONCE):
            yield from self._between(first, min(first + _LINES_AT_ONCE, self._n))
