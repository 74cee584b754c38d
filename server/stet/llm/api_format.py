"""Our messages in the shape of the chat completions API.

The result of a message depends on that message alone and is the same each time, so that the
requests of a conversation share their beginning byte for byte (providers' prompt caches).
"""

import json
from collections.abc import Iterable
from typing import Any

from stet.llm.call_pairing import pair_calls
from stet.llm.messages import Message, ToolCall, ToolDefinition
from stet.llm.tool_names import valid_name

MAX_ARGUMENTS = 100_000
"""Characters of a call's arguments that are sent back; OpenAI takes a million, gateways less."""
MAX_DEPTH = 32
"""Levels of JSON in them: converters to other formats refuse a hundred."""
_MAX_RAW_CHARACTERS = 2000
"""Characters that stay of each text in arguments that are too long."""


def to_api_messages(messages: Iterable[Message], model: str) -> list[dict[str, Any]]:
    """Return a conversation as every provider takes it, whatever a model or a kept chat put there.

    Args:
        messages: The conversation.
        model: The name of the model that is asked.
    """
    return [to_api_message(message) for message in pair_calls(messages, model)]


def to_api_message(message: Message) -> dict[str, Any]:
    """One message as the API wants it."""
    content = encodable(message.content)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    if not message.tool_calls:
        return {"role": message.role, "content": content}
    calls = [_to_api_call(call) for call in message.tool_calls]
    said = content if content.strip() else None
    return {"role": message.role, "content": said, "tool_calls": calls}


def to_api_tool(tool: ToolDefinition) -> dict[str, Any]:
    """A tool as the API wants it."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def to_api_tool_choice(names: Iterable[str]) -> dict[str, Any]:
    """Return the choice of tools that allows only some of those that are sent, or words."""
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}}


def encodable(text: str) -> str:
    """`text` with lone surrogates (an editor may send them) replaced: UTF-8 has no room for them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _to_api_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": valid_name(call.name), "arguments": sendable_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def sendable_arguments(arguments: str) -> str:
    """Return arguments as a JSON object of bounded size.

    A provider refuses a conversation with one call that has others, for ever after.
    """
    try:
        value = json.loads(arguments, parse_constant=_no_json)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or _depth(value) > MAX_DEPTH:
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
    """How many levels a value of JSON has, its own included."""
    depth, level = 0, [value]
    while level := [each for one in level if isinstance(one, dict | list) for each in _each(one)]:
        depth += 1
    return depth + 1


def _each(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _has_surrogates(arguments: str) -> bool:
    """Whether a lone surrogate may be in it, as such or by its number."""
    return "\\ud" in arguments.lower() or any("\ud800" <= c <= "\udfff" for c in arguments)


def _no_json(constant: str) -> object:
    """Refuse `NaN` and `Infinity`, which Python reads and a provider does not."""
    raise ValueError(f"{constant} is no JSON")
