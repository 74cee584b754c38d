"""No control token reaches a model out of somebody's text: whoever speaks is told by Stet alone.

Servers on this machine, and the embedded model's, look for the control tokens of their chat template
in all that is said (`stet.text.special_tokens`). They are broken here in every message, and mended in
what the model answers: so its edits quote what stands in the file, and what it copies is what it was.
The same for every provider: whose server stands behind an address is not known.
"""

import asyncio
import dataclasses
import json
from collections.abc import Callable
from typing import Any

from stet.llm.messages import Completion, Message, ToolCall, ToolDefinition
from stet.llm.model import Model, Request, Sink, ignore
from stet.llm.model_wrapper import ModelWrapper
from stet.text.special_tokens import (
    escape_special_tokens,
    incomplete_token_start,
    unescape_special_tokens,
)

_LARGE = 100_000
"""Characters from which on it is done in a worker thread."""


class PlainTokensModel(ModelWrapper):
    """Asks a model with all control tokens in texts broken, and what nobody sees shown."""

    def __init__(self, inner: Model) -> None:
        super().__init__(inner)
        self._sent: dict[Message, Message] = {}
        """What the messages of the request before became: most of them are sent again."""

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask; see `Model.complete`.

        Raises:
            ModelError: As the inner model does.
        """
        mending = _Mending(on_text)

        def restarted(sentence: str) -> None:
            mending.reset()
            on_wait(sentence)

        asked = await self._without_tokens(request)
        answer = await self.inner.complete(asked, mending.take, restarted)
        mending.finish()
        text, calls = (
            unescape_special_tokens(answer.text),
            tuple(map(_mended_call, answer.tool_calls)),
        )
        if text == answer.text and calls == answer.tool_calls:
            return answer
        return dataclasses.replace(answer, text=text, tool_calls=calls)

    async def _without_tokens(self, request: Request) -> Request:
        """A request as a model may read it; the same bytes for the same text."""
        new = [message for message in request.messages if message not in self._sent]
        if sum(len(message.content) for message in new) > _LARGE:
            broken_ones = await asyncio.to_thread(lambda: list(map(_broken_message, new)))
        else:
            broken_ones = list(map(_broken_message, new))
        known = {**self._sent, **dict(zip(new, broken_ones, strict=True))}
        self._sent = {message: known[message] for message in request.messages}
        messages = tuple(known[message] for message in request.messages)
        tools = tuple(map(_broken_tool, request.tools))
        return dataclasses.replace(request, messages=messages, tools=tools)


def in_json(text: str, change: Callable[[str], str]) -> str:
    """JSON whose texts are changed, as a server may read them from it; any other text as it stands."""
    try:
        value = json.loads(text)
        changed = _changed(value, change)
    except (ValueError, RecursionError):
        return change(text)
    return text if changed == value else json.dumps(changed, ensure_ascii=False)


class _Mending:
    """Streams what is said, mended: what may be half of a broken token waits for its end."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._waiting = ""

    def take(self, piece: str) -> None:
        """A piece of the answer."""
        text = self._waiting + piece
        end = incomplete_token_start(text)
        self._waiting = text[end:]
        if end:
            self._sink(unescape_special_tokens(text[:end]))

    def finish(self) -> None:
        """Nothing more comes."""
        if self._waiting:
            self._sink(unescape_special_tokens(self._waiting))

    def reset(self) -> None:
        """The answer begins anew."""
        self._waiting = ""


def _broken_message(message: Message) -> Message:
    content, calls = (
        escape_special_tokens(message.content),
        tuple(map(_broken_call, message.tool_calls)),
    )
    if content == message.content and calls == message.tool_calls:
        return message
    return dataclasses.replace(message, content=content, tool_calls=calls)


def _broken_call(call: ToolCall) -> ToolCall:
    name, arguments = (
        escape_special_tokens(call.name),
        in_json(call.arguments, escape_special_tokens),
    )
    return dataclasses.replace(call, name=name, arguments=arguments)


def _broken_tool(tool: ToolDefinition) -> ToolDefinition:
    return dataclasses.replace(tool, description=escape_special_tokens(tool.description))


def _mended_call(call: ToolCall) -> ToolCall:
    return dataclasses.replace(call, arguments=in_json(call.arguments, unescape_special_tokens))


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_changed(each, change) for each in value]
    if isinstance(value, dict):
        return {change(key): _changed(each, change) for key, each in value.items()}
    return value
