"""Who works on a turn, and by what means."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from stet.agent.events import AgentEvent
from stet.agent.limits import Limits
from stet.agent.steering import Steering
from stet.agent.toolbox import Toolbox
from stet.agent.turn import Turn
from stet.llm.messages import Message, Usage
from stet.llm.model import Model

MakeRoom = Callable[[list[Message]], Awaitable[Usage | None]]
"""Shortens a conversation that the model has refused as too long, in place; what that took, or None."""
KeepRoom = Callable[[list[Message], int, int], Awaitable[Usage | None]]
"""The same where the next request, of about so many tokens, comes near a limit; also told what is spent."""


async def no_room(messages: list[Message]) -> Usage | None:  # noqa: ARG001  of the port
    """Where nothing can be shortened."""
    return None


async def as_it_is(messages: list[Message], tokens: int, spent: int) -> Usage | None:  # noqa: ARG001  of the port
    """Where nothing is ever too long."""
    return None


def for_ever() -> float:
    """Where no clock runs."""
    return float("inf")


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works on a turn.

    Attributes:
        model: Is asked.
        toolbox: Is called.
        limits: Are held.
        emit: Is told. It also keeps the turn, so that its state can be asked for at any moment.
        confirm: Is asked, with the number of tokens, before anything is sent; returns if it may be.
        steering: What the user says meanwhile.
        left: Seconds until the turn's time is over.
        make_room: Is called once a round at most, when the conversation is too long for the model.
        keep_room: Is called before each round, and makes room where it is needed soon.
    """

    model: Model
    toolbox: Toolbox
    limits: Limits
    emit: Callable[[AgentEvent], None]
    confirm: Callable[[Turn, int], Awaitable[None]]
    steering: Steering = field(default_factory=Steering)
    left: Callable[[], float] = for_ever
    make_room: MakeRoom = no_room
    keep_room: KeepRoom = as_it_is
