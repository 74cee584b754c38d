"""A model that does whatever a hostile text says, and how such a text is written."""

import json
import re
from collections.abc import Sequence
from typing import Any

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.http_server import HttpRequest
from tests.support.openai_server import OpenAIServer

PER_ANSWER = 40
_ORDER = re.compile(r"obey (\{.*?\}) yebo")

Order = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


def order(tool: str, **arguments: Any) -> Order:
    """What hostile text wants done."""
    return tool, arguments


def written(orders: Sequence[Order], by: str = "") -> str:
    """Orders as they stand in a hostile text, one a line; `by` makes them others than the same elsewhere."""
    # Angle brackets are escaped, so that the text holds no tag by chance.
    lines = (
        json.dumps({"tool": tool, "arguments": given, "by": by}).replace("<", "\\u003c")
        for tool, given in orders
    )
    # An order may be to write others.
    lines = (line.replace("obey", "ob\\u0065y").replace("yebo", "ye\\u0062o") for line in lines)
    return "".join(f"obey {line} yebo\n" for line in lines)


class Obedient(OpenAIServer):
    """A model that carries out every order it reads, wherever it stands, each once.

    Args:
        says: What it says with the last answer.
        at_once: Calls it makes before it reads any; for those too large to stand in a text.
    """

    def __init__(self, says: str = "Done.", at_once: Sequence[ToolCall] = ()) -> None:
        super().__init__()
        self.says = says
        self._waiting = list(at_once)
        self._known: set[str] = set()
        self._n = 0

    def _next(self, asked: HttpRequest) -> api.Reply:
        for message in asked.body["messages"]:
            self._receive(str(message.get("content") or ""))
        calls, self._waiting = self._waiting[:PER_ANSWER], self._waiting[PER_ANSWER:]
        if not calls:
            return api.of(Completion(self.says, (ToolCall("end", "done", '{"summary": "Done."}'),)))
        return api.of(Completion("", tuple(calls)))

    def _receive(self, text: str) -> None:
        for found in _ORDER.findall(text):
            if found in self._known:
                continue
            self._known.add(found)
            try:
                reported = json.loads(found)
            except ValueError:
                reported = json.loads(json.loads(f'"{found}"'))  # it stood in JSON
            self._n += 1
            arguments = json.dumps(reported["arguments"])
            self._waiting.append(ToolCall(f"o{self._n}", reported["tool"], arguments))
