"""What a turn has done besides its proposals, collected while its tools run."""

from dataclasses import dataclass, field

from stet.review.policy.rules import RejectedEdit
from stet.tools.editor_actions import OpenFileRequest
from stet.tools.tool_errors import RefusedByRule
from stet.web.web_address import WebSource
from stet.workspace.names import Refusal


@dataclass(slots=True)
class TurnReport:
    """The report of one turn. Used on the event loop only.

    Attributes:
        files_read: Names of files read, in order, without repeats.
        rejected: Edits that a rule refused, in order.
        files_to_open: Files to show to the user, until the loop has passed them on.
        copied: Names of files whose contents were gathered for the user, in order.
        sources: Web pages that were found or read, in order, without repeats.
        summary: The summary of the tool `done`; None while the turn goes on.
        n_questions: The number of questions that the tools have asked the user.
    """

    files_read: list[str] = field(default_factory=list)
    rejected: list[RejectedEdit] = field(default_factory=list)
    files_to_open: list[OpenFileRequest] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)
    sources: list[WebSource] = field(default_factory=list)
    summary: str | None = None
    n_questions: int = 0

    def record_read(self, name: str) -> None:
        """Record that a file was read."""
        if name not in self.files_read:
            self.files_read.append(name)

    def record_refusal(self, name: str, position: str, refusal: Refusal) -> RefusedByRule:
        """Record a refusal for the user. Return the error that reports the refusal to the model; the
        caller raises the error.
        """
        self.rejected.append(RejectedEdit(name, position, refusal.rule, refusal.message))
        return RefusedByRule(f"Refused by the rule {refusal.rule}: {refusal.for_model}")
