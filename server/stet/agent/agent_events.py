"""What a turn tells the editor while it runs."""

from dataclasses import dataclass

from stet.agent.tool_state import ToolRun
from stet.agent.turn import Turn


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The turn has left the queue."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """The model is asked for the `round`-th time (1-based) of at most `limit`."""

    turn: Turn
    round: int
    limit: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model has said a little more."""

    turn: Turn
    text: str


@dataclass(frozen=True, slots=True)
class RoundCompleted:
    """The model's answer of this round is whole."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class SteeringApplied:
    """The model is about to be shown what the user said meanwhile."""

    turn: Turn
    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call of a tool begins."""

    turn: Turn
    run: ToolRun


@dataclass(frozen=True, slots=True)
class ToolStateChanged:
    """The call waits for the user's answer, or has it."""

    turn: Turn
    run: ToolRun


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """The call is over, well or not."""

    turn: Turn
    run: ToolRun


@dataclass(frozen=True, slots=True)
class FileOpened:
    """The model wants the user to see the file `uri`, at a line (1-based) if there is one."""

    turn: Turn
    uri: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The turn has a question and waits for the user's answer."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The question has been answered; the turn continues."""

    turn: Turn
    answer: str


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The round starts again after a fault; `reason` is a sentence. Its earlier output is void."""

    turn: Turn
    reason: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over; nothing follows."""

    turn: Turn


AgentEvent = (
    TurnStarted
    | RoundStarted
    | TextDelta
    | RoundCompleted
    | SteeringApplied
    | ToolStarted
    | ToolStateChanged
    | ToolEnded
    | FileOpened
    | QuestionAsked
    | QuestionAnswered
    | RetryScheduled
    | TurnEnded
)
