"""How a turn looks in the editor: its own progress, and a message at its end."""

from collections.abc import Callable, Sequence
from time import monotonic

from lsprotocol import types as lsp

from stet.agent.agent import Agent
from stet.agent.agent_events import (
    AgentEvent,
    FileOpened,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RoundStarted,
    SteeringApplied,
    TextDelta,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from stet.agent.turn import REMOVAL, Mode, Turn, TurnState
from stet.lsp.editor_client import Client
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher
from stet.lsp.presentation.edit_failure_text import describe_failures, describe_refusals
from stet.lsp.presentation.question_view import QuestionView
from stet.lsp.presentation.usage_text import describe_usage
from stet.lsp.progress import Progress
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState
from stet.text.escape import escape_line

EVERY = 0.15
"""Seconds between two reports of the words that stream in."""
TITLE = 60


class TurnView:
    """Shows every turn of one server.

    Args:
        client: The editor.
        ledger: Tells how many hunks a turn has proposed.
        publisher: Shows questions where they were asked from.
        agent: Called when the user cancels a turn's progress or answers with a button.
    """

    def __init__(
        self,
        client: Client,
        ledger: ReviewLedger,
        publisher: DiagnosticsPublisher,
        agent: Callable[[], Agent],
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._questions = QuestionView(client, publisher, agent)
        self._agent = agent
        self._progress: dict[str, Progress] = {}
        self._spoken: dict[str, int] = {}
        self._reported = 0.0

    def handle_event(self, event: AgentEvent) -> None:
        """Take one event."""
        turn = event.turn
        match event:
            case TurnStarted() | TurnEnded():
                self._handle_turn_event(turn)
            case RoundStarted(round=number, limit=limit):
                self._round(turn, number, limit)
            case TextDelta(text=text):
                self._show_text(turn, text)
            case ToolStarted(run=run):
                self._report(turn, escape_line(f"{run.tool} {run.file}".strip()))
            case SteeringApplied(text=text):
                self._report(turn, f"the model is told: {_cut(text)}")
            case RetryScheduled(reason=reason):
                self._spoken[turn.id] = 0
                self._report(turn, escape_line(reason))
            case _:
                self._handle_user_event(event)

    def _handle_user_event(self, event: AgentEvent) -> None:
        """What the user is asked, or is to look at."""
        match event:
            case FileOpened(uri=uri, line=line):
                self._client.start(self._open_file(uri, line), "show a file")
            case QuestionAsked() | QuestionAnswered():
                self._progress_question(event.turn)

    def _handle_turn_event(self, turn: Turn) -> None:
        if turn.state is not TurnState.RUNNING:
            self._questions.turn_ended(turn)
            self._turn_ended(turn)
            return
        self._questions.turn_started(turn)
        title = f"Stet: {_cut(turn.ask.prompt)}"
        self._progress[turn.id] = self._client.progress(
            title, "starting", lambda: self._stop(turn.id)
        )

    def _round(self, turn: Turn, number: int, limit: int) -> None:
        self._spoken[turn.id] = 0
        spent = f", {turn.usage.total} tokens" if turn.usage.total else ""
        self._report(turn, f"{_name(turn)}: round {number} of {limit}{spent}")

    def _stop(self, turn_id: str) -> None:
        self._agent().cancel(turn_id)

    def _progress_question(self, turn: Turn) -> None:
        if turn.question is None:
            self._questions.question_answered(turn)
            self._report(turn, "going on")
        else:
            # First: where both share one line, the question is what stays.
            self._report(turn, "waiting for your answer")
            self._questions.ask(turn)

    def remind(self, turn: Turn) -> None:
        """Put the question of a turn that waits to the user again."""
        self._questions.remind(turn)

    async def _open_file(self, uri: str, line: int | None) -> None:
        """Show a file; where the editor does not, say which."""
        start = lsp.Position((line or 1) - 1, 0)
        at = lsp.Range(start, start) if line else None
        if not await self._client.show_document(uri, at):
            where = f", line {line}" if line else ""
            self._client.show_message(f"Stet: look at {escape_line(uri)}{where}")

    def _show_text(self, turn: Turn, text: str) -> None:
        self._spoken[turn.id] = self._spoken.get(turn.id, 0) + len(text)
        if monotonic() - self._reported >= EVERY:
            self._reported = monotonic()
            self._report(turn, f"{_name(turn)}: writing, {self._spoken[turn.id]} characters")

    def _report(self, turn: Turn, message: str) -> None:
        if progress := self._progress.get(turn.id):
            progress.report(message)

    def _turn_ended(self, turn: Turn) -> None:
        self._spoken.pop(turn.id, None)
        hunks = self._ledger.hunks(turn=turn.id)
        has_proposed = any(hunk.summary != REMOVAL for hunk in hunks)
        n_replaced = len(self._ledger.replaced_by(turn.id))
        message = _end_message(turn, hunks, n_replaced, has_proposed=has_proposed)
        if progress := self._progress.pop(turn.id, None):
            progress.end(message)
        # Progress is invisible in some editors and lost in others; this is how all of them tell.
        if turn.state is not TurnState.CANCELLED:
            kinds = {
                TurnState.FAILED: lsp.MessageType.Error,
                TurnState.LIMITED: lsp.MessageType.Warning,
            }
            is_success = turn.is_success(has_proposed=has_proposed)
            usual = lsp.MessageType.Info if is_success else lsp.MessageType.Warning
            kind = kinds.get(turn.state, usual)
            self._client.show_message(f"Stet: {message}", kind)


def _end_message(turn: Turn, hunks: Sequence[Hunk], n_replaced: int, *, has_proposed: bool) -> str:
    """The message at a turn's end: what it says, what waits, what failed, what it took.

    Args:
        turn: A turn that is over.
        hunks: What it has proposed.
        n_replaced: How many pending hunks of earlier turns that has superseded.
        has_proposed: Whether the model has proposed an edit.
    """
    pending = sum(hunk.state is HunkState.PENDING for hunk in hunks)
    notes = [f"{pending} hunk{'s' if pending != 1 else ''} to review"] if pending else []
    if n_replaced:
        notes.append(f"replaces {n_replaced} pending hunk{'s' if n_replaced != 1 else ''}")
    notes += [describe_refusals(turn), describe_failures(turn, has_proposed=has_proposed)]
    notes += map(escape_line, turn.notes)
    notes += [describe_usage(turn)] if turn.rounds else []
    words, parts = _turn_text(turn, has_proposed=has_proposed), "; ".join(filter(None, notes))
    return f"{words} ({parts})" if parts else words


def _turn_text(turn: Turn, *, has_proposed: bool) -> str:
    """What a turn says at its end: the answer, or where edits are to be reviewed a line about them.

    Args:
        turn: A turn that is over.
        has_proposed: Whether the model has proposed an edit.
    """
    summary = escape_line(turn.summary)
    is_answered = turn.state in (TurnState.COMPLETED, TurnState.LIMITED) and turn.answer
    if not is_answered or (has_proposed and turn.ask.mode is not Mode.ASK):
        return summary
    return turn.answer if turn.summary in turn.answer else f"{turn.answer}\n\n{summary}"


def _name(turn: Turn) -> str:
    return escape_line(turn.model) or "the model"


def _cut(prompt: str) -> str:
    text = escape_line(prompt)
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"
