"""Tool calls for models that have none of their own: told in words, answered in words.

The tools are described at the end of the system message; the model calls one by writing

    <tool_call>
    {"name": "read_file", "arguments": {"path": "notes.md"}}
    </tool_call>

on lines of its own, the form that open models are most often trained on. The embedded model has a
form of its own where it calls tools (`stet.agent.small`).
"""

import logging
from dataclasses import replace
from enum import Enum

from stet.llm.errors import ToolsUnsupported
from stet.llm.messages import Completion, Message, StopReason, ToolDefinition
from stet.llm.model import Model, Request, Sink, ignore
from stet.llm.model_wrapper import ModelWrapper
from stet.llm.text_tool_calls import StreamGate, parse_answer, render_message, render_tools

log = logging.getLogger(__name__)

_GOES_ON = "From now on the tools are put into words."


class ToolMode(Enum):
    """When the tools are put into words."""

    ALWAYS = "always"
    REFUSED = "refused"
    """From the moment the model says that it has no tool calls."""


class TextProtocolModel(ModelWrapper):
    """A model whose tool calls are text.

    Args:
        inner: The model that is asked.
        when: At once, or when it has refused a request with tools.
    """

    def __init__(self, inner: Model, when: ToolMode) -> None:
        super().__init__(inner)
        self._in_words = when is ToolMode.ALWAYS
        self._has_calls = False
        """Whether a request with tools has been answered."""

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask; see `Model.complete`. Only what is said is streamed, never a call.

        The answer to the request that shows that tools must be put into words says so in its note.

        Raises:
            ModelError: As the inner model does.
        """
        if self._in_words:
            return await self._complete_as_text(request, on_text, on_wait)
        try:
            answer = await self.inner.complete(request, on_text, on_wait)
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

    async def _complete_as_text(self, request: Request, on_text: Sink, on_wait: Sink) -> Completion:
        """Complete the request in plain text and find the calls in the model's words."""
        if not request.tools:
            return await self.inner.complete(_to_text_request(request), on_text, on_wait)
        held = StreamGate(on_text)

        def restarted(sentence: str) -> None:
            held.reset()
            on_wait(sentence)

        spoken = await self.inner.complete(_to_text_request(request), held.write, restarted)
        is_cut = spoken.stop_reason is StopReason.LENGTH
        text, calls = parse_answer(spoken.text, request.tools, is_cut=is_cut)
        held.finish(text)
        reason = StopReason.TOOL_CALLS if calls and not is_cut else spoken.stop_reason
        return replace(spoken, text=text, tool_calls=calls, stop_reason=reason)


def _to_text_request(request: Request) -> Request:
    """Return the request with tools, calls and results as text. Adjacent messages of one role are
    joined.

    Chat templates of models without tool calls often insist that user and assistant alternate.
    """
    messages: list[Message] = []
    for message in request.messages:
        rendered = render_message(message)
        if messages and messages[-1].role == rendered.role:
            joined = f"{messages[-1].content}\n\n{rendered.content}"
            messages[-1] = Message(rendered.role, joined)
        else:
            messages.append(rendered)
    if request.tools:
        messages = _with_tools(messages, request.tools)
    return replace(request, messages=tuple(messages), tools=())


def _with_tools(messages: list[Message], tools: tuple[ToolDefinition, ...]) -> list[Message]:
    """Append the tools' description to the system message; the bytes are the same in every round."""
    described = render_tools(tools)
    if messages and messages[0].role == "system":
        first = Message("system", f"{messages[0].content}\n\n{described}")
        return [first, *messages[1:]]
    return [Message("system", described), *messages]
