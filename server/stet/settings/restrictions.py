"""Reads the lists that switch tools off or keep files back, however they are written.

The user relies on these lists: a value of a wrong form is reported, and restricts all that can be
read from the value. A value that can't be read as a whole is added to what the sources below restrict,
so that no slip allows anything.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from stet.settings.value_checks import KINDS, name_problem, nearest_name

SWITCHES = {f"agent.{switch}": switch for switch in KINDS}
"""The switch of each setting that names tools or groups."""
RESTRICTIONS = frozenset({*SWITCHES, "privacy.deny", "context.excludedFolders"})
"""The settings that only restrict: lists of texts."""
_NARROW_VALUES = {
    "edit.canAdd": False,
    "edit.canDelete": False,
    "edit.canCreate": False,
    "edit.canNavigate": False,
    "bridges.opencode.enabled": False,
    "privacy.redactSecrets": True,
}
"""The truth value with which a setting allows less."""
_WORDS = {
    False: frozenset({"false", "no", "n", "off", "never", "none", "disabled", "0"}),
    True: frozenset({"true", "yes", "y", "on", "always", "all", "enabled", "1"}),
}
_LEAST_LIKENESS = 0.9
"""How alike a misspelled key must be to be read as a restriction, from 0 to 1."""
_SEPARATORS = re.compile(r"[,;\n]")
_ALL = frozenset({"*", "all", "everything"})


class AddedTexts(tuple[str, ...]):
    """A list that is added to the list of the source below, instead of replacing that list."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class WrittenTexts:
    """The texts of a value.

    Attributes:
        texts: Each text once, in order.
        is_list: Whether the value is a list of texts and nothing else.
        is_all: Whether the value is `true`, which means every name.
    """

    texts: tuple[str, ...]
    is_list: bool
    is_all: bool


def written_texts(value: object) -> WrittenTexts:
    """Read the texts of any JSON value: of a bare text, of lists in lists, of an object's keys.

    A key that has the value `false` or `null` is left out. `{}` is a list: some languages can't
    tell an empty list from an empty object.
    """
    is_list = isinstance(value, list | tuple) or value == {}
    texts: dict[str, None] = {}
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            texts[item] = None
            continue
        if isinstance(item, Mapping):
            named = [key for key, on in item.items() if on is not None and on is not False]
            waiting += reversed(named)
        elif isinstance(item, list | tuple):
            waiting += reversed(item)
        is_list &= item is value
    return WrittenTexts(tuple(texts), is_list, value is True)


@dataclass(frozen=True, slots=True)
class SwitchedNames:
    """What a switch turns off.

    Attributes:
        names: The names of tools or groups, each once.
        problems: A sentence for each text that names no tool or group.
        is_whole: Whether the meaning of each text is known.
    """

    names: tuple[str, ...]
    problems: tuple[str, ...]
    is_whole: bool


def switched_names(switch: str, texts: Iterable[str]) -> SwitchedNames:
    """Read the names of a switch. A text that is no name is reported, and switches off what it
    means: the names in it, the names that match it as a pattern, or else the most similar name.
    """
    _, known = KINDS[switch]
    names: dict[str, None] = {}
    problems: dict[str, None] = {}
    is_whole = True
    for text in texts:
        if text in known:
            names[text] = None
            continue
        problems[name_problem(switch, text)] = None
        meant = list(_meant_names(text, known))
        names |= dict.fromkeys(filter(None, meant))
        is_whole &= all(meant)
    return SwitchedNames(tuple(names), tuple(problems), is_whole)


def _meant_names(text: str, known: tuple[str, ...]) -> Iterable[str]:
    """Yield the names that a text means; "" for each part of the text that is like no name."""
    parts = [part.strip() for part in _SEPARATORS.split(text)]
    for part in parts if not any(parts) else filter(None, parts):
        if part.casefold() in _ALL:
            yield from known
        elif "*" in part or "?" in part:
            yield from [name for name in known if fnmatchcase(name, part.casefold())] or [""]
        elif len(words := part.split()) > 1 and all(word.casefold() in known for word in words):
            yield from (word.casefold() for word in words)
        else:
            yield nearest_name(part, known)


def narrow_value(key: str, value: object) -> bool | None:
    """Return the truth value that a text or number means, if that value allows less; else None."""
    narrow = _NARROW_VALUES.get(key)
    if narrow is None or not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    is_meant = (
        value == narrow
        if not isinstance(value, str)
        else value.strip().casefold() in _WORDS[narrow]
    )
    return narrow if is_meant else None


def restriction_meant_by(key: str) -> str:
    """Return the restriction that a misspelled or misplaced key means; "" for none."""
    last = _plain(key)
    by_last = {_plain(name): name for name in sorted(RESTRICTIONS)}
    near = difflib.get_close_matches(last, by_last, 1, _LEAST_LIKENESS)
    return by_last[near[0]] if near else ""


def _plain(key: str) -> str:
    """Return the last part of a key, without case and signs between words."""
    return re.sub(r"[\W_]", "", key.rpartition(".")[2]).casefold()
