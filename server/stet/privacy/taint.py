"""The source of a tool's target: the user, or a text by other authors.

A model repeats text that it reads. So if it acts on a name, a target or an argument that comes from
a file, a page, an output or an error and not from the user, the user sees the source and must
confirm each time.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from stet.text.unicode_normal import normalize_unicode

_WORD = re.compile(r"[^\s\"'`()<>{}\[\],;|&=]{4,}")
"""Text that can name something; shorter text occurs everywhere."""
_UNSEEN = re.compile("[\u00ad\u034f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
"""Characters of no visible width."""
_SLASHES = re.compile(r"[/\\]+")
_HERE = re.compile(r"(?<![\w.])\./")
_UP = re.compile(r"(?<![^\s\"'`(/=:])(?!\.\.?/)[^\s/\"'`(=:]+/\.\./")
"""A folder that is entered and left again."""
_MAX_UPS = 8
_LEAST = 3
_MAX_SHOWN = 80


MAX_CHARACTERS = 300_000
"""The most characters that are remembered for one chat; the oldest texts are dropped."""


def normalize_spelling(text: str) -> str:
    """Return `text` with one spelling of each name: case, width, slashes, `./` and `%2F` make no
    difference.
    """
    text = unquote(text) if "%" in text else text
    text = _UNSEEN.sub("", normalize_unicode("NFKC", text)).casefold()
    text = _HERE.sub("", _SLASHES.sub("/", text))
    for _ in range(_MAX_UPS):
        text, n_replaced = _UP.subn("", text)
        if not n_replaced:
            break
    return text


@dataclass(slots=True)
class TaintTracker:
    """The texts of others that a chat's model was shown, each with its source.

    They outlive the history that is sent: a model may still act on text that it has read.
    """

    _sources: dict[str, str] = field(default_factory=dict)
    _n_characters: int = 0

    def add(self, source: str, text: str) -> None:
        """Add a text; `source` is its name for the user."""
        words = normalize_spelling(text)
        if not words.strip() or words in self._sources:
            return
        self._sources[words] = source
        self._n_characters += len(words)
        while self._n_characters > MAX_CHARACTERS and len(self._sources) > 1:
            oldest = next(iter(self._sources))
            del self._sources[oldest]
            self._n_characters -= len(oldest)

    def source_of(self, value: str, user_words: Sequence[str]) -> str:
        """Return the source of `value` or of a word in it; "" for the user or only the model."""
        user_text = normalize_spelling("\n".join(user_words))
        whole = normalize_spelling(value.strip()).rstrip("/")
        if len(whole) < _LEAST or whole in user_text:
            return ""
        words = [
            word.rstrip("/") for word in _WORD.findall(whole) if word.rstrip("/") not in user_text
        ]
        for name in dict.fromkeys((whole, *words)):
            for text, source in self._sources.items():
                # A file does not name itself: a result repeats the name in the call.
                if name in text and name != normalize_spelling(source):
                    return source
        return ""

    def explain_source(self, values: Iterable[str], user_words: Sequence[str]) -> str:
        """Return a sentence for the user about the first value that others named, or ""."""
        for value in values:
            if source := self.source_of(value, user_words):
                excerpt = " ".join(value.split())
                excerpt = excerpt if len(excerpt) <= _MAX_SHOWN else f"{excerpt[:_MAX_SHOWN]}…"
                return f"{excerpt!r} comes from {source}, not from you."
        return ""


def describe_call_source(tool: str, arguments: object) -> str:
    """Describe the result of a call by a name that the user knows: file, page, else tool."""
    is_of_server = "__" in tool  # its arguments name what only the server knows
    if isinstance(arguments, dict) and not is_of_server:
        for name in ("file", "url"):
            if isinstance(argument := arguments.get(name), str) and argument.strip():
                return " ".join(argument.split())[:_MAX_SHOWN]
        if tool == "execute_command" and isinstance(argument := arguments.get("name"), str):
            return f"the output of {argument[:_MAX_SHOWN]!r}"
    return f"a result of {tool}"
