"""A model that obeys a hostile text, and functions that write such a text."""

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
"""A tool's name and its arguments."""


def order(tool: str, **arguments: Any) -> Order:
    """Write one order for a hostile text."""
    return tool, arguments


def written(orders: Sequence[Order], by: str = "") -> str:
    """Format orders for a hostile text, one per line; `by` tells equal orders of two texts
    apart.
    """
    # Angle brackets are escaped, so that the text holds no tag by chance.
    lines = (
        json.dumps({"tool": tool, "arguments": given, "by": by}).replace("<", "\\u003c")
        for tool, given in orders
    )
    # An order may write other orders.
    lines = (line.replace("obey", "ob\\u0065y").replace("yebo", "ye\\u0062o") for line in lines)
    return "".join(f"obey {line} yebo\n" for line in lines)


class Obedient(OpenAIServer):
    """A model that carries out every order it reads, in any text, once each.

    Args:
        says: The text of the last answer.
        at_once: Calls to make before reading any order; for orders that are too large for a text.
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
                reported = json.loads(json.loads(f'"{found}"'))  # the order was inside JSON
            self._n += 1
            arguments = json.dumps(reported["arguments"])
            self._waiting.append(ToolCall(f"o{self._n}", reported["tool"], arguments))
