"""The tools that an MCP server lists, checked and limited, and the hash of the list."""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from stet.settings.values import McpServerSettings
from stet.text.escape import escape, escape_line
from stet.text.spoofing import escape_special_tokens

SEPARATOR = "__"
"""The text between the name of a server and the name of its tool."""
MAX_NAME = 64
"""The most characters of the whole name of a tool: no provider takes more."""
MAX_TOOLS = 100
"""The most tools of one server."""
MAX_DESCRIPTION = 2000
"""The most characters of a description."""
MAX_SCHEMA = 20_000
"""The most characters of the schema of the arguments, as JSON."""
MAX_DEPTH = 20
"""The deepest nesting of a schema."""
CHOICES = ("enum", "const", "default", "examples")
"""The keys of a schema with values that an argument may have."""
_MAX_TEXT = 1000
"""The most characters of one text in a schema."""
_MAX_PROBLEMS = 3
"""The most tools of a list that are reported one by one."""
_MAX_SHOWN = 80
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_LEFT_OUT = ("$schema", "$id", "$comment", "title")
"""The keys of a schema that no model needs and some providers refuse."""


class _Unusable(Exception):
    """A tool can't be offered; the message is the end of a sentence."""


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool of a server.

    Attributes:
        server: The name of the server in the settings.
        name: The name of the tool at the server.
        description: The description by the server: text by strangers, limited, with control
            characters shown.
        schema: The schema of the arguments as JSON, limited in the same way.
        pin: The hash of the server's program and of its whole list.
    """

    server: str
    name: str
    description: str
    schema: str
    pin: str

    @property
    def full_name(self) -> str:
        """The name for the model."""
        return f"{self.server}{SEPARATOR}{self.name}"


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of one server.

    Attributes:
        tools: The tools that may be offered.
        pin: The hash of the server's program and of its whole list.
        problems: A sentence for each tool that can't be offered; of many only some.
    """

    tools: tuple[ListedTool, ...] = ()
    pin: str = ""
    problems: tuple[str, ...] = ()


def server_name_problem(name: str) -> str:
    """Return why a name of the settings can't be the name of a server; "" if it can."""
    if _NAME.fullmatch(name) and SEPARATOR not in name and len(name) < MAX_NAME // 2:
        return ""
    return (
        f"The MCP server {escape_line(name)[:_MAX_SHOWN]!r} is not used: its name may hold letters, "
        f"digits, `-` and single `_` only, and at most {MAX_NAME // 2 - 1} characters."
    )


def check_tools(server: McpServerSettings, items: Sequence[object]) -> ToolList:
    """Return the usable ones of the tools that a server has listed."""
    pin = _hash(server, items)
    found: dict[str, ListedTool] = {}
    problems: list[str] = []
    for item in items:
        try:
            tool = _check_tool(server, item, pin)
            _check_place(tool, found)
        except _Unusable as why:
            name = item.get("name") if isinstance(item, dict) else ""
            shown = escape_line(name[:_MAX_SHOWN]) if isinstance(name, str) else ""
            problems.append(
                f"The tool {shown!r} of the MCP server {server.name!r} is not used: {why}."
            )
            continue
        if tool is not None:
            found[tool.name] = tool
    n_more = len(problems) - _MAX_PROBLEMS
    if n_more > 0:
        problems[_MAX_PROBLEMS:] = [f"{n_more} more tools of {server.name!r} are not used."]
    return ToolList(tuple(found.values()), pin, tuple(problems))


def _check_tool(server: McpServerSettings, item: object, pin: str) -> ListedTool | None:
    """Return a tool; None if the settings leave it out.

    Raises:
        _Unusable: If it can't be offered.
    """
    name = item.get("name") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _Unusable("a name may hold letters, digits, `_` and `-` only")
    if not any(fnmatchcase(name, pattern) for pattern in server.tools):
        return None
    if len(server.name) + len(SEPARATOR) + len(name) > MAX_NAME:
        raise _Unusable(f"with the name of its server it has more than {MAX_NAME} characters")
    description = item.get("description")
    text = escape(description[:MAX_DESCRIPTION]) if isinstance(description, str) else ""
    return ListedTool(server.name, name, text.strip(), _check_schema(item.get("inputSchema")), pin)


def _check_place(tool: ListedTool | None, others: Collection[str]) -> None:
    """Check that a tool may stand beside `others`, by name.

    Raises:
        _Unusable: If it may not.
    """
    if tool is not None and tool.name in others:
        raise _Unusable("another tool has the same name")
    if tool is not None and len(others) >= MAX_TOOLS:
        raise _Unusable(f"a server may have {MAX_TOOLS} tools")


def _check_schema(schema: object) -> str:
    """Return the schema of the arguments as JSON.

    Raises:
        _Unusable: If a model can't be sent it.
    """
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise _Unusable("its arguments have no schema of an object")
    shown = {key: each for key, each in schema.items() if key not in _LEFT_OUT}
    properties, required = shown.setdefault("properties", {}), shown.get("required", [])
    if not isinstance(properties, dict) or not all(
        isinstance(one, dict | bool) for one in properties.values()
    ):
        raise _Unusable("the schemas of its arguments are not valid")
    if not isinstance(required, list) or not all(isinstance(one, str) for one in required):
        raise _Unusable("the names of its required arguments are not valid")
    text = json.dumps(_limit_texts(shown, MAX_DEPTH), ensure_ascii=False)
    if len(text) > MAX_SCHEMA:
        raise _Unusable(f"the schema of its arguments has more than {MAX_SCHEMA} characters")
    return text


def _limit_texts(value: Any, depth: int) -> Any:
    """Return JSON with limited texts, without control characters and control tokens.

    Raises:
        _Unusable: If it is nested deeper than `depth`.
    """
    if depth == 0:
        raise _Unusable("the schema of its arguments is nested too deeply")
    if isinstance(value, str):
        return escape_special_tokens(escape(value[:_MAX_TEXT]))
    if isinstance(value, list):
        return [_limit_texts(each, depth - 1) for each in value]
    if isinstance(value, Mapping):
        return {
            escape_line(str(key))[:_MAX_TEXT]: _limit_texts(each, depth - 1)
            for key, each in value.items()
        }
    return value


def texts_in_schema(schema: str, keys: Collection[str]) -> frozenset[str]:
    """Return the texts below these keys of a schema, which is JSON."""

    def texts(value: Any, *, is_below: bool) -> Iterator[str]:
        if isinstance(value, str) and is_below:
            yield value
        elif isinstance(value, dict):
            for key, each in value.items():
                yield from texts(each, is_below=key in keys)
        elif isinstance(value, list):
            for each in value:
                yield from texts(each, is_below=is_below)

    return frozenset(texts(json.loads(schema), is_below=False))


def _hash(server: McpServerSettings, items: Sequence[object]) -> str:
    """Return the hash of the program and of the name, description and schema of each tool."""
    listed = [
        [item.get(key) for key in ("name", "description", "inputSchema")]
        for item in items
        if isinstance(item, dict)
    ]
    texts = sorted(json.dumps(one, sort_keys=True) for one in listed)
    text = json.dumps([list(server.command), texts])
    return hashlib.sha256(text.encode()).hexdigest()
