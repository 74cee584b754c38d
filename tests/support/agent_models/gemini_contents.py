"""The API of Gemini on loopback, as a stream, from a script.

A request without a stream is not of the script: Gemini CLI asks a smaller model beside the turn.
"""

from typing import Any

from tests.support.agent_models.script import Answer, ModelRequest
from tests.support.agent_models.script_server import ScriptServer, Sent, json_body

_USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}


class GeminiContents(ScriptServer):
    """The server."""

    PATH = "/v1beta/models/{model}:streamGenerateContent"

    def _is_of_script(self, path: str) -> bool:
        return path.startswith("/v1beta/models/") and path.endswith(":streamGenerateContent")

    def _read(self, body: Any) -> ModelRequest:
        parts = [
            part
            for content in body["contents"]
            if content.get("role") != "model"
            for part in content["parts"]
        ]
        results = [
            part["functionResponse"]["response"] for part in parts if "functionResponse" in part
        ]
        return ModelRequest(
            system="\n".join(_texts(body.get("systemInstruction", {}).get("parts", ()))),
            texts=tuple(_texts(parts)),
            results=tuple(str(one.get("output", one.get("error", one))) for one in results),
            tools=tuple(
                one["name"]
                for tool in body.get("tools", ())
                for one in tool.get("functionDeclarations", ())
            ),
        )

    def _sent(self, answer: Answer, body: Any) -> Sent:
        parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
        parts += [
            {"functionCall": {"name": one.name, "args": one.arguments}} for one in answer.calls
        ]
        line = json_body(_response(parts)).body
        return Sent(b"data: %b\n\n" % line, content_type="text/event-stream")

    def _sent_beside(self, path: str) -> Sent:
        if path.endswith(":countTokens"):
            return json_body({"totalTokens": 10})
        return json_body(_response([{"text": "{}"}]))


def _response(parts: list[dict[str, Any]]) -> dict[str, Any]:
    content = {"role": "model", "parts": parts}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": _USAGE}


def _texts(parts: Any) -> list[str]:
    return [part["text"] for part in parts if "text" in part]
