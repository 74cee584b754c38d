"""Typographic punctuation and the plain characters that a model writes for it."""

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


def canonical(text: str) -> str:
    """`text` with plain quotes, hyphens, spaces and dots."""
    return text if text.isascii() else text.translate(_TABLE)


def origins(text: str) -> list[int]:
    """For every character of `canonical(text)`, and for its end, where it is in `text`."""
    found = [at for at, char in enumerate(text) for _ in canonical(char)]
    return [*found, len(text)]
