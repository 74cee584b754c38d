"""The text around the cursor that a completion model is sent, cut at line ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from stet.text.position import Range

CHARACTERS_PER_TOKEN = 3
"""About; code has fewer characters per token than prose."""
_PREFIX_SHARE = 0.75
_LINE_STEP = 16
"""The first line is a multiple of this, so that it stays while lines are added: a server that keeps
the state of the prompt's beginning then reads only the rest.
"""


@dataclass(frozen=True, slots=True)
class CursorContext:
    """The text around the cursor.

    Attributes:
        prefix: The text before the cursor, from the start of a line.
        suffix: The text after the cursor, to the end of a line.
        first_line: The line at which the prefix starts, 0-based.
        last_line: The last line of the suffix, 0-based.
    """

    prefix: str
    suffix: str
    first_line: int
    last_line: int

    @property
    def line_before(self) -> str:
        """The part of the cursor's line before the cursor."""
        return self.prefix.rpartition("\n")[2]

    @property
    def line_after(self) -> str:
        """The part of the cursor's line after the cursor, without the line end."""
        return self.suffix.partition("\n")[0]


def cut_context(
    lines: Sequence[str], replaced: Range, n_tokens: int, *, inserted: str = ""
) -> CursorContext:
    r"""Return the text around the cursor, with `\n` as the only line end.

    Three quarters are before the cursor. A line that is too long is cut.

    Args:
        lines: The lines of the document, with their line ends.
        replaced: The range that `inserted` replaces, within a line of the document; it ends at the
            cursor.
        n_tokens: The most tokens of the text, about.
        inserted: A text that the editor will insert before the completion.
    """
    n_before = int(n_tokens * CHARACTERS_PER_TOKEN * _PREFIX_SHARE)
    n_after = n_tokens * CHARACTERS_PER_TOKEN - n_before
    nth, start, cursor = replaced.end.line, replaced.start.character, replaced.end.character
    line = lines[nth]
    head, tail = line[max(0, start - n_before) : start], line[cursor : cursor + n_after]
    first = _first_line(lines, nth, n_before - len(head))
    end = _end_line(lines, nth + 1, n_after - len(tail))
    prefix = "".join((*lines[first:nth], head, inserted))
    suffix = "".join((tail, *lines[nth + 1 : end]))
    return CursorContext(_plain(prefix), _plain(suffix), first, end - 1)


def _first_line(lines: Sequence[str], line: int, left: int) -> int:
    """Return the first of the lines before `line` that fit into `left` characters."""
    first = line
    while first and (left := left - len(lines[first - 1])) >= 0:
        first -= 1
    stable = -(-first // _LINE_STEP) * _LINE_STEP
    return min(stable, line)


def _end_line(lines: Sequence[str], line: int, left: int) -> int:
    """Return the line after the last of the lines from `line` on that fit."""
    while line < len(lines) and (left := left - len(lines[line])) >= 0:
        line += 1
    return line


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
