"""The Responses API of OpenAI on loopback, as a stream, from a script.

A call of a tool that the request declares as `custom` is sent as its `input`; any other call is
sent with its arguments as JSON.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.support.agent_models.script import Answer, Call, ModelRequest
from tests.support.agent_models.script_server import ScriptServer, Sent, event_stream

_USAGE = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}


class Responses(ScriptServer):
    """The server."""

    PATH = "/v1/responses"

    def _read(self, body: Any) -> ModelRequest:
        texts, results = [], []
        for item in body["input"]:
            if item["type"] == "message" and item["role"] != "assistant":
                texts += [part["text"] for part in item["content"] if part["type"] == "input_text"]
            elif item["type"] in ("function_call_output", "custom_tool_call_output"):
                results.append(_text(item["output"]))
        return ModelRequest(
            system=body.get("instructions", ""),
            texts=tuple(texts),
            results=tuple(results),
            tools=tuple(tool.get("name", tool["type"]) for tool in _tools(body)),
        )

    def _sent(self, answer: Answer, body: Any) -> Sent:
        custom = {tool["name"] for tool in _tools(body) if tool["type"] == "custom"}
        output = self._output(answer, custom)
        return event_stream(_events(output, f"resp_{next(self._numbers)}"))

    def _output(self, answer: Answer, custom: set[str]) -> list[dict[str, Any]]:
        """Return the items of an answer."""
        items: list[dict[str, Any]] = []
        if answer.text:
            content = [{"type": "output_text", "text": answer.text, "annotations": []}]
            items.append({"type": "message", "role": "assistant", "content": content})
        items += [_call_item(one, one.name in custom) for one in answer.calls]
        for item in items:
            item["id"] = f"item_{next(self._numbers)}"
            if "name" in item:
                item["call_id"] = f"call_{item['id']}"
        return items


def _call_item(one: Call, is_custom: bool) -> dict[str, Any]:
    if is_custom:
        return {"type": "custom_tool_call", "name": one.name, "input": one.arguments["input"]}
    return {"type": "function_call", "name": one.name, "arguments": json.dumps(one.arguments)}


def _events(output: list[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    """Yield the events that stream the items of an answer."""
    begun = {"id": name, "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(output):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    ended = begun | {"status": "completed", "output": output, "usage": _USAGE}
    yield {"type": "response.completed", "response": ended}


def _tools(body: Any) -> Iterator[Any]:
    """Yield the offered tools: those of the request, and those that an item of the input adds."""
    added = [item["tools"] for item in body["input"] if item["type"] == "additional_tools"]
    for tool in itertools.chain(body.get("tools", ()), *added):
        if tool["type"] == "namespace":
            yield from tool["tools"]
        else:
            yield tool


def _text(output: Any) -> str:
    if isinstance(output, str):
        return output
    return "\n".join(part["text"] for part in output if part["type"] == "input_text")
