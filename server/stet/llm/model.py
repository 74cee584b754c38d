"""The interface of a model: messages in, one streamed completion out, and the errors of both.

Nothing here has the form of a provider. `Model` is the protocol, `ModelWrapper` the base of models
that change what goes to another model. Each message of an error is a sentence for the user:

    ModelError
    ├── NoModel                no model is configured or installed
    ├── ModelUnavailable       not reached, overloaded, rate-limited; worth another try later
    ├── ModelTimeout           the model stopped answering
    ├── AnswerCut              the answer ended before its end
    │   ├── StreamInterrupted  it broke off
    │   └── AnswerTooLong      reading ended: it is longer than was asked for
    ├── ContextOverflow        the conversation is longer than the model can read
    └── ModelRefused           this request will never be answered: key, name, quota
        └── ToolsUnsupported   this model has no native tool calls

A message names the provider, the host (never the key) and what the user can do.

Tokens are estimated where no provider has counted them: about four characters a token is right for
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
    """The model asks for a tool.

    Attributes:
        id: The provider's id, or one of ours where it gave none; unique in its completion.
        name: As the model wrote it; it may name no tool.
        arguments: The raw JSON text as the model wrote it; it may be no JSON.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation.

    Attributes:
        role: Who speaks; `tool` answers the call named by `tool_call_id`.
        content: The text; empty where an assistant only calls tools.
        tool_calls: What an assistant asks for.
        tool_call_id: For `tool`, the call this answers.
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
    """Why a model stopped speaking."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    REFUSED = "refused"
    """By the model itself."""
    FILTERED = "filtered"
    """By a filter of the provider's, at the beginning or in the middle."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one round, as the provider counted them or, where it does not, as we estimate.

    Attributes:
        prompt: Input tokens, cached ones included.
        completion: Output tokens.
        cached: How many of `prompt` came from the provider's cache.
        estimated: True where the provider gave no figures.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.prompt + self.completion

    @property
    def cached_share(self) -> float:
        """The part of the input that came from the cache: 0 to 1, to three places."""
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
    """A whole answer; a stream cut short never becomes one (`ModelError` is raised instead).

    Attributes:
        text: What the model said.
        tool_calls: What it asks for, in its order.
        stop_reason: Why it stopped. `LENGTH` means that `text` or the last call is cut.
        usage: Tokens of this round.
        model: The name the provider gave for what answered.
        note: What the user should know of how the answer was asked for; "" for nothing.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason = StopReason.STOP
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    note: str = ""


Sink = Callable[[str], None]
"""Takes a piece of text, at once and without awaiting."""


def ignore(text: str) -> None:
    """Ignore a text, for callers that do not need it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One round.

    Attributes:
        messages: The conversation, system message first.
        tools: What the model may call; empty: it may only speak.
        allowed: Names of the tools that may be called in this round; empty: all of `tools`. Where a
            provider can't be told so, all of them can be called.
        grammar: A GBNF grammar the answer must follow; only models with `constrained` obey it.
        max_tokens: A cap on the answer, or None for the model's own.
        ceiling: Tokens, about, beyond which an answer is broken off: a provider need not know of it,
            and what is thought or called counts as what is said does. None for no end.
        patience: Seconds of silence that are borne at most, where the model's own time-outs are
            longer; None: those hold.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    allowed: tuple[str, ...] = ()
    grammar: str = ""
    max_tokens: int | None = None
    ceiling: int | None = None
    patience: float | None = None


class Model(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """What it is called, for the user."""

    @property
    def provider(self) -> str:
        """Whose it is: the name of a preset, `local` or `scripted`."""

    @property
    def constrained(self) -> bool:
        """Whether it obeys `Request.grammar`: only the embedded one does."""

    @property
    def context_tokens(self) -> int | None:
        """How many tokens fit, or None where that is not known."""

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Send one request and wait for the whole answer.

        Cancelling the awaiting task closes the connection.

        Args:
            request: The round.
            on_text: Takes the answer's text as it arrives.
            on_wait: Takes a sentence for the user whenever the round starts again: after a rate
                limit, a fault of the server, a broken stream. Earlier text of `on_text` is void
                then: the text starts again.

        Raises:
            ModelError: With a sentence for the user, after the model's own retries.
        """

    async def warm(self) -> None:
        """Do what the first round would have to wait for: imports, and nothing that costs money."""

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
        self.constrained = inner.constrained
        self.context_tokens = inner.context_tokens

    @property
    def name(self) -> str:
        """See `Model`; a server may only tell it when it is asked."""
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
    """The provider could not be reached or would not answer now."""


class ModelTimeout(ModelError):
    """The provider was silent, or slow, for longer than is allowed."""


class AnswerCut(ModelError):
    """An answer ended before its end. Nothing of it may be executed.

    Attributes:
        text: What had been said until then.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class StreamInterrupted(AnswerCut):
    """The answer broke off."""


class AnswerTooLong(AnswerCut):
    """The answer grew beyond `Request.ceiling` and was broken off."""


class ContextOverflow(ModelError):
    """The conversation does not fit; shorten it and ask again."""


class ModelRefused(ModelError):
    """The provider refused the request; asking again unchanged is of no use."""


class ToolsUnsupported(ModelRefused):
    """The model has no native tool calls; the text protocol is the way round.

    Attributes:
        is_certain: Whether the provider says so; else its words may have another cause.
    """

    def __init__(self, message: str, *, is_certain: bool = True) -> None:
        super().__init__(message)
        self.is_certain = is_certain


CHARACTERS_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
"""What role and delimiters cost in the chat templates of the well-known models."""


def estimate_tokens(text: str) -> int:
    """Return tokens in `text`, about; 0 only for the empty text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _estimate_calls(calls: Iterable[ToolCall]) -> int:
    return sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in calls)


def estimate_prompt(messages: Iterable[Message], tools: Iterable[ToolDefinition] = ()) -> int:
    """Return tokens of a whole request, about: messages, earlier calls and the tools' schemas."""
    n_tokens = 0
    for message in messages:
        n_tokens += TOKENS_PER_MESSAGE + estimate_tokens(message.content)
        n_tokens += _estimate_calls(message.tool_calls)
    for tool in tools:
        n_tokens += estimate_tokens(tool.name + tool.description)
        n_tokens += estimate_tokens(json.dumps(tool.parameters))
    return n_tokens


def with_usage(completion: Completion, request: Request) -> Completion:
    """Return an answer with its tokens estimated where the provider gave none."""
    if completion.usage.total:
        return completion
    n_input = estimate_prompt(request.messages, request.tools)
    n_output = estimate_tokens(completion.text) + _estimate_calls(completion.tool_calls)
    return replace(completion, usage=Usage(n_input, n_output, estimated=True))
