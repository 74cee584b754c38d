"""Characters that show a person another text than a machine or a model reads, and words that do.

Direction controls (CVE-2021-42574), tag characters, variation selectors, zero-width characters and
fillers carry text that nobody sees; a Cyrillic letter in a Latin word makes another name of it. Both are
part of honest writing too: joiners in emoji and in many scripts, flags, an emoji's selector. So only
what honest writing has no use for is meant here.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
"""England, Scotland, Wales: the one honest use of tag characters."""
_HIDES = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u034f\u061c\u115f\u1160\u180b-\u180f\u200b\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
    "|(?<!\\A)\ufeff"
    # A joiner joins letters that have forms, one at a time; those of ASCII have none.
    r"|(?<=\w)(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[A-Za-z0-9_\u200c\u200d])"
    # A selector chooses the form of the one sign before it; of ASCII, only a keycap's has any.
    r"|(?<=[!-~\ufe00-\ufe0f])(?<![#*0-9])[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?!\u20e3)"
)
_CARRIES = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
"""Of these, what can carry or reorder whole sentences."""
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u0455\u0456\u0458\u043a\u04cf\u043c\u043d\u043e"
    "\u0440\u0441\u0442\u0443\u0445\u0501\u04bb\u051b\u0461"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2"
    "\u0131\u0261\u0251\u0585",
    "aesijklmhopctyxdhqwaikvoptuxcigao",
)
"""Cyrillic, Greek and other letters that look like a Latin one, all folded."""
_WORD = re.compile(r"\w+")
_TWO_LATIN = re.compile(r"[A-Za-z][^A-Za-z]*[A-Za-z]")


def suspicion(new: Iterable[str], old: Iterable[str]) -> str:
    """Why a person could be deceived by the texts `new` in place of `old`, as a sentence; "" if not.

    What stands in `old` already may stay, as often as it stands there.
    """
    new, old = tuple(new), tuple(old)
    if all(map(str.isascii, new)) and not any(map(_HIDES.search, new)):
        return ""
    if _count(_hidden, new) - _count(_hidden, old):
        return (
            "The text holds invisible characters that can show another text than a machine reads."
        )
    if mixed := _count(_mixed, new) - _count(_mixed, old):
        word = next(iter(mixed))
        return (
            f"The word {word.translate(LOOK_ALIKES)!r} in the text has letters of another script."
        )
    return ""


def visible(text: str) -> str:
    r"""`text` with what can carry or reorder hidden sentences as its escapes (`\u202e`)."""
    if not _CARRIES.search(text):
        return text
    flags = [found.span() for found in _FLAG.finditer(text)]

    def shown(found: re.Match[str]) -> str:
        if any(start <= found.start() < end for start, end in flags):
            return found[0]
        return found[0].encode("unicode_escape").decode()

    return _CARRIES.sub(shown, text)


def _count(find: Callable[[str], list[str]], texts: Iterable[str]) -> Counter[str]:
    """How often each thing is found in the texts."""
    return Counter(found for text in texts for found in find(text))


def _hidden(text: str) -> list[str]:
    return _HIDES.findall(_FLAG.sub("", text))


def _mixed(text: str) -> list[str]:
    """Words of Latin letters in which some letters only look like Latin ones."""
    if text.isascii():
        return []
    return [word for word in _WORD.findall(text) if _is_mixed(word)]


def _is_mixed(word: str) -> bool:
    if word.isascii() or not _TWO_LATIN.search(word):
        return False
    strange = [letter for letter in word if not letter.isascii()]
    return all(letter.casefold().translate(LOOK_ALIKES).isascii() for letter in strange)
