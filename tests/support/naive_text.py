"""A second text store, written to be obviously correct: one string, every position recomputed.

It shares no code with `stet.text` and does its arithmetic by encoding prefixes.
"""

import random
import re
from functools import lru_cache

NASTY = (
    "a", "b", "xyz", " ", "\t", "\n", "\n", "\r", "\r\n", "\r\n", "\x00", "\x0b", "\x0c", "\x1c",
    "\x85", "\u2028", "\u2029", "\ufeff", "é", "e\u0301", "中文", "😀", "👩\u200d🚀", "\ud83d", "\ude00",
)  # fmt: skip
"""Pieces that editors really send and that are difficult for text stores."""

SIZES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@lru_cache(maxsize=2)  # an edit of a long text asks for the same lines several times
def naive_lines(text: str) -> tuple[tuple[int, str, str], ...]:
    """Return each line as (offset, text, line end)."""
    found = re.finditer(r"([^\r\n]*)(\r\n|\n|\r|\Z)", text)
    lines = [(match.start(), match[1], match[2]) for match in found]
    if len(lines) > 1 and lines[-1][1:] == ("", "") and lines[-2][2] == "":
        lines.pop()  # the pattern matches the end twice
    return tuple(lines)


def naive_offset(text: str, line: int, units: int, encoding: str) -> int:
    """Return the offset of an editor's position, clamped as LSP requires."""
    lines = naive_lines(text)
    if line < 0:
        return 0
    if line >= len(lines):
        return len(text)
    start, content, _ = lines[line]
    codec, size = SIZES[encoding]
    column = 0
    for n in range(len(content) + 1):
        if len(content[:n].encode(codec, "surrogatepass")) <= units * size:
            column = n
    return start + column


def naive_splice(text: str, edit: tuple[int, int, int, int, str], encoding: str) -> str:
    """Return `text` after an edit (start line and units, end line and units, new text)."""
    start_line, start_units, end_line, end_units, new = edit
    if encoding == "utf-16":  # an edit may begin or end within a character
        start, end = sorted(
            (_unit(text, start_line, start_units), _unit(text, end_line, end_units))
        )
        units = text.encode("utf-16-le", "surrogatepass")
        made = units[: 2 * start] + new.encode("utf-16-le", "surrogatepass") + units[2 * end :]
        return made.decode("utf-16-le", "surrogatepass")
    start = naive_offset(text, start_line, start_units, encoding)
    end = naive_offset(text, end_line, end_units, encoding)
    return whole(text[: min(start, end)] + new + text[max(start, end) :])


def whole(text: str) -> str:
    """Return `text` with two adjacent surrogates joined into one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _unit(text: str, line: int, units: int) -> int:
    """Return the offset of a position in UTF-16 units, clamped as LSP requires."""
    lines = naive_lines(text)
    if line < 0:
        return 0
    if line >= len(lines):
        return _n_units(text)
    start, content, _ = lines[line]
    return _n_units(text[:start]) + max(0, min(units, _n_units(content)))


def _n_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def nasty_text(rng: random.Random, n_pieces: int) -> str:
    """Join random pieces."""
    return whole("".join(rng.choices(NASTY, k=n_pieces)))


def nasty_edit(rng: random.Random, n_lines: int) -> tuple[int, int, int, int, str]:
    """Make a random edit of a text of about `n_lines` lines; often out of range, often reversed."""

    def place() -> tuple[int, int]:
        line = rng.randrange(-1, n_lines + 2)
        return line, rng.choice((-1, 0, 0, 1, 2, 3, 4, 5, 6, 8, 12, 99, 2**31, 2**53))

    start, end = place(), place()
    if rng.random() < 0.4:
        end = start
    return (*start, *end, nasty_text(rng, rng.choice((0, 0, 1, 1, 1, 2, 4))))
