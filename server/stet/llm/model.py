"""What every model is to the agent: messages in, one streamed completion out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from stet.llm.messages import Completion, Message, ToolDefinition

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
        stop: Texts that end the answer.
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
    stop: tuple[str, ...] = ()
    ceiling: int | None = None
    patience: float | None = None


class Model(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """What it is called, for the user."""
        ...

    @property
    def provider(self) -> str:
        """Whose it is: the name of a preset, `local` or `scripted`."""
        ...

    @property
    def constrained(self) -> bool:
        """Whether it obeys `Request.grammar`: only the embedded one does."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """How many tokens fit, or None where that is not known."""
        ...

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask once and wait for the whole answer.

        Cancelling the awaiting task closes the connection.

        Args:
            request: The round.
            on_text: Takes the answer's text as it comes.
            on_wait: Takes a sentence for the user whenever the round starts again: after a rate
                limit, a fault of the server, a broken stream. What `on_text` was given before it
                is void: the text begins anew.

        Raises:
            ModelError: With a sentence for the user, after the retries it allows itself.
        """
        ...

    async def warm(self) -> None:
        """Do what the first round would have to wait for: imports, and nothing that costs money."""
        ...

    async def close(self) -> None:
        """Let go of connections and child processes."""
        ...
