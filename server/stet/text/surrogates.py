"""Halves of characters: what an editor that counts in UTF-16 may put in or take out one at a time.

A character outside the first plane is two units there. Where both halves stand beside each other they
are that character; where an edit begins or ends between them, the other half stays.
"""

import re

from stet.text.encoding import Encoding, units_from_column

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def split_surrogates(
    lines: tuple[str, str], columns: tuple[int, int], units: tuple[int, int], text: str
) -> tuple[int, int, str]:
    """An edit between characters, as one that may begin and end within them.

    Args:
        lines: The line that it begins in, and the one that it ends in.
        columns: Where in these, in code points, rounded down.
        units: The same in units of UTF-16, as the editor sent it.
        text: What comes there.

    Returns:
        Both columns, in code points, and the text, with the halves that stay.
    """
    (first, last), (start, end) = lines, columns
    if _is_inside_pair(first, start, units[0]):
        text = _split_pair(first[start])[0] + text
    if _is_inside_pair(last, end, units[1]):
        text += _split_pair(last[end])[1]
        end += 1
    return start, end, text


def join_surrogates(
    lines: tuple[str, str], columns: tuple[int, int], text: str
) -> tuple[int, int, str]:
    """An edit that may bring two halves of a character together, as one that puts the character there.

    Args:
        lines: The line that it begins in, and the one that it ends in.
        columns: Where in these, in code points.
        text: What comes there.

    Returns:
        Both columns and the text, with the halves beside it that are part of a character now.
    """
    (first, last), (start, end) = lines, columns
    before, after = first[start - 1 : start] if start else "", last[end : end + 1]
    if _is_high_surrogate(before) and _is_low_surrogate(text[:1] or after):
        start, text = start - 1, before + text
    if _is_low_surrogate(after) and _is_high_surrogate(text[-1:]):
        end, text = end + 1, text + after
    return start, end, text if text.isascii() else _PAIR.sub(_join_pair, text)


def _is_inside_pair(line: str, column: int, units: int) -> bool:
    """Whether a place that is the column `column`, rounded down, lies within the character there."""
    return (
        line[column : column + 1] > "\uffff"
        and units_from_column(line, column, Encoding.UTF16) < units
    )


def _split_pair(character: str) -> tuple[str, str]:
    code = ord(character) - 0x10000
    return chr(0xD800 + (code >> 10)), chr(0xDC00 + (code & 0x3FF))


def _join_pair(pair: re.Match[str]) -> str:
    first, second = map(ord, pair[0])
    return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))


def _is_high_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udbff"


def _is_low_surrogate(character: str) -> bool:
    return "\udc00" <= character <= "\udfff"
