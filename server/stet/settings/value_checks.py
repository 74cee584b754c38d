"""Checks of settings when they are read, so that mistakes are reported before the setting is used.

An entry of `privacy.deny` that matches nothing is reported with the correct spelling, because its
user relies on it. The switches of tools and tool groups are safety switches too: unknown names are
reported. The tools are defined above this layer; a test compares their names with `TOOLS`.

The user relies on the lists that switch tools off or withhold files: a value of a wrong form is
reported, and every restriction that can be read from the value is applied. A value that can't be
read as a whole is added to the restrictions of the sources below, so that no mistake allows
anything.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import AddressValueError, IPv4Address
from urllib.parse import SplitResult, urlsplit

_EXAMPLE = "use one such as 'http://127.0.0.1:11434/v1'"
_NAME = re.compile(r"(?!-)[\w-]{1,63}(\.[\w-]{1,63})*\.?")
_PATHS = ("/chat/completions", "/completions", "/embeddings", "/infill", "/models")


_MAX_SHOWN = 60


def show_value(value: object) -> str:
    """Return a value for a sentence: short, escaped; of an object or a list only its kind."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**_MAX_SHOWN:
        return "a number that long"  # Python refuses to print very long numbers
    return str(value).lower() if isinstance(value, bool) else shorten(repr(value))


def shorten(text: str, most: int = _MAX_SHOWN) -> str:
    """Return a text for a sentence, cut after `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def is_text(value: object) -> bool:
    """Return whether `value` is a string that can be written as UTF-8 (no lone surrogates)."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def url_problem(url: str) -> str:
    """Return the problem of a `baseUrl` and the remedy; "" if there is none.

    The address is quoted, unless it may contain a password.
    """
    why = _fault_of(url) if url else ""
    if not why or "@" in url:
        return why
    return f"{why} (got {shorten(url, 80)!r})"


def _fault_of(url: str) -> str:
    if not url.isprintable() or " " in url:
        return "it contains a space or an invisible character"
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"it is not a URL: {_EXAMPLE}"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return f"it is not an http URL: {_EXAMPLE}"
    if "@" in parts.netloc:
        return (
            "it contains a user name or password: remove the part before '@', and set "
            "'apiKeyEnv' to the environment variable that holds the key"
        )
    return _fault_of_place(parts) or _fault_of_rest(parts)


def _fault_of_place(parts: SplitResult) -> str:
    """Return the problem of the host or the port; "" if there is none."""
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        return "it has an invalid port: use a number from 1 to 65535"
    host = parts.hostname or ""
    if ":" in host:  # `urlsplit` has checked the IPv6 address
        return ""
    return "" if _is_host(host) else f"it has no valid host: {_EXAMPLE}"


def _is_host(host: str) -> bool:
    if not _NAME.fullmatch(host) or len(host) > 253:
        return False
    if host.rpartition(".")[2].isdigit():
        try:
            IPv4Address(host)
        except AddressValueError:
            return False
    return True


def _fault_of_rest(parts: SplitResult) -> str:
    """Return the problem of the part after the host; "" if there is none."""
    if parts.query or parts.fragment:
        return "it has a query or fragment: remove it"
    if "\\" in parts.path:
        return "it contains a backslash: use '/'"
    path = next((one for one in _PATHS if parts.path.rstrip("/").endswith(one)), "")
    return f"it ends in {path!r}, which is added automatically: remove it" if path else ""


_DENY_FAULTS = (
    (r"\A!?/*\Z", "it is empty"),
    (r"\A#", "it is a comment; escape a leading '#' with a backslash"),
    (r"\A\s", "it has a leading space"),
    (r"://", "it is a URL; use a path such as /home/me/diary"),
    (r"\A!?~", "~ is not expanded; use the full path, such as /home/me/diary"),
    (r"\A!?[A-Za-z]:", "drive letters are not supported; use the path below the drive, with /"),
    (r"\\[A-Za-z0-9]", "use / instead of a trailing backslash"),
    (r"(?:\A!?|/)\.\.?(?:/|\Z)", ". and .. are not allowed; use a path relative to the workspace"),
    (r"//(?!/*\Z)", "it contains //; use a single /"),
    (r"(?s)(?<!\\)\[(?![!^]?\]?(?:\\.|[^\]\\])*+\])", "its [ is not closed"),
    (r"(?<!\\)\\/*\Z", "it ends with a backslash"),
    (r"\{[^}]*,[^}]*\}", "braces are not expanded; add one entry for each"),
)
"""Patterns of invalid entries, each with its problem and remedy; the first match counts."""


def deny_problem(entry: str) -> str:
    """Return the problem of an entry of `privacy.deny` and the remedy; "" if there is none."""
    text = re.sub(r"(?<!\\) +$", "", entry)
    return next((why for pattern, why in _DENY_FAULTS if re.search(pattern, text)), "")


TOOLS = (
    "search_workspace", "read_file", "list_files", "get_links", "explore_structure", "list_tags",
    "get_attached_context", "get_properties", "get_file_info", "find_dead_links", "query_files",
    "web_search", "read_webpage", "edit_file", "create_file", "open_file", "move_file",
    "update_properties", "add_tags", "link_files", "copy_files", "delete_file", "execute_command",
    "done", "ask_user",
)  # fmt: skip
GROUPS = ("workspace", "web", "action", "advanced")

KINDS = {"disabledTools": ("tool", TOOLS), "disabledGroups": ("tool group", GROUPS)}
"""By switch, the kind of thing that it names, and the known names."""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the most similar known name, ignoring case; "" if none is similar."""
    by_folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.strip().casefold(), by_folded, 1)
    return by_folded[near[0]] if near else ""


def name_problem(switch: str, name: str) -> str:
    """Return a sentence for an unknown tool or group, with a similar name; "" for a known one."""
    kind, known = KINDS[switch]
    if name in known:
        return ""
    near = nearest_name(name, known)
    hint = f"did you mean {near!r}?" if near else f"valid: {', '.join(known)}"
    return f"unknown {kind} {shorten(name)!r}; {hint}"


SWITCHES = {f"agent.{switch}": switch for switch in KINDS}
"""By setting that names tools or groups, its switch."""
RESTRICTIONS = frozenset({*SWITCHES, "privacy.deny", "context.excludedFolders"})
"""The settings that only restrict, each a list of texts."""
NARROW_VALUES = {
    "edit.canAdd": False,
    "edit.canDelete": False,
    "edit.canCreate": False,
    "edit.canNavigate": False,
    "bridges.opencode.enabled": False,
    "privacy.redactSecrets": True,
}
"""By setting, the boolean value that allows less."""
_WORDS = {
    False: frozenset({"false", "no", "n", "off", "never", "none", "disabled", "0"}),
    True: frozenset({"true", "yes", "y", "on", "always", "all", "enabled", "1"}),
}
_LEAST_LIKENESS = 0.9
"""The least similarity (0 to 1) of a misspelled key that is read as a restriction."""
_SEPARATORS = re.compile(r"[,;\n]")
_ALL = frozenset({"*", "all", "everything"})


class AddedTexts(tuple[str, ...]):
    """A list that is added to the list of the source below, instead of replacing that list."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ReadRestriction:
    """The restrictions read from a value.

    Attributes:
        texts: The names or patterns, each once, in order.
        faults: A sentence for each text that is not valid as written.
        is_list: Whether the value is a list of texts and nothing else.
        is_whole: Whether the value is such a list, and the meaning of each text is known.
    """

    texts: tuple[str, ...]
    faults: tuple[str, ...]
    is_list: bool
    is_whole: bool


def read_restriction(key: str, value: object) -> ReadRestriction:
    """Read the restrictions of a setting from any value; `true` switches every name off."""
    switch = SWITCHES.get(key)
    written, is_list = _written_texts(value)
    is_list = is_list and all(map(is_text, written))
    texts: dict[str, None] = {}
    faults: dict[str, None] = {}
    is_whole = is_list
    for text in KINDS[switch][1] if switch and value is True else written:
        if not switch and not is_text(text):
            continue
        corrected, fault = _corrected_texts(key, text)
        texts |= {one: None for one in corrected if one is not None}
        faults |= {fault: None} if fault else {}
        is_whole = is_whole and None not in corrected
    return ReadRestriction(tuple(texts), tuple(faults), is_list, is_whole)


def _written_texts(value: object) -> tuple[list[str], bool]:
    """Collect the texts of any JSON value: a text, nested lists, the keys of objects.

    A key whose value is `false` or `null` is left out. `{}` is a list: some languages can't tell an
    empty list from an empty object.

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


def _corrected_texts(key: str, text: str) -> tuple[Sequence[str | None], str]:
    """Return the names or patterns that a text means, None for each unknown part, and the problem.

    A text that is no name of a switch means the names in it, the names that match it as a pattern,
    or else the most similar name.
    """
    switch = SWITCHES.get(key)
    if switch is None:
        if key == "privacy.deny" and (why := deny_problem(text)):
            return (None,), f"the entry {show_value(text)} of {key!r} excludes nothing: {why}"
        return (text,), ""
    known = KINDS[switch][1]
    if text in known:
        return (text,), ""
    corrected: list[str | None] = []
    for part in [part for part in map(str.strip, _SEPARATORS.split(text.casefold())) if part]:
        words = part.split()
        if part in _ALL:
            corrected += known
        elif "*" in part or "?" in part:
            corrected += [name for name in known if fnmatchcase(name, part)] or [None]
        elif len(words) > 1 and set(words) <= set(known):
            corrected += words
        else:
            corrected.append(nearest_name(part, known) or None)
    fault = f"an entry of {key!r} disables nothing: {name_problem(switch, text)}"
    return corrected or (None,), fault


def narrow_value(key: str, value: object) -> bool | None:
    """Return the boolean that a text or number means if it allows less; else None."""
    narrow = NARROW_VALUES.get(key)
    if narrow is None:
        return None
    is_word = isinstance(value, str) and value.strip().casefold() in _WORDS[narrow]
    return narrow if is_word or value == narrow else None


def intended_restriction(key: str) -> str:
    """Return the restriction that a misspelled or misplaced key means; "" if there is none."""
    last = _plain(key)
    by_last = {_plain(name): name for name in sorted(RESTRICTIONS)}
    near = difflib.get_close_matches(last, by_last, 1, _LEAST_LIKENESS)
    return by_last[near[0]] if near else ""


def _plain(key: str) -> str:
    """Return the last part of a key, casefolded and without separators of words."""
    return re.sub(r"[\W_]", "", key.rpartition(".")[2]).casefold()
