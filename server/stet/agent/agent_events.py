"""What a turn tells the editor while it runs."""

from dataclasses import dataclass

from stet.agent.turn import Turn
from stet.tools.tool_state import ToolRun


@dataclass(frozen=True)
class AgentEvent:
    """One step of a turn, with the turn as it is after the step."""

    turn: Turn


class TurnStarted(AgentEvent):
    """The turn has left the queue."""


@dataclass(frozen=True)
class RoundStarted(AgentEvent):
    """The model is asked for the `round`-th time (1-based) of at most `limit`."""

    round: int
    limit: int


@dataclass(frozen=True)
class TextDelta(AgentEvent):
    """The model has said a little more."""

    text: str


class RoundCompleted(AgentEvent):
    """The model's answer of this round is whole."""


@dataclass(frozen=True)
class SteeringApplied(AgentEvent):
    """The model is about to be shown what the user said meanwhile."""

    text: str


@dataclass(frozen=True)
class ToolStarted(AgentEvent):
    """A call of a tool begins."""

    run: ToolRun


@dataclass(frozen=True)
class ToolStateChanged(AgentEvent):
    """The call waits for the user's answer, or has it."""

    run: ToolRun


@dataclass(frozen=True)
class ToolEnded(AgentEvent):
    """The call is over, well or not."""

    run: ToolRun


@dataclass(frozen=True)
class FileOpened(AgentEvent):
    """The model wants the user to see the file `uri`, at a line (1-based) if there is one."""

    uri: str
    line: int | None = None


class QuestionAsked(AgentEvent):
    """The turn has a question and waits for the user's answer."""


@dataclass(frozen=True)
class QuestionAnswered(AgentEvent):
    """The question has been answered; the turn continues."""

    answer: str


@dataclass(frozen=True)
class RetryScheduled(AgentEvent):
    """The round starts again after a fault; `reason` is a sentence. Its earlier output is void."""

    reason: str


class TurnEnded(AgentEvent):
    """The turn is over; nothing follows."""
