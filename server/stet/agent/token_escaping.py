"""No control token reaches a model out of somebody's text: whoever speaks is told by Stet alone.

Servers on this machine, and the embedded model's, look for the control tokens of their chat template
in all that is said (`stet.text.spoofing`). They are broken here in every message, and mended in
what the model answers: so its edits quote what stands in the file, and what it copies is what it was.
The same for every provider: whose server stands behind an address is not known.
"""

import asyncio
import dataclasses
import json
from collections.abc import Callable
from typing import Any

from stet.llm.model import Completion, Message, ToolCall, ToolDefinition
from stet.llm.model import Model, Request, Sink, ignore
from stet.llm.model import ModelWrapper
from stet.text.spoofing import (
from stet.llm.model import (
    Completion,
    Message,
    Model,
    ModelWrapper,
    Request,
    Sink,
    ToolCall,
    ToolDefinition,
    ignore,
)
from stet.text.spoofing import (
    escape_special_tokens,
    incomplete_token_start,
    unescape_special_tokens,
)

_LARGE = 100_000
"""Characters from which on it is done in a worker thread."""


class TokenEscapingModel(ModelWrapper):
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
        mending = _UnescapingStream(on_text)

        def restarted(sentence: str) -> None:
            mending.reset()
            on_wait(sentence)

        escaped = await self._escape_request(request)
        answer = await self.inner.complete(escaped, mending.write, restarted)
        mending.finish()
        text, calls = (
            unescape_special_tokens(answer.text),
            tuple(map(_unescape_call, answer.tool_calls)),
        )
        if text == answer.text and calls == answer.tool_calls:
            return answer
        return dataclasses.replace(answer, text=text, tool_calls=calls)

    async def _escape_request(self, request: Request) -> Request:
        """Return a request that a model may read. The same text always gives the same bytes."""
        new = [message for message in request.messages if message not in self._sent]
        if sum(len(message.content) for message in new) > _LARGE:
            broken_ones = await asyncio.to_thread(lambda: list(map(_escape_message, new)))
        else:
            broken_ones = list(map(_escape_message, new))
        known = {**self._sent, **dict(zip(new, broken_ones, strict=True))}
        self._sent = {message: known[message] for message in request.messages}
        messages = tuple(known[message] for message in request.messages)
        tools = tuple(map(_escape_tool, request.tools))
        return dataclasses.replace(request, messages=messages, tools=tools)


def map_json_strings(text: str, change: Callable[[str], str]) -> str:
    """JSON whose texts are changed, as a server may read them from it; any other text as it stands."""
    try:
        value = json.loads(text)
        changed = _map_strings(value, change)
    except (ValueError, RecursionError):
        return change(text)
    return text if changed == value else json.dumps(changed, ensure_ascii=False)


class _UnescapingStream:
    """Streams what is said, mended: what may be half of a broken token waits for its end."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._pending = ""

    def write(self, piece: str) -> None:
        """Handle a piece of the answer."""
        text = self._pending + piece
        end = incomplete_token_start(text)
        self._pending = text[end:]
        if end:
            self._sink(unescape_special_tokens(text[:end]))

    def finish(self) -> None:
        """Nothing more comes."""
        if self._pending:
            self._sink(unescape_special_tokens(self._pending))

    def reset(self) -> None:
        """Handle a restart of the answer."""
        self._pending = ""


def _escape_message(message: Message) -> Message:
    content, calls = (
        escape_special_tokens(message.content),
        tuple(map(_escape_call, message.tool_calls)),
    )
    if content == message.content and calls == message.tool_calls:
        return message
    return dataclasses.replace(message, content=content, tool_calls=calls)


def _escape_call(call: ToolCall) -> ToolCall:
    name, arguments = (
        escape_special_tokens(call.name),
        map_json_strings(call.arguments, escape_special_tokens),
    )
    return dataclasses.replace(call, name=name, arguments=arguments)


def _escape_tool(tool: ToolDefinition) -> ToolDefinition:
    return dataclasses.replace(tool, description=escape_special_tokens(tool.description))


def _unescape_call(call: ToolCall) -> ToolCall:
    return dataclasses.replace(
        call, arguments=map_json_strings(call.arguments, unescape_special_tokens)
    )


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_strings(each, change) for each in value]
    if isinstance(value, dict):
        return {change(key): _map_strings(each, change) for key, each in value.items()}
    return value
