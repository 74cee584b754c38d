"""The errors of tools, and an edit that failed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from stet.workspace.paths import PathRefused
from stet.workspace.snapshot import NotShown


@dataclass(frozen=True, slots=True)
class FailedEdit:
    """An edit that failed although no rule refuses it, for the user.

    Attributes:
        file: The name of the file, as the model wrote it; "" for none.
        position: The position, or the first line of the quotation; "" if unknown.
        message: The reason, in one line.
    """

    file: str
    position: str
    message: str


class ToolError(Exception):
    """A call has failed. The message tells the model what to do next."""


@contextmanager
def refusals_as_errors(hint: str = "") -> Iterator[None]:
    """Convert a refusal to find or show a file to an error for the model, with a hint.

    Raises:
        ToolError: Instead of `PathRefused` and `NotShown`.
    """
    try:
        yield
    except (PathRefused, NotShown) as refused:
        raise ToolError(f"{refused} {hint}".rstrip()) from refused


class RefusedByRule(ToolError):
    """A rule of the user refuses the edit; see `TurnReport.record_refusal`."""


class BatchFailed(ToolError):
    """The edit was sent together with an edit that failed."""


class UserDeclined(ToolError):
    """The user has declined. This is not a failure: the call is `canceled`."""


class ToolUnavailable(ToolError):
    """The tool is not offered now. The message lists the offered tools for the model.

    Attributes:
        user_message: The message for the user.
    """

    def __init__(self, message: str, user_message: str) -> None:
        super().__init__(message)
        self.user_message = user_message
