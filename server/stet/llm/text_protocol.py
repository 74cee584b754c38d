"""Tool calls for models without native tool calls: described as text, answered as text.

The tools are described at the end of the system message; the model calls a tool by writing

    <tool_call>
    {"name": "read_file", "arguments": {"path": "notes.md"}}
    </tool_call>

on separate lines, the form that open models are most often trained on. The embedded model has
another form of tool calls (`stet.agent.small`).

Calls in other forms are read too (`stet.llm.written_calls`). Text in a call's tag that is not a call
goes to the agent as an invalid call, so that the model gets an error. Data shown to the model can't
close its wrapping: the tags are escaped in it.
"""

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from stet.llm.api_format import parse_object
from stet.llm.completion_stream import new_call_id
from stet.llm.model import (
    Completion,
    Message,
    Model,
    ModelWrapper,
    Request,
    Sink,
    StopReason,
    ToolCall,
    ToolDefinition,
    ToolsUnsupported,
    ignore,
)
from stet.llm.stream_gate import StreamGate
from stet.llm.written_calls import read_written_calls

OPEN, CLOSE = "<tool_call>", "</tool_call>"

_CALL = re.compile(
    r"^[ \t]*<tool_call>[ \t]*\n?(?P<body>.*?)(?:^[ \t]*|[ \t]*)(?P<end></tool_call>[ \t]*\n?|\Z)",
    re.DOTALL | re.MULTILINE,
)
_FENCE = re.compile(r"\A\s*```(?:json|tool_call)?[ \t]*\n(?P<body>.*)\n[ \t]*```\s*\Z", re.DOTALL)
_TAG = re.compile(r"<(?=/?tool_(?:call|result))")
_NAME = re.compile(r'"name"\s*:\s*"([^"\\]+)"')

_INSTRUCTIONS = """\
# Tools

To use a tool, write this on lines of its own and stop; the result comes in the next message:

<tool_call>
{{"name": "TOOL", "arguments": {{"ARGUMENT": "VALUE"}}}}
</tool_call>

The tools, each with the JSON schema of its arguments:

{tools}"""


def render_message(message: Message) -> Message:
    """Return a message without calls or results: both become text of the assistant and the user."""
    if message.role == "tool":
        return Message("user", f"<tool_result>\n{escape_tags(message.content)}\n</tool_result>")
    if message.role == "user":
        return Message("user", escape_tags(message.content))
    if not message.tool_calls:
        return message
    parts = [message.content] if message.content else []
    parts += [render_call(call) for call in message.tool_calls]
    return Message(message.role, "\n".join(parts))


def render_call(call: ToolCall) -> str:
    """Return a call in the form that the model writes."""
    name = json.dumps(call.name, ensure_ascii=False)
    # A JSON string may escape any character.
    arguments = _TAG.sub(r"\\u003c", call.arguments)
    return f'{OPEN}\n{{"name": {name}, "arguments": {arguments}}}\n{CLOSE}'


def escape_tags(text: str) -> str:
    """Return `text` with the tags of this protocol escaped by a backslash."""
    return _TAG.sub(r"<\\", text)


def parse_answer(
    text: str,
    tools: Sequence[ToolDefinition],
    others: Sequence[ToolDefinition] = (),
    *,
    is_cut: bool,
) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the text of a model's answer and the calls in it.

    Args:
        text: The whole answer.
        tools: The tools offered to the model: outside a tag, only an object that fits one of them
            is a call.
        others: Tools that were not described but may be called.
        is_cut: Whether the answer ended for lack of tokens: an incomplete call is dropped, not
            guessed.
    """
    written = read_written_calls(text, tools, is_cut=is_cut)
    if not written.calls and others:
        written = read_written_calls(text, (*tools, *others), is_cut=is_cut)
    if written.calls:
        return written
    calls: list[ToolCall] = []
    prose: list[str] = []
    end = 0
    for found in _CALL.finditer(text):
        prose.append(text[end : found.start()])
        end = found.end()
        if found["end"] or not is_cut:
            calls.append(_call(found["body"]))
    prose.append(text[end:])
    return "".join(prose).strip() if calls or end else text, tuple(calls)


def _call(body: str) -> ToolCall:
    """Return the call in a tag. An invalid call keeps its text as arguments, to be reported."""
    fenced = _FENCE.match(body)
    body = (fenced["body"] if fenced else body).strip()
    data = parse_object(body)
    if data is not None and isinstance(data.get("name"), str):
        arguments = data.get("arguments", data.get("parameters", {}))
        if not isinstance(arguments, str):  # the API writes a string that holds JSON
            arguments = json.dumps(arguments, ensure_ascii=False)
        return ToolCall(new_call_id(), data["name"], arguments or "{}")
    named = _NAME.search(body)
    return ToolCall(new_call_id(), named[1] if named else "", body)


log = logging.getLogger(__name__)

_GOES_ON = "Tools are described as text from now on."


class TextProtocolModel(ModelWrapper):
    """A model whose tool calls are text.

    Args:
        inner: The model that gets the requests.
        always: Whether tools are described as text from the first request; otherwise after the
            model has reported that it has no tool calls.
    """

    def __init__(self, inner: Model, *, always: bool) -> None:
        super().__init__(inner)
        self._in_words = always
        self._has_calls = False
        """Whether a request with tools has been answered."""

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Complete a request; see `Model.complete`. Only text is streamed, never a call.

        A model with tool calls may write a call as text, too: then the call is read.
        The first answer after the switch to text has a note about it.

        Raises:
            ModelError: As the inner model does.
        """
        if self._in_words:
            return await self._complete_as_text(request, on_text, on_wait)
        try:
            answer = await self._complete_natively(request, on_text, on_wait)
        except ToolsUnsupported as refusal:
            if not request.tools or (self._has_calls and not refusal.is_certain):
                raise
            on_wait(f"{refusal} {_GOES_ON}")
            answer = await self._complete_as_text(request, on_text, on_wait)
            self._in_words = True  # only now: the refusal may have had another cause
            log.warning("%s %s", refusal, _GOES_ON)
            return replace(answer, note=f"{refusal} {_GOES_ON}")
        self._has_calls = self._has_calls or bool(request.tools)
        return answer

    async def _complete_natively(
        self, request: Request, on_text: Sink, on_wait: Sink
    ) -> Completion:
        """Complete the request with native tool calls; read calls in an answer without any."""
        if not request.tools:
            return await self.inner.complete(request, on_text, on_wait)
        gate = StreamGate(on_text, (*request.tools, *request.others))
        answer = await self.inner.complete(request, gate.write, gate.restarting(on_wait))
        text, calls = answer.text, answer.tool_calls
        if not calls and answer.stop_reason is StopReason.STOP:
            # A long answer takes more than 5 ms.
            text, calls = await asyncio.to_thread(_read_calls, text, request)
        gate.finish(text)
        if calls and not answer.tool_calls:
            answer = replace(answer, stop_reason=StopReason.TOOL_CALLS)
        return replace(answer, text=text, tool_calls=calls)

    async def _complete_as_text(self, request: Request, on_text: Sink, on_wait: Sink) -> Completion:
        """Complete the request in plain text and find the calls in the model's words."""
        if not request.tools:
            return await self.inner.complete(_to_text_request(request), on_text, on_wait)
        gate = StreamGate(on_text, (*request.tools, *request.others))
        answer = await self.inner.complete(
            _to_text_request(request), gate.write, gate.restarting(on_wait)
        )
        is_cut = answer.stop_reason is StopReason.LENGTH
        text, calls = await asyncio.to_thread(
            parse_answer, answer.text, request.tools, request.others, is_cut=is_cut
        )
        gate.finish(text)
        reason = StopReason.TOOL_CALLS if calls and not is_cut else answer.stop_reason
        return replace(answer, text=text, tool_calls=calls, stop_reason=reason)


def _read_calls(text: str, request: Request) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the text of an answer and the calls in it, of described tools if there are any."""
    written = read_written_calls(text, request.tools)
    if written.calls or not request.others:
        return written
    return read_written_calls(text, (*request.tools, *request.others))


def _to_text_request(request: Request) -> Request:
    """Return the request with tools, calls and results as text. Adjacent messages of one role are
    joined.

    Chat templates of models without tool calls often insist that user and assistant alternate.
    """
    messages = [
        Message(role, "\n\n".join(message.content for message in adjacent))
        for role, adjacent in groupby(map(render_message, request.messages), lambda one: one.role)
    ]
    if request.tools:
        messages = _with_tools(messages, request.tools)
    return replace(request, messages=tuple(messages), tools=())


def _with_tools(messages: list[Message], tools: tuple[ToolDefinition, ...]) -> list[Message]:
    """Append the tools' description to the system message, with the same bytes in every round."""
    lines = [
        f"- {tool.name}: {tool.description}\n  {json.dumps(tool.parameters, ensure_ascii=False)}"
        for tool in tools
    ]
    described = _INSTRUCTIONS.format(tools="\n".join(lines))
    if messages and messages[0].role == "system":
        first = Message("system", f"{messages[0].content}\n\n{described}")
        return [first, *messages[1:]]
    return [Message("system", described), *messages]
