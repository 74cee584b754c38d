"""Messages and names of tools in the form of the chat completions API.

The result for a message depends on that message alone and is the same each time, so that the
requests of a conversation have the same beginning byte for byte (providers' prompt caches).

First the conversation is put into a form that every provider accepts: each call has its own id and
one result. Providers differ in the ids that they return and accept: ids of 70 characters, the same
id in every round, no id at all. Mistral accepts only ids of nine letters and digits, and all others
accept such ids too; the chat template of Kimi K2 reads the tool's name and the call's number from
its id.

Providers refuse a conversation unless each tool name has up to 64 ASCII letters, digits, `_` and
`-` (OpenAI; Gemini requires a letter or `_` first), and refuse the conversation again in every
later request. Models write a namespace before the name, a control token of their chat template
after it, quotes around it, or another case.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from stet.llm.completion_stream import CALL_ID_LENGTH
from stet.llm.model import Message, ToolCall, ToolDefinition

MAX_NAME = 64
"""The most characters of a name that every provider accepts."""
UNNAMED = "unknown"
"""Sent instead of a name without any usable character."""

_MAX_LOOKED_AT = 200
_VALID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_CONTROL_TOKEN = re.compile(r"<[|\uff5c][^<>]{0,40}>?|</?\w{1,20}>")
_SEPARATOR = re.compile(r"[^\w-]+|__+")
_ADDRESSED = re.compile(r"\bto=(\S+)")
_PREFIXES = ("functions", "function", "defaultapi", "namespace", "tools", "tool", "mcp", "stet")
_SUFFIX = "tool"


def is_valid(name: str) -> bool:
    """Return whether every provider accepts `name` as the name of a tool."""
    return _VALID.fullmatch(name) is not None


def valid_name(name: str) -> str:
    """Return `name` with the fewest changes that every provider accepts. Equal names stay equal."""
    if is_valid(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", " ".join(_plain(name))).strip("_-")
    if not plain:
        return UNNAMED
    return (plain if is_valid(plain[:1]) else f"_{plain}")[:MAX_NAME]


def match_tool(name: str, tools: Collection[str]) -> str | None:
    """Return the tool that a model means by `name`.

    Args:
        name: The name as the model wrote it.
        tools: The names of the tools that it may mean.

    Returns:
        The one of `tools` that `name` spells in another format; None if it spells none or more
        than one.
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

    Of several words only those that are written as names are (`a_b`, `a.b`): the others may be
    prose.
    """
    text = re.split(r"[({\[]", text)[0]
    if addressed := _ADDRESSED.search(text):
        text = addressed[1]
    words = text.split()
    named = [word for word in words if len(words) == 1 or re.search(r"[^\W_][_.:/-][^\W_]", word)]
    return [text, *(part for word in named for part in (word, *_SEPARATOR.split(word)))]


def _keys(part: str) -> list[str]:
    """Return the key of a part, and its keys without the prefixes and suffixes of formats."""
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


NOT_RUN = "Not completed.\n"
SILENT = "(No answer.)"
"""The text in place of an empty answer, with which providers refuse the whole conversation."""

_TAKEN_BY_ALL = re.compile(rf"[A-Za-z0-9]{{{CALL_ID_LENGTH}}}")
_KIMI_K2 = re.compile(r"kimi[-_. ]?k2", re.IGNORECASE)


def pair_calls(messages: Iterable[Message], model: str) -> list[Message]:
    """Return `messages` with ids that are unique, and with exactly one result for each call.

    A result without a call is left out; a call without a result gets a result that states this.

    Args:
        messages: The conversation.
        model: The name of the model that gets the request.
    """
    ids = _CallIds(numbered=_KIMI_K2.search(model) is not None)
    # A message belongs together with the results that follow it.
    units: list[list[Message]] = []
    for message in messages:
        if units and message.role == "tool":
            units[-1].append(message)
        else:
            units.append([message])
    return [message for unit in units for message in _unit(unit, ids)]


class _CallIds:
    """A source of ids for the calls of a conversation.

    Args:
        numbered: Whether an id consists of the tool's name and the number of the call.
    """

    def __init__(self, *, numbered: bool) -> None:
        self._numbered = numbered
        self._n_given = 0
        self._used: set[str] = set()

    def next_id(self, call: ToolCall) -> str:
        """Return the id of the next call."""
        number = self._n_given
        self._n_given += 1
        if self._numbered:
            return f"functions.{valid_name(call.name)}:{number}"
        given = call.id if _TAKEN_BY_ALL.fullmatch(call.id) else _hashed(call.id)
        while given in self._used:
            given = _hashed(f"{given} {number}")
        self._used.add(given)
        return given


def _unit(unit: Sequence[Message], ids: _CallIds) -> Iterator[Message]:
    head = unit[0]
    if head.role == "tool":  # a result at the very beginning
        return
    if head.role != "assistant" or not head.tool_calls:
        is_silent = head.role == "assistant" and not head.content.strip()
        yield replace(head, content=SILENT) if is_silent else head
        return
    calls = tuple(replace(call, id=ids.next_id(call)) for call in head.tool_calls)
    yield replace(head, tool_calls=calls)
    results = list(unit[1:])
    known = {call.id for call in head.tool_calls}
    for asked, sent in zip(head.tool_calls, calls, strict=True):
        result = _take_result(results, asked.id, known)
        yield Message("tool", result.content if result else NOT_RUN, tool_call_id=sent.id)


def _take_result(results: list[Message], call_id: str, known: Collection[str]) -> Message | None:
    """Remove the first of the remaining results that belongs to a call and return it.

    That is the result with the call's id, else the first result whose id no call has (`known` are
    the ids of the calls).
    """
    ids = [result.tool_call_id for result in results]
    strays = [n for n, each in enumerate(ids) if each not in known]
    found = [ids.index(call_id)] if call_id in ids else strays
    return results.pop(found[0]) if found else None


def _hashed(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:CALL_ID_LENGTH]


MAX_ARGUMENTS = 100_000
"""The most characters of a call's arguments; OpenAI accepts a million, gateways less."""
MAX_DEPTH = 32
"""The most levels of JSON in arguments: converters to other formats refuse a hundred."""
_MAX_RAW_CHARACTERS = 2000
"""The characters that are kept of each text in arguments that are too long."""


def to_api_messages(messages: Iterable[Message], model: str) -> list[dict[str, Any]]:
    """Return a conversation in a form that every provider accepts.

    The model's output and a stored chat may contain anything.

    Args:
        messages: The conversation.
        model: The name of the model that gets the request.
    """
    return [to_api_message(message) for message in pair_calls(messages, model)]


def to_api_message(message: Message) -> dict[str, Any]:
    """Return one message in the form that the API requires."""
    content = encodable(message.content)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    if not message.tool_calls:
        return {"role": message.role, "content": content}
    calls = [_to_api_call(call) for call in message.tool_calls]
    text = content if content.strip() else None
    return {"role": message.role, "content": text, "tool_calls": calls}


def to_api_tool(tool: ToolDefinition) -> dict[str, Any]:
    """Return a tool in the form that the API requires."""
    parameters = dict(tool.parameters)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def to_api_tool_choice(names: Iterable[str]) -> dict[str, Any]:
    """Return the choice of tools that allows a text answer and calls of only the named tools."""
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}}


def encodable(text: str) -> str:
    """Return `text` with lone surrogates replaced: an editor may send them, but UTF-8 has none."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _to_api_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": valid_name(call.name), "arguments": sendable_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def parse_object(text: str) -> dict[str, Any] | None:
    """Return a JSON object, or None for any other text."""
    try:
        value = json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def sendable_arguments(arguments: str) -> str:
    """Return arguments as a JSON object of bounded size.

    A provider refuses each later request of a conversation with one call that has other arguments.
    """
    value = parse_object(arguments)
    if value is None or _depth(value) > MAX_DEPTH:
        return json.dumps({"invalid": _shortened(encodable(arguments))}, ensure_ascii=False)
    if _has_surrogates(arguments):
        arguments = encodable(json.dumps(value, ensure_ascii=False))
    if len(arguments) <= MAX_ARGUMENTS:
        return arguments
    shorter = json.dumps(
        {key: _shortened(one) if isinstance(one, str) else one for key, one in value.items()},
        ensure_ascii=False,
    )
    if len(shorter) <= MAX_ARGUMENTS:
        return encodable(shorter)
    return json.dumps({"cut": _shortened(encodable(arguments))}, ensure_ascii=False)


def _shortened(text: str) -> str:
    n_more = len(text) - _MAX_RAW_CHARACTERS
    return text if n_more <= 0 else f"{text[:_MAX_RAW_CHARACTERS]} (cut: {n_more} more characters)"


def _depth(value: object) -> int:
    """Return the number of levels of a JSON value, the value itself included."""
    depth, level = 0, [value]
    while level := [each for one in level if isinstance(one, dict | list) for each in _each(one)]:
        depth += 1
    return depth + 1


def _each(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _has_surrogates(arguments: str) -> bool:
    """Return whether `arguments` may contain a lone surrogate, as a character or an escape."""
    return "\\ud" in arguments.lower() or any("\ud800" <= c <= "\udfff" for c in arguments)


def _no_json(constant: str) -> object:
    """Refuse `NaN` and `Infinity`, which Python accepts and a provider does not."""
    raise ValueError(f"{constant} is not valid JSON")
