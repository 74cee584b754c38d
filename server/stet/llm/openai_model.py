"""The adapter for any model at an OpenAI-compatible address, for every provider.

The peculiarities of a provider are data (`stet.llm.providers`) or are learnt from its first
refusal; its failures are described in `stet.llm.failure_mapping`.

Parameters that a server does not understand are learnt from its refusal and remembered
(`ServerQuirks`): providers name the refused parameter in the text of a 400; the optional ones can
be left out or renamed, and the round continues without a message to the user.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stet.llm import failure_mapping as faults
from stet.llm.api_format import to_api_messages, to_api_tool, to_api_tool_choice
from stet.llm.completion_stream import CompletionAccumulator
from stet.llm.model import (
    CHARACTERS_PER_TOKEN,
    Completion,
    ModelRefused,
    Request,
    Sink,
    StreamInterrupted,
    ignore,
    with_usage,
)
from stet.llm.model_endpoint import ModelEndpoint, Sampling, Timeouts
from stet.llm.retry import AttemptFailure, RetryLoop, RetryPolicy
from stet.system.system import System

if TYPE_CHECKING:
    from stet.llm.transport import Transport

_CAPS = ("max_tokens", "max_completion_tokens")
_DROPPABLE = {
    "stream_options": re.compile(r"stream_options|include_usage|stream options"),
    "temperature": re.compile(r"temperature"),
    "cache_prompt": re.compile(r"cache_prompt"),
}
_BAD_REQUEST = {400, 422}
_USER_AFTER_RESULT = re.compile(r"role '?user'? after role '?tool", re.IGNORECASE)
_BETWEEN = {"role": "assistant", "content": "Understood."}
"""The message between a result and the user's next message, if a server refuses these adjacent."""


class ServerQuirks:
    """The parameters that one server requires or does not accept.

    Args:
        max_tokens_field: The preset's name for the limit on an answer.
    """

    def __init__(self, max_tokens_field: str) -> None:
        self._max_tokens_field = max_tokens_field
        self._cap_renamed = False
        self._dropped: set[str] = set()
        self._answers_between = False

    def adapt(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return `body` in the form that this server accepts."""
        adapted = {key: value for key, value in body.items() if key not in self._dropped}
        if "max_tokens" in adapted and self._max_tokens_field != "max_tokens":
            adapted[self._max_tokens_field] = adapted.pop("max_tokens")
        if self._answers_between:
            adapted["messages"] = _with_answers_between(adapted["messages"])
        return adapted

    def learn(self, failure: AttemptFailure, sent: Mapping[str, Any]) -> bool:
        """Learn from the failure of `sent`. Return whether the round can be repeated at once."""
        if failure.status not in _BAD_REQUEST:
            return False
        if "tool_choice" in sent:  # older models and other servers at this address don't know it
            self._dropped.add("tool_choice")
            return True
        if self._learn_cap(failure.detail, sent):
            return True
        if _USER_AFTER_RESULT.search(failure.detail) and not self._answers_between:
            self._answers_between = True
            return True
        for name, pattern in _DROPPABLE.items():
            if name in sent and pattern.search(failure.detail.lower()):
                self._dropped.add(name)
                return True
        return False

    def _learn_cap(self, detail: str, sent: Mapping[str, Any]) -> bool:
        """Switch to the other name of the token cap, once, if the server refused the one that was
        sent. Return whether the name was switched.
        """
        refused = self._max_tokens_field
        if self._cap_renamed or refused not in sent or refused not in detail:
            return False
        self._cap_renamed = True
        self._max_tokens_field = next(cap for cap in _CAPS if cap != refused)
        return True


def _with_answers_between(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in messages:
        if found and found[-1]["role"] == "tool" and message["role"] == "user":
            found.append(_BETWEEN)
        found.append(message)
    return found


_NARROWS_TOOLS = frozenset({"openai"})
"""Providers whose API takes `allowed_tools`: of the tools that are sent, only some may be
called.
"""
_REQUIRES_CALLS = frozenset({"llamacpp", "vllm"})
"""Providers whose servers document that they hold the model to a call if one is required: llama.cpp
by a grammar, vLLM (0.8.3 and later) by structured outputs.
"""


class OpenAIModel:
    """A model that is asked over the chat completions API.

    Attributes:
        endpoint: The endpoint; a missing model name is filled in with the first request.
        provider: The preset's name.
        obeys_grammar: Whether the server obeys grammars.
        is_tiny: See `Model`.
        context_tokens: The size of the context window in tokens, or None if it is not known.
    """

    def __init__(
        self,
        endpoint: ModelEndpoint,
        system: System,
        *,
        sampling: Sampling | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.provider = endpoint.provider
        self.obeys_grammar = endpoint.obeys_grammar
        self.is_tiny = False
        self.context_tokens = endpoint.context_tokens
        self._system = system
        self._sampling = sampling or Sampling()
        self._timeouts = timeouts or Timeouts()
        self._retry = retry or RetryPolicy()
        self._quirks = ServerQuirks(endpoint.max_tokens_field)
        self._opening = asyncio.Lock()
        self._transport: Transport | None = None

    @property
    def name(self) -> str:
        """The provider's name for the model."""
        return self.endpoint.model

    async def warm(self) -> None:
        """Import the SDK and read the certificates; nothing is sent."""
        await self._open()

    async def close(self) -> None:
        """Close the connections."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Send the request, stream the answer and return it whole; see `Model.complete`.

        Raises:
            ModelError: After the tries that `RetryPolicy` allows.
        """
        if not self.endpoint.host:
            raise faults.bad_url_failure(self.endpoint).error
        retries = RetryLoop(self._retry, self._system.now)
        transport = await self._open()
        body: dict[str, Any] = {}
        while True:
            try:
                await self._find_name(transport)
                body = self._quirks.adapt(self._body(request))
                return await self._once(transport, request, body, on_text)
            except AttemptFailure as failure:
                if not self._quirks.learn(failure, body):
                    await retries.wait_or_raise(failure, on_wait)

    async def _open(self) -> "Transport":
        async with self._opening:
            if self._transport is None:
                self._transport = await asyncio.to_thread(self._built)
            return self._transport

    def _built(self) -> "Transport":
        # Late: the import takes 0.3 s and more, and must not delay `initialize`.
        from stet.llm.transport import Transport

        return Transport(self.endpoint, self._timeouts, self._system.now)

    async def _find_name(self, transport: "Transport") -> None:
        """Use the server's first model if the settings name none."""
        if self.endpoint.model:
            return
        name = await transport.first_model()
        if not name:
            raise ModelRefused(
                f"{self.endpoint.label} has no model loaded: load one, or set model.name."
            )
        self.endpoint = replace(self.endpoint, model=name)

    async def _once(
        self, transport: "Transport", request: Request, body: Mapping[str, Any], on_text: Sink
    ) -> Completion:
        answer = CompletionAccumulator()
        longest = None if request.ceiling is None else request.ceiling * CHARACTERS_PER_TOKEN

        def take(chunk: Mapping[str, Any]) -> bool:
            text, alive = answer.add(chunk)
            if text:
                on_text(text)
            if longest is not None and answer.n_characters > longest:
                raise faults.too_long_failure(self.endpoint, answer.text)
            return alive

        try:
            done = await transport.stream(body, take, request.patience)
        except AttemptFailure as failure:
            if isinstance(failure.error, StreamInterrupted):
                failure.error.text = answer.text
            raise
        self._check_whole(answer, done=done)
        completion = with_usage(answer.completion(), request)
        return replace(completion, model=completion.model or self.name)

    def _check_whole(self, answer: CompletionAccumulator, *, done: bool) -> None:
        """Refuse an answer whose end was not received.

        A finish reason is an end. The closing mark of a server that sends no reasons is an end too,
        if there is some text and no call is incomplete.

        Raises:
            AttemptFailure: If the end was not received.
        """
        if answer.is_broken:
            how = f"was aborted by the provider ({answer.finish_reason})"
            raise faults.interrupted_failure(self.endpoint, how, answer.text)
        if answer.finish_reason or (answer.n_choices and done and answer.has_whole_arguments):
            return
        how = "was cut off" if answer.n_choices else "was empty"
        raise faults.interrupted_failure(self.endpoint, how, answer.text)

    def _body(self, request: Request) -> dict[str, Any]:
        """Return the request in the API's format, without parameters that no server needs."""
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": to_api_messages(request.messages, self.endpoint.model),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [to_api_tool(tool) for tool in request.tools]
            if request.allowed and self.endpoint.provider in _NARROWS_TOOLS:
                body["tool_choice"] = to_api_tool_choice(request.allowed)
            elif request.must_call and self.endpoint.provider in _REQUIRES_CALLS:
                body["tool_choice"] = "required"
            if self._sampling.call_stop:
                body["stop"] = list(self._sampling.call_stop)
        options = {
            "max_tokens": request.max_tokens or self._sampling.max_tokens,
            "temperature": self._sampling.temperature,
            "cache_prompt": self._sampling.cache_prompt,
            "grammar": (request.grammar or None) if self.obeys_grammar else None,
        }
        return body | {name: value for name, value in options.items() if value is not None}
