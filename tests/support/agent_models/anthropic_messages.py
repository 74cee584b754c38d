"""The Messages API of Anthropic on loopback, with and without streaming, from a script.

It is as lenient as it has to be for Claude Code: any model name and key are taken, and
`count_tokens` always counts ten.
"""

import asyncio
import itertools
import json
from collections.abc import Iterator
from socket import socket
from typing import Any

from tests.support.agent_models.script import Answer, ModelRequest, Script, ScriptOver
from tests.support.http_server import HttpRequest, HttpServer, read_request, response_head

_USAGE = {"input_tokens": 10, "output_tokens": 5}


class AnthropicMessages(HttpServer):
    """The server.

    Args:
        script: Its answers.
        listening: The socket on which it listens.
    """

    def __init__(self, script: Script, listening: socket | None = None) -> None:
        super().__init__(listening=listening)
        self._script = script
        self._numbers = itertools.count(1)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (asked := await read_request(reader)) is not None:
            status, content_type, body = self._answer(asked)
            headers = {"content-type": content_type, "content-length": str(len(body))}
            writer.write(response_head(status, headers))
            writer.write(b"" if asked.method == "HEAD" else body)
            await writer.drain()

    def _answer(self, asked: HttpRequest) -> tuple[int, str, bytes]:
        """Return status, content type and body of an answer."""
        path = asked.path.partition("?")[0]
        if path != "/v1/messages":
            self._script.side_requests.append(f"{asked.method} {path}")
            found: Any = {"input_tokens": 10} if path.endswith("/count_tokens") else {}
            return 200, "application/json", json.dumps(found).encode()
        try:
            answer = self._script.next(_model_request(asked.body))
        except ScriptOver as over:
            error = {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": str(over)},
            }
            return 400, "application/json", json.dumps(error).encode()
        message = self._message(answer, asked.body["model"])
        if not asked.body.get("stream"):
            return 200, "application/json", json.dumps(message).encode()
        events = b"".join(
            b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode())
            for event in _events(message)
        )
        return 200, "text/event-stream", events

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


def _model_request(body: Any) -> ModelRequest:
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


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
