"""Reads the lists that switch tools off or keep files back, however they are written.

The user relies on these lists: a value of a wrong form is reported, and restricts all that can be
read from the value. A value that can't be read as a whole is added to what the sources below restrict,
so that no slip allows anything.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from stet.settings.value_checks import (
    KINDS,
    deny_problem,
    is_text,
    name_problem,
    nearest_name,
    show_value,
)

SWITCHES = {f"agent.{switch}": switch for switch in KINDS}
"""The switch of each setting that names tools or groups."""
RESTRICTIONS = frozenset({*SWITCHES, "privacy.deny", "context.excludedFolders"})
"""The settings that only restrict: lists of texts."""
NARROW_VALUES = {
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
class ReadRestriction:
    """What a value restricts.

    Attributes:
        texts: The names or patterns, each once, in order.
        faults: A sentence for each text that restricts nothing as it is written.
        is_list: Whether the value is a list of texts and nothing else.
        is_whole: Whether it is, and the meaning of each text is known.
    """

    texts: tuple[str, ...]
    faults: tuple[str, ...]
    is_list: bool
    is_whole: bool


def read_restriction(key: str, value: object) -> ReadRestriction:
    """Read the list of a setting that restricts, in any form; for a switch, `true` is every name."""
    switch = SWITCHES.get(key)
    written, is_list = _written_texts(value)
    is_list = is_list and all(map(is_text, written))
    texts: dict[str, None] = {}
    faults: dict[str, None] = {}
    is_whole = is_list
    for text in KINDS[switch][1] if switch and value is True else written:
        if not switch and not is_text(text):
            continue
        meant, fault = _meant_texts(key, text)
        texts |= {one: None for one in meant if one is not None}
        faults |= {fault: None} if fault else {}
        is_whole = is_whole and None not in meant
    return ReadRestriction(tuple(texts), tuple(faults), is_list, is_whole)


def _written_texts(value: object) -> tuple[list[str], bool]:
    """Read the texts of any JSON value: of a bare text, of lists in lists, of an object's keys.

    A key that has the value `false` or `null` is left out. `{}` is a list: some languages can't
    tell an empty list from an empty object.

    Returns:
        Each text once, in order, and whether the value is a list of texts and nothing else.
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
    return list(texts), is_list


def _meant_texts(key: str, text: str) -> tuple[Sequence[str | None], str]:
    """Return what a text restricts, None for a part of it that is unknown, and what is wrong with it.

    A text that is no name of a switch switches off what it means: the names in it, the names that match
    it as a pattern, or else the most similar name.
    """
    switch = SWITCHES.get(key)
    if switch is None:
        if key == "privacy.deny" and (why := deny_problem(text)):
            return (None,), f"the entry {show_value(text)} of {key!r} keeps nothing back: {why}"
        return (text,), ""
    known = KINDS[switch][1]
    if text in known:
        return (text,), ""
    meant: list[str | None] = []
    for part in [part for part in map(str.strip, _SEPARATORS.split(text.casefold())) if part]:
        words = part.split()
        if part in _ALL:
            meant += known
        elif "*" in part or "?" in part:
            meant += [name for name in known if fnmatchcase(name, part)] or [None]
        elif len(words) > 1 and set(words) <= set(known):
            meant += words
        else:
            meant.append(nearest_name(part, known) or None)
    fault = f"an entry of {key!r} switches nothing off: {name_problem(switch, text)}"
    return meant or (None,), fault


def narrow_value(key: str, value: object) -> bool | None:
    """Return the truth value that a text or number means, if that value allows less; else None."""
    narrow = NARROW_VALUES.get(key)
    if narrow is None:
        return None
    is_word = isinstance(value, str) and value.strip().casefold() in _WORDS[narrow]
    return narrow if is_word or value == narrow else None


def restriction_meant_by(key: str) -> str:
    """Return the restriction that a misspelled or misplaced key means; "" for none."""
    last = _plain(key)
    by_last = {_plain(name): name for name in sorted(RESTRICTIONS)}
    near = difflib.get_close_matches(last, by_last, 1, _LEAST_LIKENESS)
    return by_last[near[0]] if near else ""


def _plain(key: str) -> str:
    """Return the last part of a key, without case and signs between words."""
    return re.sub(r"[\W_]", "", key.rpartition(".")[2]).casefold()
