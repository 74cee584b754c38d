"""A model that replies from a script: for tests of the agent, and for demonstrations.

`STET_SCRIPTED_MODEL=path` makes `stet serve` use a script from a JSON file: a list of `{"text": …,
"tool_calls": [{"name": …, "arguments": {…}}], "error": …, "hold": "path"}`, every key optional.
`hold` delays the reply until a file exists at that path.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stet.llm.model import (
    AnswerTooLong,
    Completion,
    ModelError,
    NoModel,
    Request,
    Sink,
    StopReason,
    ToolCall,
    estimate_tokens,
    ignore,
    with_usage,
)
from stet.system.system import System

Reply = Completion | ModelError | Callable[[Request], Completion | Awaitable[Completion]]
"""An entry of a script: an answer, a failure, or a function of the request (it may be async)."""

PIECE = 16
"""Characters in one streamed piece: few, so that pieces split words."""

HOLD_POLL_SECONDS = 0.01
MAX_SCRIPT_BYTES = 10_000_000
KEYS = {"text", "tool_calls", "error", "hold"}


def say(text: str) -> Completion:
    """Return a text answer."""
    return Completion(text)


def call(name: str, /, **arguments: Any) -> Completion:
    """Return an answer that calls one tool.

    The call gets its id, unique in the script, when the answer is sent.
    """
    tool_call = ToolCall("", name, json.dumps(arguments, ensure_ascii=False))
    return Completion("", (tool_call,), StopReason.TOOL_CALLS)


def combine(*completions: Completion) -> Completion:
    """Return one answer with the texts and calls of all `completions`, in order."""
    calls = tuple(tool_call for completion in completions for tool_call in completion.tool_calls)
    text = "".join(completion.text for completion in completions)
    return Completion(text, calls, StopReason.TOOL_CALLS if calls else StopReason.STOP)


class ScriptedModel:
    """A model that returns its replies in order, streamed in small pieces.

    Attributes:
        requests: Every request seen so far, oldest first.
    """

    obeys_grammar = False
    is_tiny = False
    context_tokens: int | None = None
    provider = "scripted"

    def __init__(self, replies: Sequence[Reply], name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._replies = tuple(replies)

    @classmethod
    async def from_file(cls, path: Path, system: System) -> "ScriptedModel":
        """Return the model for the script in a JSON file. The module docstring describes the form
        of the file.

        Raises:
            NoModel: If the file can't be read or is not a script.
        """
        try:
            raw = await asyncio.to_thread(system.read_bytes, path, MAX_SCRIPT_BYTES)
            entries = json.loads(raw)
        except (OSError, ValueError) as exc:
            raise NoModel(f"The scripted model {str(path)!r} can't be read: {exc}.") from exc
        if not isinstance(entries, list):
            raise NoModel(f"The scripted model {str(path)!r} must be a JSON list of replies.")
        replies = [_reply(entry, f"{path}, reply {n}", system) for n, entry in enumerate(entries)]
        return cls(replies, name=path.name)

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:  # noqa: ARG002 - a script never waits for a server
        """Return the next reply.

        Raises:
            ModelError: If the next reply is an error, or the script has ended.
        """
        self.requests.append(request)
        n_asked = len(self.requests)
        if n_asked > len(self._replies):
            raise ModelError(
                f"The scripted model {self.name!r} has only {len(self._replies)} replies and "
                f"needs number {n_asked}: add one to the script."
            )
        completion = await _completion(self._replies[n_asked - 1], request)
        for start in range(0, len(completion.text), PIECE):
            on_text(completion.text[start : start + PIECE])
            await asyncio.sleep(0)
            text_so_far = completion.text[: start + PIECE]
            if request.ceiling is not None and estimate_tokens(text_so_far) > request.ceiling:
                raise AnswerTooLong(f"The answer of {self.name!r} was cut off.", text_so_far)
        calls = tuple(
            replace(tool_call, id=tool_call.id or f"call_{n_asked}_{n}")
            for n, tool_call in enumerate(completion.tool_calls, start=1)
        )
        named = replace(completion, tool_calls=calls, model=completion.model or self.name)
        return with_usage(named, request)

    async def warm(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


async def _completion(reply: Reply, request: Request) -> Completion:
    if isinstance(reply, ModelError):
        raise reply
    if isinstance(reply, Completion):
        return reply
    answer = reply(request)
    return answer if isinstance(answer, Completion) else await answer


def _reply(entry: Any, where: str, system: System) -> Reply:
    """Return one entry of a script file as a reply.

    Raises:
        NoModel: If the entry is not of this form.
    """
    if not isinstance(entry, dict) or not entry.keys() <= KEYS:
        raise NoModel(f"{where}: must be an object with some of the keys {sorted(KEYS)}.")
    reply = _answer(entry, where)
    if "hold" not in entry:
        return reply
    hold = Path(str(entry["hold"]))

    async def held(request: Request) -> Completion:
        while await asyncio.to_thread(system.stat, hold) is None:  # noqa: ASYNC110  a file has no event
            await asyncio.sleep(HOLD_POLL_SECONDS)
        return await _completion(reply, request)

    return held


def _answer(entry: dict[str, Any], where: str) -> Completion | ModelError:
    if "error" in entry:
        return ModelError(str(entry["error"]))
    try:
        calls = [
            call(one["name"], **one.get("arguments", {})) for one in entry.get("tool_calls", [])
        ]
    except (TypeError, KeyError, AttributeError) as exc:
        raise NoModel(
            f'{where}: `tool_calls` must be a list of {{"name": …, "arguments": {{…}}}}.'
        ) from exc
    return combine(say(str(entry.get("text", ""))), *calls)
