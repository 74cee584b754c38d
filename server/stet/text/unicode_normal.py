r"""Unicode's normal forms in linear time.

A normal form puts combining marks in order, which takes the square of how many stand in a row:
40,000 behind one letter keep a processor busy for two seconds. Unicode's stream-safe format, which
cuts such rows with a character of no effect (U+034F), is what is normalised here.
"""

import re
import unicodedata
from typing import Literal

LONGEST = 30
"""Marks in a row, as UAX #15 has it: no writing comes near it."""
_CUT = "\N{COMBINING GRAPHEME JOINER}"
# Marks are no letters for `re`; the last two become marks under NFKC.
_ROW = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{LONGEST + 1}}}")

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalize_unicode(form: NormalForm, text: str) -> str:
    """`text` in a normal form; of marks without end each row is cut behind 30."""
    if text.isascii():
        return text
    if len(text) > LONGEST:
        text = _ROW.sub(_cut, text)
    return unicodedata.normalize(form, text)


def _cut(row: re.Match[str]) -> str:
    if not any(map(unicodedata.combining, row[0])):
        return row[0]  # symbols, say a line of dashes
    return row[0][:LONGEST] + _CUT + row[0][LONGEST:]


def fold_name(name: str) -> str:
    """Return `name` without the differences that some file systems ignore: composition and case."""
    return normalize_unicode("NFC", name).casefold()
