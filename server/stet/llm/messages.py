"""What is said between the agent and a model, free of any provider's shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


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
    """A tool as the model is told of it: name, description, JSON schema of the arguments."""

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
