r"""Characters that differ and mean the same: Unicode's normal forms and typographic punctuation.

A normal form puts combining marks in order, in time quadratic in the number of adjacent marks:
40,000 after one letter keep a processor busy for two seconds. So Unicode's stream-safe format is
normalized, which cuts such rows with a character of no effect (U+034F), in linear time.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

LONGEST = 30
"""The maximum number of marks in a row (UAX #15); no real text comes near it."""
_CUT = "\N{COMBINING GRAPHEME JOINER}"
# Marks are no letters for `re`; the last two become marks under NFKC.
_ROW = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{LONGEST + 1}}}")

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalize_unicode(form: NormalForm, text: str) -> str:
    """Return `text` in a normal form; a row of more than 30 marks is cut."""
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


_PLAIN = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    " ": "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "...": "\u2026",
}
BLANK = " \t\f\v"
"""White space at the ends of a line."""
SPACES = BLANK + _PLAIN[" "]
"""`BLANK` with typographic spaces."""
_TABLE = str.maketrans({odd: plain for plain, odds in _PLAIN.items() for odd in odds})


def plain_punctuation(text: str) -> str:
    """Return `text` with plain quotes, hyphens, spaces and dots."""
    return text if text.isascii() else text.translate(_TABLE)


def punctuation_origins(text: str) -> list[int]:
    """Return for each character of `plain_punctuation(text)`, and for its end, its offset in
    `text`.
    """
    found = [at for at, char in enumerate(text) for _ in plain_punctuation(char)]
    return [*found, len(text)]


def plain_sign_map(pairs: Iterable[tuple[str, str]]) -> dict[int, str]:
    """Return the plain sign for each typographic sign of a model, for `str.translate`.

    Args:
        pairs: Lines as the model wrote them, each with the same line of the file. A sign counts if
            the file has the same plain one for it in every place.
    """
    found: dict[int, set[str]] = defaultdict(set)
    for theirs, ours in ((one.strip(SPACES), other.strip(SPACES)) for one, other in pairs):
        if theirs.isascii() or plain_punctuation(theirs) != plain_punctuation(ours):
            continue
        where = punctuation_origins(ours)
        at = 0
        for char in theirs:
            end = at + len(plain_punctuation(char))
            if plain_punctuation(char) != char:
                found[ord(char)].add(ours[where[at] : where[end]])
            at = end
    plain = {odd: next(iter(signs)) for odd, signs in found.items() if len(signs) == 1}
    return {odd: sign for odd, sign in plain.items() if sign == _TABLE.get(odd)}


def unknown_signs(text: str, known: str) -> str:
    """Return the first typographic sign of `text` that is not in `known`; `""` if all are known."""
    return next((char for char in text if ord(char) in _TABLE and char not in known), "")
