"""Names of tools as models write them: which tool is meant, and what a provider takes back.

Providers refuse a conversation that names a tool in any other way than with up to 64 ASCII letters,
digits, `_` and `-` (OpenAI; Gemini wants a letter or `_` first), and refuse it again in every later
request. Models write a namespace before the name, a control token of their chat template after it,
quotes around it, or another case.
"""

import re
import unicodedata
from collections.abc import Collection

MAX_NAME = 64
"""Characters of a name that every provider takes."""
UNNAMED = "unknown"
"""Sent in the place of a name that has no usable character."""

_MAX_LOOKED_AT = 200
_VALID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_CONTROL_TOKEN = re.compile(r"<[|\uff5c][^<>]{0,40}>?|</?\w{1,20}>")
_SEPARATOR = re.compile(r"[^\w-]+|__+")
_ADDRESSED = re.compile(r"\bto=(\S+)")
_PREFIXES = ("functions", "function", "defaultapi", "namespace", "tools", "tool", "mcp", "stet")
_SUFFIX = "tool"


def is_valid(name: str) -> bool:
    """Return whether every provider takes `name` back as a tool's."""
    return _VALID.fullmatch(name) is not None


def valid_name(name: str) -> str:
    """Return `name`, changed as little as makes every provider take it; the same for the same name."""
    if is_valid(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", " ".join(_plain(name))).strip("_-")
    if not plain:
        return UNNAMED
    return (plain if is_valid(plain[:1]) else f"_{plain}")[:MAX_NAME]


def meant_tool(name: str, tools: Collection[str]) -> str | None:
    """Return the tool that a model means by `name`.

    Args:
        name: As the model wrote it.
        tools: The names of those that it may mean.

    Returns:
        The one of `tools` that `name` says in the writing of another format; None where it says
        none of them, or more than one.
    """
    if name in tools:
        return name
    by_key = {_key(tool): tool for tool in tools}
    keys = (key for text in _plain(name) for part in _parts(text) for key in _keys(part))
    found = {by_key[key] for key in keys if key in by_key}
    return found.pop() if len(found) == 1 else None


def _plain(name: str) -> list[str]:
    """Return the parts between control tokens. Invisible characters are removed and variants of
    letters unified.
    """
    text = unicodedata.normalize("NFKC", name[:_MAX_LOOKED_AT])
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return [part.strip() for part in _CONTROL_TOKEN.split(text)]


def _parts(text: str) -> list[str]:
    """Return the parts of a name that may be a tool's name: all of it, the addressee and the
    separated parts.

    Of several words only those that are written as names are (`a_b`, `a.b`): the others may be prose.
    """
    text = re.split(r"[({\[]", text)[0]
    if addressed := _ADDRESSED.search(text):
        text = addressed[1]
    words = text.split()
    named = [word for word in words if len(words) == 1 or re.search(r"[^\W_][_.:/-][^\W_]", word)]
    return [text, *(part for word in named for part in (word, *_SEPARATOR.split(word)))]


def _keys(part: str) -> list[str]:
    """Return the key of a part and its keys without what formats put before and after a name."""
    keys = [_key(part)]
    while keys[-1].endswith(_SUFFIX):
        keys.append(keys[-1].removesuffix(_SUFFIX))
    for prefix in _PREFIXES:
        keys += [key.removeprefix(prefix) for key in keys if key.startswith(prefix)]
    half = keys[0][: len(keys[0]) // 2]
    return [*keys, half] if half * 2 == keys[0] else keys


def _key(text: str) -> str:
    """Return a name without case and punctuation. `ReadFile`, `read-file` and `read_file` have the
    same key.
    """
    return re.sub(r"[^a-z0-9]", "", text.lower())
