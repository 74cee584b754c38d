"""The events that a turn reports to the editor while it runs."""

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
    """A further piece of the model's answer."""

    text: str


@dataclass(frozen=True)
class CodeWritten(AgentEvent):
    """The model has written a further piece of code that becomes an edit.

    Attributes:
        n_lines: The number of lines so far.
        line: The latest of them that is not blank, without indent; "" if it has a secret.
    """

    n_lines: int
    line: str


class RoundCompleted(AgentEvent):
    """The model's answer of this round is complete."""


@dataclass(frozen=True)
class SteeringApplied(AgentEvent):
    """The next request contains a message that the user sent during the turn."""

    text: str


@dataclass(frozen=True)
class ToolStarted(AgentEvent):
    """A call of a tool begins."""

    run: ToolRun


@dataclass(frozen=True)
class ToolStateChanged(AgentEvent):
    """The call waits for the user's answer, or has received it."""

    run: ToolRun


@dataclass(frozen=True)
class ToolEnded(AgentEvent):
    """The call is over, with a result or an error."""

    run: ToolRun


@dataclass(frozen=True)
class FileOpened(AgentEvent):
    """The model opens the file `uri` for the user, at a line (1-based) if one is given."""

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
    """The round starts again after a fault, without its earlier text; `reason` is a sentence."""

    reason: str


class TurnEnded(AgentEvent):
    """The turn is over; nothing follows."""
