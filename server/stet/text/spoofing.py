r"""Text that looks different to a person and to a machine, and control tokens of models.

Direction controls (CVE-2021-42574), tag characters, variation selectors, zero-width characters and
fillers can carry invisible text; a Cyrillic letter in a Latin word makes it another name. Both have
honest uses too: joiners in emoji and in many scripts, flags, the selector of an emoji. So only uses
that honest writing does not need are detected here.

A local server joins a conversation to one text by the chat template of its model and searches all
of it for control tokens: `<|im_end|>` in a file ends the user's message there and begins another in
any role that the file names. So a broken bar is inserted after the first sign of each:
`<¦|im_end|>`. Users can see the bar and no vocabulary contains the result.
`unescape_special_tokens(escape_special_tokens(text))` is `text` for any text, since a token that is
already broken in it gets another bar. Hidden characters are shown in the same step. Templates that
are only words (`### Instruction:`, `USER:`) have no tokens to break.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable

BAR = "\u00a6"
"""Marks text that is shown in another form than it is written; see `escape_hidden`."""
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
"""England, Scotland, Wales: the one honest use of tag characters."""
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WITHOUT_SPACES = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u19e0-\u1aaf\ua9e0-\uaa7f"
"""Scripts that write no spaces, and mark words by a space without width: Thai, Tibetan, Khmer,
...
"""
_FORMED = "\u1000-\u109f\u2200-\u22ff\u2a00-\u2aff\ua840-\ua87f" + _IDEOGRAPHS
"""Signs with variant forms: mathematical signs, Burmese, 'Phags-pa and ideographs."""
_HIDES = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u034f\u115f\u1160\u17b4\u17b5\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe03-\ufe0d\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<!\\A)\ufeff"
    rf"|(?<![{_WITHOUT_SPACES}])\u200b"
    # A variation selector is honest only directly after a sign with variant forms.
    rf"|(?<![{_FORMED}])[\ufe00-\ufe02]|(?<![{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]"
    "|(?<![\u1820-\u18aa])[\u180b-\u180f]"
    # Direction is a matter of scripts that run from right to left.
    "|(?<![\u0600-\u08ff])\u061c(?![\u0600-\u08ff])|(?<=[0-9A-Za-z_])[\u200e\u200f](?=[0-9A-Za-z_])"
    "|(?<![\u2800-\u28ff])\u2800(?![\u2800-\u28ff])"
    # A joiner joins letters that have forms, one at a time; those of ASCII have none.
    r"|(?<=\w)(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[A-Za-z0-9_\u200c\u200d])"
    # A selector chooses the form of the one sign before it; of ASCII, only a keycap's has any.
    r"|(?<=[!-~\ufe00-\ufe0f])(?<![#*0-9])[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?!\u20e3)"
)
_MAY_HIDE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""All characters that may be hidden, found twenty times as fast; `_HIDES` decides at a place."""
_SOFT_HYPHEN = "\xad"
_PROSE = (
    ".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".org", ".tex", ".html", ".htm", ".xhtml",
    ".xml", ".po", ".srt", ".vtt",
)  # fmt: skip
"""Extensions of files in which soft hyphens are normal; in code they are hidden characters."""
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_SHOWN = re.compile(rf"<({BAR}+)U\+([0-9A-F]{{4,6}})>")
CONFUSABLES = str.maketrans(
    "\u0430\u0435\u0455\u0456\u0458\u043a\u04cf\u043c\u043d\u043e"
    "\u0440\u0441\u0442\u0443\u0445\u0501\u04bb\u051b\u0461"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2"
    "\u0131\u0261\u0251\u0585",
    "aesijklmhopctyxdhqwaikvoptuxcigao",
)
"""Cyrillic, Greek and other letters that look like a Latin letter, all case-folded."""
_CAPITALS = {
    "\u0412": "b", "\u0392": "b", "\u0395": "e", "\u0396": "z", "\u0397": "h", "\u039c": "m",
    "\u039d": "n", "\u0422": "t", "\u0474": "v",
}  # fmt: skip
"""Letters that look like a Latin capital, while the small letter looks like another or none."""
_LATIN_1 = 0xFF
_MIN_CONFUSABLE = 3
"""Minimum length of a word that may be confused with another; shorter matches are chance."""
_WORD = re.compile(r"\w+")
_TWO_LATIN_LETTERS = re.compile(r"[A-Za-z][^A-Za-z]*[A-Za-z]")


def describe_spoofing(new: Iterable[str], old: Iterable[str], name: str = "") -> str:
    """Return why `new` in place of `old` could deceive a person, as a sentence; "" if it can't.

    Signs that are in `old` already may stay, as often as they occur there. `name` is the file's
    name.
    """
    new, old = tuple(new), tuple(old)
    if all(map(str.isascii, new)) and not any(map(_CONTROLS.search, new)):
        return ""

    def added(find: Callable[[str], list[str]]) -> str | None:
        """Return the first thing that is found in the new texts more often than in the old."""
        return next(iter(_count_matches(find, new) - _count_matches(find, old)), None)

    if added(_hidden if name.casefold().endswith(_PROSE) else _hidden_in_code):
        what = "The text contains invisible characters"
        return f"{what} that can make it look different from what programs read."
    if word := added(_mixed_script_words):
        return f"The word {skeleton(word)!r} in the text mixes letters of different scripts."
    if word := added(_confusable_finder((*new, *old))):
        return (
            f"The word {skeleton(word)!r} occurs twice in the text, once with letters of another "
            "script."
        )
    return ""


def escape_hidden(text: str) -> str:
    """Return `text` with invisible characters as numbers: `<¦U+202E>`; see `unescape_hidden`."""
    if text.isascii() and not _CONTROLS.search(text):
        return text
    if BAR in text:
        text = _SHOWN.sub(rf"<{BAR}\1U+\2>", text)
    flags = [found.span() for found in _FLAG.finditer(text)]

    def shown(found: re.Match[str]) -> str:
        at, character = found.start(), found[0]
        is_visible = not _HIDES.match(text, at) or any(start <= at < end for start, end in flags)
        if character != _SOFT_HYPHEN and is_visible:
            return character
        return f"<{BAR}U+{ord(character):04X}>"

    return _MAY_HIDE.sub(shown, text)


def unescape_hidden(text: str) -> str:
    """Reverse `escape_hidden`, also for a text that quotes a part of an escaped text."""
    if BAR not in text:
        return text
    return _SHOWN.sub(_unescape_match, text)


def _unescape_match(shown: re.Match[str]) -> str:
    bars, code = shown[1], int(shown[2], 16)
    if len(bars) > 1:
        return f"<{bars[1:]}U+{shown[2]}>"
    # `escape_hidden` does not write a number that is no character.
    return chr(code) if code <= sys.maxunicode and not 0xD800 <= code < 0xE000 else shown[0]


def _count_matches(find: Callable[[str], list[str]], texts: Iterable[str]) -> Counter[str]:
    """Return how often each thing is found in the texts."""
    return Counter(found for text in texts for found in find(text))


def _hidden(text: str) -> list[str]:
    return _HIDES.findall(_FLAG.sub("", text))


def _hidden_in_code(text: str) -> list[str]:
    return [*_hidden(text), *(_SOFT_HYPHEN * text.count(_SOFT_HYPHEN))]


def _mixed_script_words(text: str) -> list[str]:
    """Return words of Latin letters in which some letters only look like Latin ones."""
    if text.isascii():
        return []
    words = (word for word in _WORD.findall(text) if not word.isascii())
    mixed = (word for word in words if _TWO_LATIN_LETTERS.search(word))
    return [word for word in mixed if all(map(_looks_latin, word))]


def _looks_latin(letter: str) -> bool:
    return letter.isascii() or bool(_ascii_lookalike(letter))


def _confusable_finder(texts: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a finder for words of another script that look like ASCII words of given texts."""
    words = {word.casefold() for text in texts for word in _WORD.findall(text) if word.isascii()}

    def doubles(text: str) -> list[str]:
        found = () if text.isascii() else _WORD.findall(text)
        return [word for word in found if _is_non_latin(word) and skeleton(word) in words]

    return doubles


def _is_non_latin(word: str) -> bool:
    return len(word) >= _MIN_CONFUSABLE and all(map(_ascii_lookalike, word))


def skeleton(word: str) -> str:
    """Return the text that a word looks like."""
    return "".join(_ascii_lookalike(letter) or letter for letter in word).casefold()


def _ascii_lookalike(letter: str) -> str:
    """Return the ASCII letter that a letter of another script looks like; "" if no letter does."""
    if letter.isascii() or ord(letter) <= _LATIN_1:
        return ""
    found = _CAPITALS.get(letter) or letter.casefold().translate(CONFUSABLES)
    if len(found) == 1 and not found.isascii():
        found = unicodedata.normalize("NFKC", found)  # wide and mathematical letters
    return found if len(found) == 1 and found.isascii() and found.isalpha() else ""


_TOKEN_WORD = rf"[^\s<>\[\]{BAR}]{{1,64}}"
_ANGLED = "|".join(
    (
        # ChatML, Llama 3 and 4, Phi, Granite, Command, GLM, gpt-oss; DeepSeek has wide bars
        rf"[|\uff5c]{_TOKEN_WORD}>",
        rf"{_TOKEN_WORD}[|\uff5c]>",  # Gemma 4 ends with `<turn|>`
        r"</?SYS>>",  # Llama 2: `<<SYS>>`
        r"/?(?:s|bos|eos|pad|unk|think|role|sop|eop)>",
        r"/?tool_(?:call|response)s?>",  # Hermes, Qwen
        r"(?:start|end)_of_(?:turn|image)>",  # Gemma
        r"(?:image_soft_token|__media__|__image__)>",
        r"(?:unused|reserved_|extra_id_|SPECIAL_|special_)\d{1,6}>",
        r"seed:\w{1,40}>",
    )
)
_SQUARE = "|".join(
    (
        # Mistral
        r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK|MODEL_SETTINGS)\]",
        r"\|[\w/-]{1,64}\|\]",  # EXAONE
        r"gMASK\]",  # GLM
        r"e~\[",  # MiniMax
    )
)


def _token_pattern(bars: str) -> str:
    """Return the pattern for the first sign of each token that is followed by the bars `bars`."""
    return rf"<(?={bars}(?:{_ANGLED}))|\[(?={bars}(?:{_SQUARE}))|\](?={bars}~!?b[\[\]])"


_WHOLE = re.compile(_token_pattern(f"{BAR}*"))
_ESCAPED_TOKEN = re.compile(rf"({_token_pattern(f'{BAR}+')}){BAR}")
_MAY_BE_ESCAPED = re.compile(rf"[<\[\]](?:{BAR}|\Z)")
_LONGEST = 150
"""The approximate maximum length of a token with its bars, in code points."""


def escape_special_tokens(text: str) -> str:
    """Return `text` without control tokens and hidden characters; see `unescape_special_tokens`."""
    return _WHOLE.sub(rf"\g<0>{BAR}", escape_hidden(text))


def unescape_special_tokens(text: str) -> str:
    """Reverse `escape_special_tokens`, also for a text that quotes a part of an escaped text."""
    return unescape_hidden(_ESCAPED_TOKEN.sub(r"\1", text)) if BAR in text else text


def incomplete_token_start(text: str) -> int:
    """Return the offset of an incomplete escaped token at the end of `text`, else the end."""
    found = _MAY_BE_ESCAPED.search(text, max(0, len(text) - _LONGEST))
    return found.start() if found else len(text)
