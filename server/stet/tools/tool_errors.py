"""What a tool raises when a call of it comes to nothing, and what is kept of an edit that does."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailedEdit:
    """An edit that came to nothing though no rule is against it, for the user.

    Attributes:
        file: As the model called it; "" where it named none.
        position: Where it was to go, or the first line of what it quoted; "" where that is not known.
        message: Why, in one line.
    """

    file: str
    position: str
    message: str


class ToolError(Exception):
    """The call failed; the message tells the model its next step."""


class RefusedByRule(ToolError):
    """A rule of the user's refuses it; the refusal is noted for the user (`ToolContext.record_refusal`)."""


class BatchFailed(ToolError):
    """Nothing is wrong with the edit, but it was sent together with one that failed."""


class UserDeclined(ToolError):
    """The user said no, so nothing was done: no failure, the call is `canceled`."""


class ToolUnavailable(ToolError):
    """There is no such tool now: the message lists the model's, and the user has a sentence of their own.

    Attributes:
        user_message: For the user.
    """

    def __init__(self, message: str, user_message: str) -> None:
        super().__init__(message)
        self.user_message = user_message
