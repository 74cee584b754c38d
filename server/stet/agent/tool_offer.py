"""The tools that a model with the short prompt is offered: a few, and more when they are needed.

A tool joins the offer of a chat when a question plainly calls for it, or when the model calls it by
name. It joins at the end and stays, so that each request begins with the bytes of the request before.
"""

import re
from collections.abc import Iterable, Sequence

from stet.agent.turn_history import Exchange

FIRST_TOOLS = ("read_file", "edit_file", "search_workspace", "list_files", "done")
"""The tools that are offered from the beginning, in the order in which the model sees them."""

_FILE = r"(?:files?|folders?|modules?|scripts?|pages?|notes?|documents?|dateie?n?|ordner|notiz\w*)"
_PATH = r"[\w/-]+\.[a-z]{1,5}\b"
_WORDS = r"(?:\w+\s+)"
_PATTERNS = {
    "create_file": (
        rf"\b(?:create|erstelle?n?)\s+{_WORDS}{{0,2}}?(?:{_FILE}\b|{_PATH})"
        rf"|\b(?:add|write|generate|make|schreibe?)\s+(?:an?|another|eine?n?)\s+{_WORDS}{{0,2}}?{_FILE}\b"
        rf"|\b(?:new|neue[ns]?)\s+{_WORDS}{{0,1}}?{_FILE}\b"
    ),
    "move_file": rf"\b(?:rename|move|umbenennen|benenne|verschiebe?n?)\b.{{0,60}}?(?:\b{_FILE}\b|\b{_PATH})",
    "delete_file": rf"\b(?:delete|remove|trash|lösche?n?|entferne?n?)\b.{{0,40}}?(?:\b{_FILE}\b|\b{_PATH})",
    "copy_files": rf"\b(?:copy|duplicate|kopiere?n?)\b.{{0,40}}?(?:\b{_FILE}\b|\b{_PATH})",
    "open_file": rf"\b(?:open|öffne?n?)\b.{{0,40}}?(?:\b{_FILE}\b|\b{_PATH})",
    "read_webpage": r"https?://|\bwww\.",
    "web_search": r"\b(?:web|internet|online|google)\b",
    "get_links": r"\b(?:back)?links?\b|\[\[|\bverlink\w*",
    "link_files": r"\blink\b|\bverlink\w*",
    "find_dead_links": r"\b(?:dead|broken|tote|kaputte)\b.{0,20}\blinks?\b",
    "list_tags": r"\btags?\b|\bschlagw\w+",
    "add_tags": r"\btags?\b|\bschlagw\w+",
    "get_properties": r"\bfront ?-?matter\b|\bpropert(?:y|ies)\b|\beigenschaft\w*",
    "update_properties": r"\bfront ?-?matter\b|\bpropert(?:y|ies)\b|\beigenschaft\w*",
    "query_files": r"\b(?:all|which|every|alle|welche)\b.{0,20}\b(?:notes?|notiz\w*)\b",
    "execute_command": r"\b(?:run|execute|ausführen|führe)\b",
    "explore_structure": r"\b(?:structure|outline|architecture|struktur|aufbau)\b",
    "get_file_info": r"\b(?:file size|modified|changed last|last changed|dateigröße)\b",
    "ask_user": r"\bask me\b|\bfrag(?:e)? mich\b",
}
"""The words of a question that call for a tool, in English and German."""
_CALLS_FOR = {name: re.compile(one, re.IGNORECASE) for name, one in _PATTERNS.items()}
MAX_SEARCHED = 4_000
"""The most characters of a question that are searched for these words."""


def tools_called_for(question: str) -> tuple[str, ...]:
    """Return the names of the tools that the words of a question plainly call for."""
    words = question[:MAX_SEARCHED]
    return tuple(name for name, pattern in _CALLS_FOR.items() if pattern.search(words))


class ToolOffer:
    """The names of the tools that a chat offers, in the order in which they joined.

    Args:
        names: The first names.
    """

    def __init__(self, names: Iterable[str] = FIRST_TOOLS) -> None:
        self._names = list(dict.fromkeys(names))

    @classmethod
    def of_history(cls, history: Sequence[Exchange]) -> "ToolOffer":
        """Return the offer of a chat that has had these turns."""
        offer = cls()
        for exchange in history:
            offer.add(tools_called_for(exchange.question))
            offer.add(call.name for message in exchange.messages for call in message.tool_calls)
        return offer

    @property
    def names(self) -> tuple[str, ...]:
        """The names; some may be disabled or not exist."""
        return tuple(self._names)

    def add(self, names: Iterable[str]) -> bool:
        """Add the names that are missing, at the end; return whether there were any."""
        missing = [name for name in dict.fromkeys(names) if name not in self._names]
        self._names += missing
        return bool(missing)

    def copy(self) -> "ToolOffer":
        """Return an offer with the same names that can be changed by itself."""
        return ToolOffer(self._names)
