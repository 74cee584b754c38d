"""A provider that validates names, ids and arguments of a conversation, with real error texts.

OpenAI: names of `^[a-zA-Z0-9_-]{1,64}$`, ids of at most 40 characters, every call answered.
    Mistral:
ids of nine letters and digits. Anthropic: ids of `^[a-zA-Z0-9_-]+$`, each once, no empty text.
Gemini: names that begin with a letter or `_`.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from tests.support.http_server import HttpRequest
from tests.support.openai_server import Reply, error

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
ID = re.compile(r"[a-zA-Z0-9]{9}")
MAX_ARGUMENTS = 200_000
MAX_DEPTH = 100


def refusal_of(messages: Sequence[dict[str, Any]]) -> str:
    """Return the error for which a strict provider refuses these messages; "" for none."""
    waiting: list[str] = []
    used: set[str] = set()
    for n, one in enumerate(messages):
        if one["role"] == "tool":
            if one["tool_call_id"] not in waiting:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            waiting.remove(one["tool_call_id"])
            continue
        if waiting:
            return f"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: {waiting}"
        calls = one.get("tool_calls", [])
        if not calls and not str(one["content"]).strip():
            return f"messages.{n}: text content blocks must contain non-whitespace text"
        for m, call in enumerate(calls):
            if problem := _refusal_of_call(call, used):
                return f"Invalid 'messages[{n}].tool_calls[{m}]{problem}"
        waiting = [call["id"] for call in calls]
    return f"no results of {waiting}" if waiting else ""


def _refusal_of_call(call: dict[str, Any], used: set[str]) -> str:
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    if not NAME.fullmatch(name):
        return f".function.name': {name!r} does not match the pattern '^[a-zA-Z_][a-zA-Z0-9_-]{{0,63}}$'."
    if not ID.fullmatch(call["id"]):
        return f".id': Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."
    if call["id"] in used:
        return f".id': `tool_use` ids must be unique: {call['id']}"
    used.add(call["id"])
    if len(arguments) > MAX_ARGUMENTS:
        return f".function.arguments': string too long ({len(arguments)})."
    try:
        value = json.loads(arguments, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as problem:
        return f".function.arguments': {problem}"
    return "" if isinstance(value, dict) and _is_flat(value) else ".function.arguments': no object."


def _is_flat(value: object) -> bool:
    """Tell whether a JSON value has at most `MAX_DEPTH` levels."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            each
            for one in level
            if isinstance(one, dict | list)
            for each in (one.values() if isinstance(one, dict) else one)
        ]
    return not level


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not valid JSON")


class StrictProvider:
    """A provider that replies in order, and answers 400 to requests that real providers refuse.

    Attributes:
        refusals: The refusals, each in the provider's words.
    """

    def __init__(self, *replies: Reply) -> None:
        self.refusals: list[str] = []
        self._replies = list(replies)

    def add(self, *replies: Reply) -> None:
        """Add replies."""
        self._replies += replies

    def __call__(self, asked: HttpRequest) -> Reply:
        """Answer one request."""
        refusal = refusal_of(asked.body["messages"])
        if refusal:
            self.refusals.append(refusal)
            return error(400, refusal, code="invalid_value")
        return self._replies.pop(0)
