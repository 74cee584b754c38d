"""A turn: one question and everything until its end. Values only.

An exception ends a turn early; its message is a sentence for the user:

    TurnStopped
    ├── LimitReached       a limit is reached; the turn is `limited`
    ├── SendingDeclined    the user has declined; the turn is `cancelled`
    └── TurnFailed         the turn can't continue; the turn is `failed`
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
from stet.text.render import counted, iso_time
from stet.tools.editor_actions import Question
from stet.tools.tool_errors import FailedEdit
from stet.tools.tool_state import ToolRun
from stet.web.web_address import WebSource
from stet.workspace.attachments import Attachments


class TurnState(StrEnum):
    """The state of a turn; the values are public names."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    """The turn waits for the user's answer to its question."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LIMITED = "limited"


THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
"""The thoughts that some models write before their answer."""
COMPACTED_NOTE = "The conversation was long: earlier parts were compacted."
_NOT_RUN = "The turn ended before this call was run."

REMOVAL = "Remove the comment that asked for this"
"""The summary of the hunk that removes the comment of a turn (`stet.agent.comment_turns`)."""
PROPOSALS_STAY = "Its proposals are kept; ask again to continue."
HOW_TO_CONTINUE = "Ask again to continue."

FINAL_STATES = frozenset(
    {TurnState.COMPLETED, TurnState.FAILED, TurnState.CANCELLED, TurnState.LIMITED}
)


STET = "stet"
"""The name of Stet's own agent in settings and commands."""


class Mode(StrEnum):
    """The way in which a question is answered."""

    AGENT = "agent"
    """With tools; may propose edits."""
    ASK = "ask"
    """With tools that read; proposes nothing."""
    REWRITE = "rewrite"
    """Rewrites the selection in one shot, without tools."""


MODES = {Marker.DO: Mode.AGENT, Marker.ANSWER: Mode.ASK}
"""The mode of a turn by the marker of its comment."""


@dataclass(frozen=True, slots=True)
class CommentLocation:
    """The place of a comment that asks for a turn.

    Attributes:
        uri: The URI of the comment's document.
        line: One of the comment's lines, 0-based.
        revision: The revision of the document to which `line` refers (`TextDocument.revision`).
    """

    uri: str
    line: int
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The request of the user.

    Attributes:
        prompt: The text of the question.
        mode: The way to answer.
        place: The place in the editor where the user asked.
        chat: The conversation; turns of one chat run one after the other.
        disabled_tools: Tools disabled for this question, in addition to those of the settings.
        disabled_groups: Groups of tools disabled in the same way.
        comment: The comment that asks, if there is one; until the comment has been read, `prompt`
            and `mode` are guessed from its line.
        is_users: Whether the user wrote `prompt`, and not the project.
        attachments: The attachments of the question. None: the user's attachments when the question
            is asked or, if these were not known then, when the question is answered.
        retries: The id of the hunk in conflict that the turn makes again; "" for no hunk. Turns of
            older versions are loaded without this field.
        agent: The agent that is to answer; "" for that of the settings.
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
    agent: str = ""

    def external_agent(self, default: str) -> str:
        """Return the name of the external agent that answers; "" for Stet's own.

        Args:
            default: The agent of the settings. It answers no rewriting, comment or conflict.
        """
        if self.agent:
            return "" if self.agent == STET else self.agent
        is_for_stet = self.mode is Mode.REWRITE or self.comment is not None or self.retries
        return "" if is_for_stet or default == STET else default


@dataclass(frozen=True, slots=True)
class Utterance:
    """The time of a message of a turn, after the question.

    Attributes:
        role: The author of the message.
        at: The time at which the model finished or read the message, in seconds since the epoch.
        n: The length by then of `Turn.answer` in code points, or of `Turn.steering` in entries.
    """

    role: Literal["user", "assistant"]
    at: float
    n: int


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """One message of a turn: its author, its time in seconds since the epoch, and its text."""

    role: Literal["user", "assistant"]
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn at one moment.

    Attributes:
        id: The id of the turn, unique in the workspace.
        ask: The question.
        state: The state of the turn.
        agent: The agent that answers; "" for Stet's own.
        model: The model that answers, once it is known.
        answer: The model's text so far.
        summary: One or two sentences about the result.
        error: Why the turn failed, was limited or cancelled.
        tool_calls: The calls, in order.
        files_read: The names of the files read, in order, without repeats.
        rejected: Edits that the policy refused.
        failed: Edits that failed although no rule forbids them.
        files_copied: Names of files whose contents were collected for the user.
        sources: Pages that were found or read.
        steering: The messages that the user sent during the turn and the model has been shown.
        rounds: The tokens of each round.
        beside: The tokens of other requests to the model, which summarize the conversation.
        pricing: The price of the tokens, once the model is known.
        cost: The cost in the currency of the price, or None if no price is known.
        question: The question that the turn is waiting on, if there is one.
        at: When the user asked, in seconds since the epoch.
        ended_at: When the turn ended; 0 before its end.
        utterances: The times of the model's answers and of the user's steering, in order.
        notes: Notes for the user about how the question was read or sent, such as a missing file.
    """

    id: str
    ask: Ask
    state: TurnState = TurnState.QUEUED
    agent: str = ""
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
        """The tokens of all rounds and of the other requests."""
        return sum(self.rounds, self.beside)

    @property
    def user_texts(self) -> tuple[str, ...]:
        """The texts that the user wrote; not the text of a comment or of a project's prompt."""
        is_theirs = self.ask.comment is None and self.ask.is_users
        return (self.ask.prompt, *self.steering) if is_theirs else self.steering

    def is_success(self, *, has_proposed: bool) -> bool:
        """Return whether the turn is completed, with an edit if it tried to edit.

        Args:
            has_proposed: Whether the model has proposed an edit.
        """
        return self.state is TurnState.COMPLETED and (has_proposed or not self.failed)

    @property
    def messages(self) -> tuple[TurnMessage, ...]:
        """The messages in order: first the question, last the text of `done` if it is new."""
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
        """Return the turn after a further answer, at the time `at` in seconds since the epoch."""
        text = completion.text.strip()
        answer = "\n\n".join(part for part in (self.answer, text) if part)
        spoken = (Utterance("assistant", at, len(answer)),) if text else ()
        return replace(
            self.with_usage(completion), answer=answer, utterances=(*self.utterances, *spoken)
        )

    def with_steering(self, text: str, at: float) -> "Turn":
        """Return the turn after the model has been shown a message that the user sent during it."""
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

    def with_compaction(self, usage: Usage) -> "Turn":
        """Return the turn after a compaction that used `usage` tokens, with a note for the user."""
        notes = self.notes if COMPACTED_NOTE in self.notes else (*self.notes, COMPACTED_NOTE)
        return replace(self, beside=self.beside + usage, notes=notes)

    def with_calls(self, runs: Iterable[ToolRun]) -> "Turn":
        """Return the turn after the model has called tools."""
        length = len(self.answer)
        placed = (replace(run, answer_length=length) for run in runs)
        return replace(self, tool_calls=(*self.tool_calls, *placed))

    def with_run(self, n: int, run: ToolRun) -> "Turn":
        """Return the turn with the new state `run` of call `n` (0-based)."""
        runs = (*self.tool_calls[:n], run, *self.tool_calls[n + 1 :])
        return replace(self, tool_calls=runs)

    def ended(self, state: TurnState, *, summary: str = "", error: str = "") -> "Turn":
        """Return the turn at its end; the default summary is the first line of the answer.

        Calls that are not over are stopped.
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
        """Return the ended turn; after a limit, the error says what stays and how to go on."""
        if self.state is not TurnState.LIMITED or not self.rounds:
            return self
        error = f"{self.error} {PROPOSALS_STAY if has_proposed else HOW_TO_CONTINUE}"
        return replace(self, error=error, summary=error)

    def with_unread_steering(self, unread: Sequence[str]) -> "Turn":
        """Return the ended turn with a note about messages that the model has not been shown."""
        if not unread:
            return self
        quoted = "; ".join(repr(text) for text in unread)
        note = f"The model did not see your last message: {quoted}. Send it again."
        summary = f"{self.summary} {note}".strip()
        return replace(self, summary=summary, error=f"{self.error} {note}" if self.error else "")


def time_of(at: float) -> str:
    """Return a time of a turn, in seconds since the epoch, as ISO 8601 in UTC; "" if unknown."""
    return (iso_time(at) or "") if at else ""


def has_words(text: str) -> bool:
    """Return whether a text has a visible character outside the model's thoughts."""
    shown = THOUGHTS.sub("", text)
    return any(character.isprintable() and not character.isspace() for character in shown)


def first_line(text: str) -> str:
    """Return the first line with words after the model's thoughts; "" if there is no such line."""
    shown = THOUGHTS.sub("", text)
    return next((line.strip() for line in shown.splitlines() if has_words(line)), "")


INSTALL_AGAIN = "Reinstall `stet-lsp` in Stet's environment."


def describe_bug(bug: Exception) -> str:
    """Describe an internal fault for the user, with advice if a package can't be imported."""
    if isinstance(bug, ImportError):
        return f"A package that Stet needs can't be loaded ({bug}). {INSTALL_AGAIN}"
    return f"Internal error in Stet ({type(bug).__name__}); see its log."


class TurnStopped(Exception):
    """The turn ends early; its proposals stay."""


class LimitReached(TurnStopped):
    """A limit ends the turn."""


class SendingDeclined(TurnStopped):
    """The user has declined to send the question."""


class ChoiceRefused(Exception):
    """There is nothing of this name to choose; the message is a sentence for the user."""


class TurnFailed(TurnStopped):
    """The turn can't continue."""


def check_refusal(completion: Completion) -> None:
    """Raise an error if the model or the provider's content filter has refused to answer.

    Raises:
        TurnFailed: If the answer is a refusal.
    """
    answer = completion.text.strip()
    if completion.stop_reason is StopReason.REFUSED:
        raise TurnFailed(f"The model refused: {answer or 'no reason given'}")
    if completion.stop_reason is StopReason.FILTERED:
        raise TurnFailed(
            "The provider's content filter blocked the answer"
            + (" partway; the text before that is kept." if answer else ".")
            + " Rephrase the question, or choose another model."
        )


_NAMED = 3
"""The most files that are named for each rule, each file once."""
_LENGTH = 60
"""The most characters of a file's name, which the model may have invented."""


def describe_refusals(turn: Turn) -> str:
    """Return how many edits were refused, of which files and by which rule; "" if none was."""
    n_edits = len(turn.rejected)
    if not n_edits:
        return ""
    by_rule: dict[str, dict[str, None]] = {}
    for edit in turn.rejected:
        by_rule.setdefault(edit.rule, {})[escape_line(edit.file)[:_LENGTH]] = None
    parts = ", ".join(f"{rule} for {_listed(list(files))}" for rule, files in by_rule.items())
    return f"{counted(n_edits, 'edit')} refused by rule {parts}"


def describe_failures(turn: Turn, *, has_proposed: bool) -> str:
    """Return how many edits failed without a refusal, and of which files; "" if there are none."""
    n_edits = len(turn.failed)
    if not n_edits:
        return ""
    files = dict.fromkeys(escape_line(edit.file)[:_LENGTH] for edit in turn.failed if edit.file)
    named = f" to {_listed(list(files))}" if files else ""
    parts = f"{counted(n_edits, 'edit')} could not be applied{named}"
    return parts if has_proposed else f"Nothing was proposed: {parts}"


def _listed(files: list[str]) -> str:
    n_more = len(files) - _NAMED
    return " and ".join((", ".join(files[:_NAMED]), *([f"{n_more} more"] if n_more > 0 else [])))
