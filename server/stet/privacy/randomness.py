"""Find strings that look random, like keys of an unknown issuer.

Words of a language, names in a program and paths seldom change between capitals, small letters and
digits; of two neighbours in a random string of 62 letters and digits 62 % are of different classes.
Both this share and the entropy (Shannon, bits for each character) must be high. Known
random-looking text without secrets is left out: hashes (hexadecimal, or named as a hash by the text
before), data in base64, UUIDs.

Letters alone are classified by their pairs: of the pairs of neighbours in words and names of
programs three quarters are among the 140 most frequent pairs; of random pairs, a fifth are.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

_FREQUENT = frozenset(  # the most frequent pairs in names and words of the Python library
    re.findall(
        r"\w\w",
        """
    ab ac ad ag ai al am an ap ar as at au ay ba be bl bo bu ca ce ch ci ck cl co cr ct cu da de di do ds
    ea ec ed ef el em en ep er es et ev ex fa fe fi fo ge gr ha he hi ho ia ib ic id ie if ig il im in io
    ip ir is it ke la ld le li ll lo lt ma me mi mo mp na nc nd ne nf ng ni no ns nt ob oc od ol om on oo
    op or os ot ou pa pe pl po pr ra rc rd re ri ro rs rt ry sa sc se sh si so sp ss st su ta te th ti to
    tr ts tt tu ty ue ul um un up ur us ut va ve vi wi xt
    """,
    )
)
_LEAST_PAIRS = 6


def is_unspeakable(word: str, most: float = 0.5) -> bool:
    """Return whether a word has pairs of letters, and few of them are frequent in words.

    Args:
        word: ASCII text of any case; a character that is no letter separates its neighbours.
        most: The largest share of frequent pairs.
    """
    low = word.lower()
    pairs = [a + b for a, b in pairwise(low) if a.isalpha() and b.isalpha()]
    n_frequent = sum(map(_FREQUENT.__contains__, pairs))
    return len(pairs) >= _LEAST_PAIRS and n_frequent <= most * len(pairs)


KIND = "random string"
LEAST = 20
MOST = 200
"""The most characters of a secret: a longer run is data."""
MOST_ALONE = 58
"""The same limit for a whole line: data in base64 has lines of 60 to 76 characters."""

_CHANGES = 0.4
"""Least share of neighbours of different classes."""
_TO_DIGITS = 0.08
"""The same for pairs with one digit: 27 % in random text, next to none in `ReadV1ValuesByName`."""
_WORDS = 0.36
"""The largest share of small letters in runs of three and more: 16 % in random text, half of
`readByte4OfUrl`."""
_BITS = 3.6
"""The least entropy of 20 characters, in bits; it grows with the length, as in random text."""

_RUN = re.compile(r"\b[A-Za-z0-9+/_-]{20,}={0,2}")
_HASH_BEFORE = re.compile(
    r"(?i)(?:sha\d{1,3}|md5|h1|hash|integrity|digest|checksum|base64,?|fingerprint|etag|nonce)"
    r"[\"']?[ \t]?[-:=(,]{0,2}[ \t]?[\"']?\Z"
)
_IN_PATH = re.compile(r"https?://[^\s\"'<>?#]*\Z")
"""Text before a name in the path of a web address: the address of a page is not a secret."""
_LONGEST_URL = 200
_DATA_LINE = re.compile(r"[A-Za-z0-9+/]{58,}")
_MOST_SIGNS = 3
_BEFORE_VALUE = frozenset("\"'`=: ")
_BEFORE = 24
"""Characters before a run that are searched for the name of a hash."""
CLASSES = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    b"a" * 26 + b"A" * 26 + b"0" * 10,
)
NAMES = re.compile(r"SHA\d|MD[245]|RC[24]|AES|CBC|UTF\d|SAX\d|Type(?:Obj|[A-Z]|\b)")
"""Parts of names of algorithms and types; random text hardly ever contains them."""
_CHANGE = re.compile(rb"(?=aA|Aa)")
_WORD = re.compile(rb"a{3,}")
TO_DIGIT = re.compile(rb"(?=a0|A0|0a|0A)")


def long_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of at least `LEAST` letters, digits and signs of base64."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        # After a line end that is written as two characters, the second is not part of the word.
        start += text[start] in "nrt" and text[start - 1 : start] == "\\"
        yield start, end


def with_signs(text: str, start: int) -> int:
    """Return the start of the value that contains a run: signs of base64 may precede the run."""
    first = start
    while first > 0 and start - first < _MOST_SIGNS and text[first - 1] in "+/-":
        first -= 1
    return first if text[first - 1 : first] in _BEFORE_VALUE else start


def is_random_string(text: str, start: int, end: int) -> bool:
    """Return whether a run looks random, and no text around it shows that it is no secret."""
    if end - start > MOST or not looks_random(text[start:end]):
        return False
    return not _is_known(text, start, end)


def looks_random(word: str) -> bool:
    """Return whether an ASCII word has the entropy of random text and the changes of classes."""
    classes = word.encode("ascii", "replace").translate(CLASSES)
    if not (b"a" in classes and b"A" in classes and b"0" in classes):
        return False
    n_pairs, to_digits = len(word) - 1, len(TO_DIGIT.findall(classes))
    if to_digits < _TO_DIGITS * n_pairs:
        return False
    if to_digits + len(_CHANGE.findall(classes)) < _CHANGES * n_pairs:
        return False
    if sum(map(len, _WORD.findall(classes))) > _WORDS * len(word):
        return False
    if NAMES.search(word):
        return False
    return entropy(word) >= _BITS + 0.6 * min(1.0, math.log2(len(word) / LEAST))


def entropy(word: str) -> float:
    """Return the entropy in bits per character, by the frequencies in the word (Shannon 1948)."""
    size = len(word)
    return -sum(n / size * math.log2(n / size) for n in Counter(word).values())


def is_named_as_hash(text: str, start: int) -> bool:
    """Return whether the text before `start` calls the following text a hash or a number."""
    return _HASH_BEFORE.search(text[max(0, start - _BEFORE) : start]) is not None


def _is_known(text: str, start: int, end: int) -> bool:
    """Return whether the text around a run shows that the run is a hash or a piece of data."""
    if _IN_PATH.search(text[max(0, start - _LONGEST_URL) : start]):
        return True
    if is_named_as_hash(text, with_signs(text, start)):
        return True
    if "_" in text[start:end] or "-" in text[start:end]:
        return False  # lines of base64 data contain neither
    line = text.rfind("\n", 0, start) + 1
    right = text[end : end + 8].partition("\n")[0]
    if text[line:start].strip(" \t\"'+b(0123456789") or right.strip(" \t\"'+,\\nr);"):
        return False
    # The last line of data may be short.
    above = text[max(0, line - 100) : line].strip().rpartition("\n")[2]
    return end - start >= MOST_ALONE or _DATA_LINE.search(above) is not None
