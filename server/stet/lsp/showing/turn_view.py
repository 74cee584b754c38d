"""How a turn looks in the editor: its own progress, and a message at its end."""

from collections.abc import Callable
from time import monotonic

from lsprotocol import types as lsp

from stet.agent.agent import Agent, NoQuestion
from stet.agent.events import (
    AgentEvent,
    Asked,
    Navigated,
    Resumed,
    RoundStarted,
    Said,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Waiting,
)
from stet.agent.question import Question
from stet.agent.turn import Mode, Turn, TurnState
from stet.lsp.client import Client
from stet.lsp.progress import Progress
from stet.lsp.showing.publisher import Publisher
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.text.escape import escape, escape_line

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
        publisher: Publisher,
        agent: Callable[[], Agent],
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._publisher = publisher
        self._agent = agent
        self._progress: dict[str, Progress] = {}
        self._spoken: dict[str, int] = {}
        self._reported = 0.0

    def show(self, event: AgentEvent) -> None:
        """Take one event."""
        turn = event.turn
        match event:
            case TurnStarted() | TurnEnded():
                self._from_start_to_end(turn)
            case RoundStarted(round=number, limit=limit):
                self._round(turn, number, limit)
            case Said(text=text):
                self._said(turn, text)
            case ToolStarted(run=run):
                self._report(turn, escape_line(f"{run.tool} {run.file}".strip()))
            case Waiting(reason=reason):
                self._spoken[turn.id] = 0
                self._report(turn, escape_line(reason))
            case Navigated(uri=uri):
                self._client.start(self._client.show_document(uri), "show a file")
            case Asked() | Resumed():
                self._about_question(turn)

    def _from_start_to_end(self, turn: Turn) -> None:
        if turn.state is not TurnState.RUNNING:
            self._publisher.settle(turn)
            self._ended(turn)
            return
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

    def _about_question(self, turn: Turn) -> None:
        """Ask in every way the editor has; whichever is answered first counts."""
        if turn.question is None:
            self._publisher.settle(turn)
            self._report(turn, "going on")
            return
        self._report(turn, "waiting for your answer")
        self._publisher.ask(turn)
        text = f"Stet: {escape(turn.question.text)}"
        if self._client.has_buttons:
            self._client.start(self._choice(turn.question, text), f"question {turn.question.id}")
        else:
            choices = " / ".join(turn.question.choices)
            self._client.show_message(f"{text} Answer by code action or `stet.answer`: {choices}")

    async def _choice(self, question: Question, text: str) -> None:
        chosen = await self._client.choose(text, question.choices)
        if chosen is None:
            return
        try:
            _ = self._agent().reply(chosen, question.id)
        except NoQuestion:
            return  # answered elsewhere meanwhile, or the turn is over

    def _said(self, turn: Turn, text: str) -> None:
        self._spoken[turn.id] = self._spoken.get(turn.id, 0) + len(text)
        if monotonic() - self._reported >= EVERY:
            self._reported = monotonic()
            self._report(turn, f"{_name(turn)}: writing, {self._spoken[turn.id]} characters")

    def _report(self, turn: Turn, message: str) -> None:
        if progress := self._progress.get(turn.id):
            progress.report(message)

    def _ended(self, turn: Turn) -> None:
        self._spoken.pop(turn.id, None)
        message = self._last_words(turn)
        if progress := self._progress.pop(turn.id, None):
            progress.end(message)
        # Progress is invisible in some editors and lost in others; this is how all of them tell.
        if turn.state is not TurnState.CANCELLED:
            kinds = {
                TurnState.FAILED: lsp.MessageType.Error,
                TurnState.LIMITED: lsp.MessageType.Warning,
            }
            kind = kinds.get(turn.state, lsp.MessageType.Info)
            self._client.show_message(f"Stet: {message}", kind)

    def _last_words(self, turn: Turn) -> str:
        if turn.state is TurnState.COMPLETED and turn.ask.mode is Mode.ASK and turn.answer:
            return turn.answer
        hunks = self._ledger.hunks(turn=turn.id)
        pending = sum(hunk.state is HunkState.PENDING for hunk in hunks)
        words = escape_line(turn.summary)
        if pending:
            words += f" ({pending} hunk{'s' if pending != 1 else ''} to review)"
        return words


def _name(turn: Turn) -> str:
    return escape_line(turn.model) or "the model"


def _cut(prompt: str) -> str:
    text = escape_line(prompt)
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"
