"""Columns in the three encodings an editor may count in.

Stet counts code points; an editor counts *units*: bytes (UTF-8), 16-bit words (UTF-16, the
default of LSP) or code points (UTF-32). A lone surrogate costs three bytes or one word.
"""

from enum import StrEnum


class Encoding(StrEnum):
    """The unit of an editor's columns; the values are LSP's `positionEncoding`."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


_UTF8, _UTF32 = Encoding.UTF8, Encoding.UTF32  # a global is looked up faster
_MAX_UNITS = {Encoding.UTF8: 4, Encoding.UTF16: 2}
_SHORT = 16
"""Units that are cheaper to count one by one than to encode."""


def column_from_units(line: str, units: int, encoding: Encoding) -> int:
    """Return the column (code points, 0-based) for `units`, the column that an editor counts.

    Clamped to the line without its line end; inside a surrogate pair or a UTF-8 sequence it is
    rounded down to the start of the character.
    """
    limit = len(line)
    if line.endswith("\n"):
        limit -= 2 if line.endswith("\r\n") else 1
    elif line.endswith("\r"):
        limit -= 1
    if encoding is _UTF32 or line.isascii():
        return 0 if units < 0 else min(units, limit)
    return _count(line, limit, units, encoding)


def _count(line: str, limit: int, units: int, encoding: Encoding) -> int:
    """Walk `line` up to `units`: long stretches that cannot overshoot, then one by one."""
    likely = line[: max(0, min(units, limit))]
    if _width(likely, encoding) == len(likely):
        return len(likely)
    column, left, most = 0, units, _MAX_UNITS[encoding]
    while left > _SHORT and column < limit:
        stretch = line[column : min(column + left // most, limit)]
        left -= _width(stretch, encoding)
        column += len(stretch)
    while column < limit:
        left -= _width(line[column], encoding)
        if left < 0:
            break
        column += 1
    return column


def units_from_column(line: str, column: int, encoding: Encoding) -> int:
    """Return an editor's units for `column` (code points, 0-based), clamped to `line`."""
    if encoding is _UTF32 or line.isascii():
        return max(0, min(column, len(line)))
    return _width(line[: max(0, column)], encoding)


def _width(text: str, encoding: Encoding) -> int:
    """Return how many units `text` costs."""
    if text.isascii():
        return len(text)
    if encoding is _UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
