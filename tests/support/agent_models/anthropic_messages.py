"""The Messages API of Anthropic on loopback, with and without streaming, from a script.

It is as lenient as it has to be for Claude Code: any model name and key are taken, and
`count_tokens` always counts ten.
"""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.agent_models.script import Answer, ModelRequest
from tests.support.agent_models.script_server import ScriptServer, Sent, event_stream, json_body

_USAGE = {"input_tokens": 10, "output_tokens": 5}


class AnthropicMessages(ScriptServer):
    """The server."""

    PATH = "/v1/messages"

    def _read(self, body: Any) -> ModelRequest:
        texts, results = [], []
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                if block["type"] == "tool_result":
                    results.append(_text(block["content"]))
                elif block["type"] == "text" and message["role"] != "assistant":
                    texts.append(block["text"])
        return ModelRequest(
            system=_text(body.get("system", "")),
            texts=tuple(texts),
            results=tuple(results),
            tools=tuple(tool["name"] for tool in body.get("tools", ())),
        )

    def _sent(self, answer: Answer, body: Any) -> Sent:
        message = self._message(answer, body["model"])
        return event_stream(_events(message)) if body.get("stream") else json_body(message)

    def _sent_beside(self, path: str) -> Sent:
        return json_body({"input_tokens": 10} if path.endswith("/count_tokens") else {})

    def _message(self, answer: Answer, model: str) -> dict[str, Any]:
        number = next(self._numbers)
        blocks: list[dict[str, Any]] = (
            [{"type": "text", "text": answer.text}] if answer.text else []
        )
        for place, one in enumerate(answer.calls):
            name = f"toolu_{number}_{place}"
            blocks.append(
                {"type": "tool_use", "id": name, "name": one.name, "input": one.arguments}
            )
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": "tool_use" if answer.calls else "end_turn",
            "stop_sequence": None,
            "usage": _USAGE,
        }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events that stream a message."""
    begun = message | {"content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty = block | {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
