"""Our messages in the shape of the chat completions API.

The result of a message depends on that message alone and is the same each time, so that the
requests of a conversation share their beginning byte for byte (providers' prompt caches).
"""

import json
from typing import Any

from stet.llm.messages import Message, ToolCall, ToolDefinition


def wire_message(message: Message) -> dict[str, Any]:
    """One message as the API wants it."""
    content = encodable(message.content)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    if not message.tool_calls:
        return {"role": message.role, "content": content}
    calls = [_wire_call(call) for call in message.tool_calls]
    return {"role": message.role, "content": content or None, "tool_calls": calls}


def wire_tool(tool: ToolDefinition) -> dict[str, Any]:
    """A tool as the API wants it."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def encodable(text: str) -> str:
    """`text` with lone surrogates (an editor may send them) replaced: UTF-8 has no room for them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _wire_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name or "unknown", "arguments": _sendable(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _sendable(arguments: str) -> str:
    """Arguments as a JSON object: one bad call in the history would be refused for ever after."""
    try:
        whole = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return encodable(arguments if whole else json.dumps({"invalid": arguments}))
