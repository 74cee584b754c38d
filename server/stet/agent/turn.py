"""A turn: one question, from the user's words to the agent's last one. All values."""

import dataclasses
from dataclasses import dataclass
from enum import StrEnum

from stet.agent.question import Question
from stet.context.builder import Place
from stet.llm.messages import Completion, Usage
from stet.review.rules import RejectedEdit


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


OVER = frozenset({TurnState.COMPLETED, TurnState.FAILED, TurnState.CANCELLED, TurnState.LIMITED})


class Mode(StrEnum):
    """How a question is answered."""

    AGENT = "agent"
    """With tools; may propose edits."""
    ASK = "ask"
    """With tools that read; proposes nothing."""
    REWRITE = "rewrite"
    """The selection in one shot, without tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What the user asked for.

    Attributes:
        prompt: Their words.
        mode: How to answer.
        place: Where they asked from.
        chat: The conversation; turns of one chat run one after the other.
        disabled_tools: Switched off for this question, beside those of the settings.
        disabled_groups: The same for whole groups.
    """

    prompt: str
    mode: Mode
    place: Place
    chat: str
    disabled_tools: frozenset[str] = frozenset()
    disabled_groups: frozenset[str] = frozenset()


class ToolState(StrEnum):
    """Where a tool call is."""

    INIT = "init"
    COMPLETED = "completed"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One call of a tool, as `stet.turn` shows it."""

    id: str
    tool: str
    state: ToolState
    file: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn at one moment.

    Attributes:
        id: Unique in the server.
        ask: The question.
        state: Where it is.
        model: Who answers, once that is known.
        answer: What the model has said so far.
        summary: One or two sentences for the end.
        error: Why it failed, was limited or cancelled.
        tool_calls: In order.
        files_read: Names, in order, without repeats.
        rejected: Edits that the gate refused.
        rounds: Tokens of each round with the model.
        cost: In the user's currency, or None where no price is known.
        question: What it waits for, while it does.
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
    rounds: tuple[Usage, ...] = ()
    cost: float | None = None
    question: Question | None = None

    @property
    def usage(self) -> Usage:
        """Tokens of all rounds."""
        return sum(self.rounds, Usage())

    def with_round(self, completion: Completion) -> "Turn":
        """After the model has answered once more."""
        said = "\n\n".join(part for part in (self.answer, completion.text.strip()) if part)
        return dataclasses.replace(self.with_usage(completion), answer=said)

    def with_usage(self, completion: Completion) -> "Turn":
        """After a round whose text is an edit, not an answer to the user."""
        return dataclasses.replace(
            self, rounds=(*self.rounds, completion.usage), model=completion.model or self.model
        )

    def with_tool(self, run: ToolRun) -> "Turn":
        """After a tool call has begun, or ended: then its beginning, the last entry, is replaced.

        Ids are no key: some providers give every round's calls the same ones.
        """
        known = self.tool_calls
        if run.state is not ToolState.INIT and known and known[-1].id == run.id:
            known = known[:-1]
        return dataclasses.replace(self, tool_calls=(*known, run))

    def ended(self, state: TurnState, *, summary: str = "", error: str = "") -> "Turn":
        """At its end; without a summary the answer's first line serves."""
        if not summary and not error:
            summary = next(iter(self.answer.strip().splitlines()), "")
        return dataclasses.replace(
            self, state=state, summary=summary or error, error=error, question=None
        )
