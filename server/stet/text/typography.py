"""Typographic punctuation and the plain characters that a model writes for it."""

from collections import defaultdict
from collections.abc import Iterable

_PLAIN = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    " ": "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "...": "\u2026",
}
BLANK = " \t\f\v"
"""What counts as white space at the ends of a line."""
SPACES = BLANK + _PLAIN[" "]
"""The same, with typographic spaces."""
_TABLE = str.maketrans({odd: plain for plain, odds in _PLAIN.items() for odd in odds})


def plain_punctuation(text: str) -> str:
    """`text` with plain quotes, hyphens, spaces and dots."""
    return text if text.isascii() else text.translate(_TABLE)


def punctuation_origins(text: str) -> list[int]:
    """For every character of `canonical(text)`, and for its end, where it is in `text`."""
    found = [at for at, char in enumerate(text) for _ in plain_punctuation(char)]
    return [*found, len(text)]


def plain_sign_map(pairs: Iterable[tuple[str, str]]) -> dict[int, str]:
    """Which typographic signs of a model stand for which plain ones, as `str.translate` takes it.

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
