"""The names of tools and of their groups, as settings and questions switch them off.

They are safety switches: a name that is none must not pass for a switch that was set. The tools
themselves are above this layer; a test holds the names against them.
"""

import difflib
from collections.abc import Iterable

TOOLS = (
    "search_workspace", "read_file", "list_files", "get_links", "explore_structure", "list_tags",
    "get_attached_context", "get_properties", "get_file_info", "find_dead_links", "query_files",
    "web_search", "read_webpage", "edit_file", "create_file", "open_file", "move_file",
    "update_properties", "add_tags", "link_files", "copy_files", "delete_file", "execute_command",
    "done", "ask_user",
)  # fmt: skip
GROUPS = ("workspace", "web", "action", "advanced")

KINDS = {"disabledTools": ("tool", TOOLS), "disabledGroups": ("tool group", GROUPS)}
"""What each of the switches names: in a word, and the names there are."""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Find the known name that is most like another one, in any case of letters; "" for none."""
    by_folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.strip().casefold(), by_folded, 1)
    return by_folded[near[0]] if near else ""


def name_problem(switch: str, name: str) -> str:
    """Say that a switch names no tool or group, with the nearest name; "" if it names one."""
    kind, known = KINDS[switch]
    if name in known:
        return ""
    near = nearest_name(name, known)
    hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
    shown = name if len(name) <= 60 else f"{name[:60]}…"
    return f"there is no {kind} {shown!r}; {hint}"
