"""Who works on a turn, and by what means."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from stet.agent.agent_events import AgentEvent
from stet.agent.limits import Limits
from stet.agent.steering import Steering
from stet.agent.toolbox import Toolbox
from stet.agent.turn import Turn
from stet.llm.model import Message, Model, Usage

Compact = Callable[[list[Message]], Awaitable[Usage | None]]
"""Shortens a conversation that the model has refused as too long, in place; what that took, or None."""
CompactEarly = Callable[[list[Message], int, int], Awaitable[Usage | None]]
"""The same where the next request, of about so many tokens, comes near a limit; also told what is spent."""


async def no_compaction(messages: list[Message]) -> Usage | None:  # noqa: ARG001  of the port
    """Where nothing can be shortened."""
    return None


async def no_early_compaction(messages: list[Message], tokens: int, spent: int) -> Usage | None:  # noqa: ARG001  of the port
    """Where nothing is ever too long."""
    return None


def no_deadline() -> float:
    """Where no clock runs."""
    return float("inf")


@dataclass(frozen=True, slots=True)
class TurnServices:
    """Who works on a turn.

    Attributes:
        model: Is asked.
        toolbox: Is called.
        limits: Are held.
        emit: Is told. It also keeps the turn, so that its state can be asked for at any moment.
        confirm: Is asked, with the number of tokens, before anything is sent; returns if it may be.
        steering: What the user says meanwhile.
        seconds_left: Seconds until the turn's time is over.
        compact: Is called once a round at most, when the conversation is too long for the model.
        compact_early: Is called before each round, and makes room where it is needed soon.
    """

    model: Model
    toolbox: Toolbox
    limits: Limits
    emit: Callable[[AgentEvent], None]
    confirm: Callable[[Turn, int], Awaitable[None]]
    steering: Steering = field(default_factory=Steering)
    seconds_left: Callable[[], float] = no_deadline
    compact: Compact = no_compaction
    compact_early: CompactEarly = no_early_compaction
