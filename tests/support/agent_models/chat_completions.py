"""The Chat Completions API of OpenAI on loopback, as a stream, from a script."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.agent_models.script import Answer, ModelRequest
from tests.support.agent_models.script_server import ScriptServer, Sent
from tests.support.openai_server import delta, encoded, piece, usage


class ChatCompletions(ScriptServer):
    """The server."""

    PATH = "/v1/chat/completions"

    def _read(self, body: Any) -> ModelRequest:
        by_role: dict[str, list[str]] = {}
        for message in body["messages"]:
            by_role.setdefault(message["role"], []).append(_text(message.get("content") or ""))
        return ModelRequest(
            system="\n".join(by_role.get("system", ())),
            texts=tuple(by_role.get("user", ())),
            results=tuple(by_role.get("tool", ())),
            tools=tuple(tool["function"]["name"] for tool in body.get("tools", ())),
        )

    def _sent(self, answer: Answer, body: Any) -> Sent:
        stream = b"".join(map(encoded, self._events(answer))) + b"data: [DONE]\n\n"
        return Sent(stream, content_type="text/event-stream")

    def _events(self, answer: Answer) -> Iterator[dict[str, Any]]:
        """Yield the chunks of an answer."""
        yield delta(role="assistant", content=answer.text)
        for place, one in enumerate(answer.calls):
            name = f"call_{next(self._numbers)}"
            arguments = json.dumps(one.arguments)
            yield delta(tool_calls=[piece(place, id=name, name=one.name, arguments=arguments)])
        yield delta(finish="tool_calls" if answer.calls else "stop")
        yield usage(10, 5)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")
