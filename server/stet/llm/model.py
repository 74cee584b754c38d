"""The interface of a model: messages in, one streamed completion out, and the errors of both.

Nothing here depends on a provider. `Model` is the protocol, `ModelWrapper` the base of models that
change the requests to another model. Each message of an error is a sentence for the user:

    ModelError
    ├── NoModel                no model is configured or installed
    ├── ModelUnavailable       not reached, overloaded, rate-limited; worth another try later
    ├── ModelTimeout           the model stopped answering
    ├── AnswerCut              the answer ended before its end
    │   ├── StreamInterrupted  the stream broke off
    │   └── AnswerTooLong      Stet stopped reading: the answer is longer than requested
    ├── ContextOverflow        the conversation is longer than the model can read
    └── ModelRefused           this request will never be answered: key, name, quota
        └── ToolsUnsupported   this model has no native tool calls

A message names the provider, the host (never the key) and what the user can do.

Tokens are estimated if no provider has counted them: about four characters a token is right for
English and for code in today's vocabularies. Other scripts have more tokens per character, so an
estimate is marked (`Usage.estimated`) and limits that depend on it leave room.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool by the model.

    Attributes:
        id: The provider's id, or a generated id if there is none; unique in its completion.
        name: The name as the model wrote it; a tool with this name need not exist.
        arguments: The raw text as the model wrote it; it need not be valid JSON.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation.

    Attributes:
        role: The author; a `tool` message is the result of the call `tool_call_id`.
        content: The text; empty if an assistant only calls tools.
        tool_calls: The calls of an assistant.
        tool_call_id: For `tool`, the id of the call.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model sees it: name, description, JSON schema of the arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class StopReason(StrEnum):
    """Why a model ended its answer."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    REFUSED = "refused"
    """The model refused."""
    FILTERED = "filtered"
    """A filter of the provider stopped the answer, at the beginning or in the middle."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one round, counted by the provider or else estimated.

    Attributes:
        prompt: Input tokens, cached ones included.
        completion: Output tokens.
        cached: The tokens of `prompt` that came from the provider's cache.
        estimated: Whether the provider reported no counts.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """The sum of input and output tokens."""
        return self.prompt + self.completion

    @property
    def cached_share(self) -> float:
        """The share of the input that came from the cache: 0 to 1, rounded to three places."""
        return round(self.cached / self.prompt, 3) if self.prompt else 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer; a stream that is cut short raises `ModelError` instead.

    Attributes:
        text: The text of the answer.
        tool_calls: The model's calls, in its order.
        stop_reason: Why the answer ended. `LENGTH` means that `text` or the last call is cut.
        usage: The tokens of this round.
        model: The name of the model as the provider reports it.
        note: A note for the user on how the request was made; "" for none.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason = StopReason.STOP
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    note: str = ""


Sink = Callable[[str], None]
"""A function that accepts a piece of text without blocking."""


def ignore(text: str) -> None:
    """Ignore a text, for callers that do not need it."""


@dataclass(frozen=True, slots=True)
class Request:
    """The request of one round.

    Attributes:
        messages: The conversation, system message first.
        tools: The tools that the model may call; empty for a text answer only.
        others: Tools that are not described but may be called by name, too.
        allowed: Names of the tools that may be called in this round; empty: all of `tools`. If a
            provider has no such parameter, all tools can be called.
        must_call: Whether the answer must be a call, where the server can hold the model to that.
        grammar: A GBNF grammar the answer must follow; only models with `obeys_grammar` obey it.
        max_tokens: A limit on the answer, or None for the model's own limit.
        ceiling: The approximate number of tokens at which Stet stops reading an answer; reasoning
            and calls count too. None for no limit.
        patience: The longest silence in seconds, if the model's own time-outs are longer; None for
            those time-outs.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    others: tuple[ToolDefinition, ...] = ()
    allowed: tuple[str, ...] = ()
    must_call: bool = False
    grammar: str = ""
    max_tokens: int | None = None
    ceiling: int | None = None
    patience: float | None = None


class Model(Protocol):
    """The interface of a model."""

    @property
    def name(self) -> str:
        """The name of the model, for the user."""

    @property
    def provider(self) -> str:
        """The provider of the model: the name of a preset, `local` or `scripted`."""

    @property
    def obeys_grammar(self) -> bool:
        """Whether the model obeys `Request.grammar`: only an embedded model does."""

    @property
    def is_tiny(self) -> bool:
        """Whether the model has so few parameters that it needs a worked example and one-line edits
        (`stet.agent.small`).
        """

    @property
    def context_tokens(self) -> int | None:
        """The size of the context window in tokens, or None if it is not known."""

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Send one request and wait for the whole answer.

        Cancelling the awaiting task closes the connection.

        Args:
            request: The round.
            on_text: Receives the answer's text as it arrives.
            on_wait: Receives a sentence for the user whenever the round starts again: after a rate
                limit, a fault of the server, a broken stream. The text of `on_text` starts again
                too: earlier text is void.

        Raises:
            ModelError: With a sentence for the user, after the model's own retries.
        """

    async def warm(self) -> None:
        """Do the slow preparations of the first round, such as imports; send no paid request."""

    async def close(self) -> None:
        """Close connections and child processes."""


class ModelWrapper:
    """A model that passes everything on to another model; a subclass adds `complete`.

    Args:
        inner: The model that is called.
    """

    def __init__(self, inner: Model) -> None:
        self.inner = inner
        self.provider = inner.provider
        self.obeys_grammar = inner.obeys_grammar
        self.is_tiny = inner.is_tiny
        self.context_tokens = inner.context_tokens

    @property
    def name(self) -> str:
        """See `Model`; the name may be known only after the first request."""
        return self.inner.name

    async def warm(self) -> None:
        """Warm the inner model."""
        await self.inner.warm()

    async def close(self) -> None:
        """Close the inner model."""
        await self.inner.close()


class ModelError(Exception):
    """A round failed; `str()` is one sentence or two for the user."""


class NoModel(ModelError):
    """No model is configured, reachable or installed; the message says how to get one."""


class ModelUnavailable(ModelError):
    """The provider could not be reached or does not answer now."""


class ModelTimeout(ModelError):
    """The provider was silent, or slow, for longer than is allowed."""


class AnswerCut(ModelError):
    """An answer was cut off. None of its calls may be executed.

    Attributes:
        text: The text that arrived before.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class StreamInterrupted(AnswerCut):
    """The answer broke off."""


class AnswerTooLong(AnswerCut):
    """The answer grew beyond `Request.ceiling` and was broken off."""


class ContextOverflow(ModelError):
    """The conversation does not fit the context window; a shorter one may."""


class ModelRefused(ModelError):
    """The provider refused the request; the same request would be refused again."""


class ToolsUnsupported(ModelRefused):
    """The model has no native tool calls; the text protocol replaces them.

    Attributes:
        is_certain: Whether the provider reports this directly; else there may be another cause.
    """

    def __init__(self, message: str, *, is_certain: bool = True) -> None:
        super().__init__(message)
        self.is_certain = is_certain


WEIGHTS = ".gguf"
"""The ending of a file of weights."""
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
"""The tokens of role and delimiters in the chat templates of well-known models."""


def display_name(name: str) -> str:
    """Return the name of a model for the user; a server may name a model by the path of its file."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return last[: -len(WEIGHTS)] if last.lower().endswith(WEIGHTS) else name


def estimate_tokens(text: str) -> int:
    """Return the approximate number of tokens in `text`; 0 only for the empty text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _estimate_calls(calls: Iterable[ToolCall]) -> int:
    return sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in calls)


def estimate_prompt(messages: Iterable[Message], tools: Iterable[ToolDefinition] = ()) -> int:
    """Return the approximate tokens of a request: messages, earlier calls, schemas of tools."""
    n_tokens = 0
    for message in messages:
        n_tokens += TOKENS_PER_MESSAGE + estimate_tokens(message.content)
        n_tokens += _estimate_calls(message.tool_calls)
    for tool in tools:
        n_tokens += estimate_tokens(tool.name + tool.description)
        n_tokens += estimate_tokens(json.dumps(tool.parameters))
    return n_tokens


def with_usage(completion: Completion, request: Request) -> Completion:
    """Return an answer with its tokens, estimated if the provider reported none."""
    if completion.usage.total:
        return completion
    n_input = estimate_prompt(request.messages, request.tools)
    n_output = estimate_tokens(completion.text) + _estimate_calls(completion.tool_calls)
    return replace(completion, usage=Usage(n_input, n_output, estimated=True))
