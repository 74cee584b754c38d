"""A turn: one question and everything until its end. Values only.

A turn is ended early by an exception; its message is a sentence for the user:

    TurnStopped
    ├── LimitReached       a limit of the user's; the turn is `limited`
    ├── SendingDeclined    the user said no; the turn is `cancelled`
    └── TurnFailed         the turn can't go on; the turn is `failed`
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from stet.agent.limits import Pricing
from stet.context.context_builder import EditorLocation
from stet.llm.model import Completion, StopReason, Usage
from stet.review.policy.rules import RejectedEdit
from stet.text.ai_comments import Marker
from stet.text.escape import escape_line
from stet.text.render import iso_time
from stet.tools.editor_actions import Question
from stet.tools.tool_errors import FailedEdit
from stet.tools.tool_state import ToolRun
from stet.web.web_address import WebSource
from stet.workspace.attachments import Attachments


class TurnState(StrEnum):
    """Where a turn is; the words of the public contract."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    """For the user's answer to the turn's question."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LIMITED = "limited"


THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
"""What some models put before their answer."""
COMPACTED_NOTE = "The conversation had become long: earlier parts of it were compacted."
_NOT_RUN = "The turn ended before this call was carried out."

REMOVAL = "Remove the comment that asked for this"
"""What the hunk says by which the comment that a turn carries out is taken out; see `stet.agent.comment_turns`."""
PROPOSALS_STAY = "What was proposed stays; ask again to go on."
HOW_TO_CONTINUE = "Ask again to go on."

FINAL_STATES = frozenset(
    {TurnState.COMPLETED, TurnState.FAILED, TurnState.CANCELLED, TurnState.LIMITED}
)


class Mode(StrEnum):
    """How a question is answered."""

    AGENT = "agent"
    """With tools; may propose edits."""
    ASK = "ask"
    """With tools that read; proposes nothing."""
    REWRITE = "rewrite"
    """The selection in one shot, without tools."""


MODES = {Marker.DO: Mode.AGENT, Marker.ANSWER: Mode.ASK}
"""How what a comment says is answered."""


@dataclass(frozen=True, slots=True)
class CommentLocation:
    """The place of a comment that asks for a turn.

    Attributes:
        uri: The URI of its document.
        line: One of its lines, 0-based.
        revision: The revision of the document to which `line` refers (`TextDocument.revision`).
    """

    uri: str
    line: int
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The request of the user.

    Attributes:
        prompt: The user's words.
        mode: How to answer.
        place: The place in the editor where the user asked.
        chat: The conversation; turns of one chat run one after the other.
        disabled_tools: Tools disabled for this question, in addition to those of the settings.
        disabled_groups: Groups of tools disabled in the same way.
        comment: The comment that asks, if there is one; until the comment has been read, `prompt`
            and `mode` are guessed from its line.
        is_users: Whether `prompt` is in the user's own words, and not in the project's.
        attachments: The attachments of the question. None: the user's attachments when the question
            is asked or, if these were not known then, when the question is answered.
        retries: The id of the hunk in conflict that the turn makes again; "" for no hunk. Turns of
            older versions have no such field: they are over when they are loaded.
    """

    prompt: str
    mode: Mode
    place: EditorLocation
    chat: str
    disabled_tools: frozenset[str] = frozenset()
    disabled_groups: frozenset[str] = frozenset()
    comment: CommentLocation | None = None
    is_users: bool = True
    attachments: Attachments | None = None
    retries: str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """When something was said in a turn, after its question.

    Attributes:
        role: By whom.
        at: When, in seconds since the epoch: when the model had said all of it, or had been shown it.
        n: How much was said by then: characters of `Turn.answer`, or entries of `Turn.steering`.
    """

    role: Literal["user", "assistant"]
    at: float
    n: int


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """One message of a turn: who said it, when (seconds since the epoch), and what."""

    role: Literal["user", "assistant"]
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn at one moment.

    Attributes:
        id: Unique in the server.
        ask: The question.
        state: The state of the turn.
        model: The model that answers, once it is known.
        answer: The model's text so far.
        summary: One or two sentences for the end.
        error: Why the turn failed, was limited or cancelled.
        tool_calls: The calls, in order.
        files_read: Names, in order, without repeats.
        rejected: Edits that the policy refused.
        failed: Edits that failed although no rule forbids them.
        files_copied: Names of files whose contents were collected for the user.
        sources: Pages that were found or read.
        steering: The user's messages while the turn ran, as far as the model has been shown them.
        rounds: Tokens of each round with the model.
        beside: Tokens of other requests to the model: summaries of texts that had become too long.
        pricing: The price of the tokens, once the model is known.
        cost: In the currency of the price, or None if no price is known.
        question: The question that the turn is waiting on, if there is one.
        at: When the user asked, in seconds since the epoch.
        ended_at: When the turn ended; 0 before its end.
        utterances: The times at which the model answered and the user said more, in order.
        notes: Notes for the user about how the question was read or sent: a missing file, for
            example.
    """

    id: str
    ask: Ask
    state: TurnState = TurnState.QUEUED
    model: str = ""
    answer: str = ""
    summary: str = ""
    error: str = ""
    tool_calls: tuple[ToolRun, ...] = ()
    files_read: tuple[str, ...] = ()
    rejected: tuple[RejectedEdit, ...] = ()
    failed: tuple[FailedEdit, ...] = ()
    files_copied: tuple[str, ...] = ()
    sources: tuple[WebSource, ...] = ()
    steering: tuple[str, ...] = ()
    rounds: tuple[Usage, ...] = ()
    beside: Usage = field(default_factory=Usage)
    pricing: Pricing = field(default_factory=Pricing)
    cost: float | None = None
    question: Question | None = None
    at: float = 0.0
    ended_at: float = 0.0
    utterances: tuple[Utterance, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def usage(self) -> Usage:
        """Return the tokens of all rounds, and of the requests beside them."""
        return sum(self.rounds, self.beside)

    @property
    def user_texts(self) -> tuple[str, ...]:
        """What the user has said in it; a comment and a project's prompt are a stranger's words."""
        is_theirs = self.ask.comment is None and self.ask.is_users
        return (self.ask.prompt, *self.steering) if is_theirs else self.steering

    def is_success(self, *, has_proposed: bool) -> bool:
        """Return whether it did what it was asked for: not where all its edits came to nothing.

        Args:
            has_proposed: Whether the model has proposed an edit.
        """
        return self.state is TurnState.COMPLETED and (has_proposed or not self.failed)

    @property
    def messages(self) -> tuple[TurnMessage, ...]:
        """Return the messages in order: first the question, last the text of `done`, if new."""
        collected = [TurnMessage("user", self.at, self.ask.prompt)]
        start = 0
        for one in self.utterances:
            text = self.answer[start : one.n].strip()
            if one.role == "user":
                text = self.steering[one.n - 1] if 0 < one.n <= len(self.steering) else ""
            else:
                start = one.n
            collected.append(TurnMessage(one.role, one.at, text))
        if self.state is TurnState.COMPLETED and self.summary not in self.answer:
            collected.append(TurnMessage("assistant", self.ended_at, self.summary))
        return tuple(collected)

    def with_round(self, completion: Completion, at: float = 0.0) -> "Turn":
        """Return the turn after the model has answered once more, at a time in seconds since the epoch."""
        text = completion.text.strip()
        answer = "\n\n".join(part for part in (self.answer, text) if part)
        spoken = (Utterance("assistant", at, len(answer)),) if text else ()
        return replace(
            self.with_usage(completion), answer=answer, utterances=(*self.utterances, *spoken)
        )

    def with_steering(self, text: str, at: float) -> "Turn":
        """Return the turn after the model has been shown what the user said meanwhile."""
        steering = (*self.steering, text)
        utterance = Utterance("user", at, len(steering))
        return replace(self, steering=steering, utterances=(*self.utterances, utterance))

    def with_usage(self, completion: Completion) -> "Turn":
        """Return the turn after a round whose text is an edit, not an answer to the user."""
        notes = (*self.notes, completion.note) if completion.note else self.notes
        return replace(
            self,
            rounds=(*self.rounds, completion.usage),
            model=completion.model or self.model,
            notes=notes,
        )

    def with_compaction(self, took: Usage) -> "Turn":
        """Return the turn after a compaction that took so many tokens; the user is notified."""
        notes = self.notes if COMPACTED_NOTE in self.notes else (*self.notes, COMPACTED_NOTE)
        return replace(self, beside=self.beside + took, notes=notes)

    def with_calls(self, runs: Iterable[ToolRun]) -> "Turn":
        """Return the turn after the model has called tools."""
        return replace(self, tool_calls=(*self.tool_calls, *runs))

    def with_run(self, n: int, run: ToolRun) -> "Turn":
        """Return the turn after call `n` (0-based) has gone one step on."""
        runs = (*self.tool_calls[:n], run, *self.tool_calls[n + 1 :])
        return replace(self, tool_calls=runs)

    def ended(self, state: TurnState, *, summary: str = "", error: str = "") -> "Turn":
        """Return the turn at its end; without a summary the answer's first line serves.

        Calls that are not over never will be.
        """
        if not summary and not error:
            summary = first_line(self.answer)
        return replace(
            self,
            state=state,
            summary=summary or error,
            error=error,
            question=None,
            tool_calls=tuple(run.stopped(_NOT_RUN) for run in self.tool_calls),
        )

    def with_remaining_note(self, *, has_proposed: bool) -> "Turn":
        """Return the turn at its end; where a limit has ended it, with what stays and how to go on."""
        if self.state is not TurnState.LIMITED or not self.rounds:
            return self
        error = f"{self.error} {PROPOSALS_STAY if has_proposed else HOW_TO_CONTINUE}"
        return replace(self, error=error, summary=error)

    def with_unread_steering(self, unread: Sequence[str]) -> "Turn":
        """Return the turn at its end, with what the user said too late for the model, if anything."""
        if not unread:
            return self
        quoted = "; ".join(repr(text) for text in unread)
        note = f"The model has not seen what you said last: {quoted}. Ask again to have it heard."
        summary = f"{self.summary} {note}".strip()
        return replace(self, summary=summary, error=f"{self.error} {note}" if self.error else "")


def time_of(at: float) -> str:
    """Return a time of a turn, in seconds since the epoch, as ISO 8601 in UTC; "" if unknown."""
    return (iso_time(at) or "") if at else ""


def has_words(text: str) -> bool:
    """Return whether a text says anything: white space, characters without a shape and thoughts do
    not.
    """
    shown = THOUGHTS.sub("", text)
    return any(character.isprintable() and not character.isspace() for character in shown)


def first_line(text: str) -> str:
    """Return the first line with words after the model's thoughts; "" if there is no such line."""
    shown = THOUGHTS.sub("", text)
    return next((line.strip() for line in shown.splitlines() if has_words(line)), "")


INSTALL_AGAIN = "Install `stet-lsp` again where Stet is installed."


def describe_bug(bug: Exception) -> str:
    """Describe an internal fault for the user. A fault of the installation is one that the user can
    repair.
    """
    if isinstance(bug, ImportError):
        return f"A package that Stet needs can't be used ({bug}). {INSTALL_AGAIN}"
    return f"Stet failed inside ({type(bug).__name__}); its log has the details."


class TurnStopped(Exception):
    """The turn ends here; what it has proposed stays."""


class LimitReached(TurnStopped):
    """A limit of the user's ends the turn."""


class SendingDeclined(TurnStopped):
    """The user did not want it."""


class TurnFailed(TurnStopped):
    """The turn can't go on."""


def check_refusal(completion: Completion) -> None:
    """Show a refusal as what it is, in the model's words or the provider's.

    Raises:
        TurnFailed: If it is one.
    """
    answer = completion.text.strip()
    if completion.stop_reason is StopReason.REFUSED:
        raise TurnFailed(f"The model refuses: {answer or 'it gives no reason'}")
    if completion.stop_reason is StopReason.FILTERED:
        raise TurnFailed(
            "The provider's content filter has withheld the answer"
            + (", in the middle; what was said until then stays." if answer else ".")
            + " Ask in other words, or choose another model."
        )


_NAMED = 3
"""The most files that are named for each rule, each file once."""
_LENGTH = 60
"""Of a name, in characters: the model may have made it up."""


def describe_refusals(turn: Turn) -> str:
    """Return how many edits were refused, of which files and by which rule; nothing if none was."""
    n_edits = len(turn.rejected)
    if not n_edits:
        return ""
    by_rule: dict[str, dict[str, None]] = {}
    for edit in turn.rejected:
        by_rule.setdefault(edit.rule, {})[escape_line(edit.file)[:_LENGTH]] = None
    parts = ", ".join(f"{rule} for {_listed(list(files))}" for rule, files in by_rule.items())
    return f"{n_edits} edit{'s' if n_edits != 1 else ''} refused by the rule {parts}"


def describe_failures(turn: Turn, *, has_proposed: bool) -> str:
    """Return how many edits failed though no rule is against them, and of which files; nothing if
    none did.
    """
    n_edits = len(turn.failed)
    if not n_edits:
        return ""
    files = dict.fromkeys(escape_line(edit.file)[:_LENGTH] for edit in turn.failed if edit.file)
    named = f": {_listed(list(files))}" if files else ""
    parts = f"{n_edits} edit{'s' if n_edits != 1 else ''} applied to no text{named}"
    return parts if has_proposed else f"nothing was proposed; {parts}"


def _listed(files: list[str]) -> str:
    n_more = len(files) - _NAMED
    return " and ".join((", ".join(files[:_NAMED]), *([f"{n_more} more"] if n_more > 0 else [])))
