r"""The words of a text in the compared form: parts of identifiers, reduced to their stems.

stems("getUserNames") == ["get", "user", "nam"]

A stem is always the beginning of its word, so a text that does not contain the stem need not be cut
into words. The endings are English; this hardly harms other languages, as the question and the text
lose the same endings.
"""

import re
from functools import lru_cache

from stet.text.unicode_normal import normalize_unicode

_WORD = re.compile(r"[^\W_]+")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ENDINGS = (
    "ization", "ation", "ingly", "edly", "ing", "ion", "ment", "ed", "er", "or", "ly", "e", "y",
)  # fmt: skip
_DOUBLED = ("ing", "ed", "er", "ingly", "edly")
_VOWEL = re.compile("[aeiouy]")
_MIN_STEM = 3
STOP_WORDS = frozenset({
    "a", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it",
    "its", "me", "my", "of", "on", "or", "our", "should", "so", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "to", "was", "we", "were", "what", "when",
    "where", "which", "who", "why", "will", "with", "would", "you", "your",
})  # fmt: skip


def folded_text(text: str) -> str:
    """Return `text` in the compared form: normalized to NFC and without case."""
    return text.lower() if text.isascii() else normalize_unicode("NFC", text).casefold()


def split_words(text: str) -> list[str]:
    """Return the words of `text`, folded and in order. Identifiers are split into their words."""
    found: list[str] = []
    for word in _WORD.findall(text):
        found += map(str.lower, PART.findall(word)) if word.isascii() else [folded_text(word)]
    return found


def stems(text: str) -> list[str]:
    """Return the stems of the words of `text`, in order."""
    return [stem(part) for part in split_words(text)]


def query_stems(query: str) -> list[str]:
    """Return the stems of the words of a question, without repeats and stop words."""
    words = split_words(query)
    content_words = [word for word in words if word not in STOP_WORDS]
    return list(dict.fromkeys(map(stem, content_words or words)))


@lru_cache(maxsize=50_000)  # words are repeated often
def stem(word: str) -> str:
    """Return the stem of the folded `word`: the beginning that its inflected forms share."""
    if not (word.isascii() and word.isalpha()):
        return word
    word = _singular(word)
    while (shorter := _strip_ending(word)) != word:
        word = shorter
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) - 3 >= _MIN_STEM:
        return word[:-3]
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > _MIN_STEM and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _strip_ending(word: str) -> str:
    for ending in _ENDINGS:
        rest = word[: -len(ending)]
        if not word.endswith(ending) or len(rest) < _MIN_STEM or not _VOWEL.search(rest):
            continue
        is_doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
        if ending in _DOUBLED and len(rest) > _MIN_STEM and (is_doubled or rest[-1] == "i"):
            return rest[:-1]
        return rest
    return word
