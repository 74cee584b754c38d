"""Turns in the editor: the progress, the question, and a message at the end.

A question is shown beside the text, and as a message, with buttons if the editor supports them.
Code actions and `stet.answer` answer it in every editor; buttons are optional, and disappear when
the question is answered in another way or its turn is over.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from time import monotonic

from lsprotocol import types as lsp

from stet.agent.agent import Agent
from stet.agent.agent_events import (
    AgentEvent,
    CodeWritten,
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
from stet.agent.turn import REMOVAL, Turn, TurnState
from stet.agent.turn_runner import NoPendingQuestion
from stet.llm.model import display_name
from stet.lsp.editor_client import Client, Progress
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher
from stet.lsp.presentation.end_message import end_message, short_message
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk
from stet.text.escape import disable_links, escape, escape_line
from stet.tools.editor_actions import Question
from stet.tools.tool_state import ToolKind, ToolRun, ToolState

NOBODY = "No user is available to answer. Continue without an answer."
"""The answer to the agent if no user can answer its question."""


EVERY = 0.2
"""The minimum time between two progress reports about what a model writes, in seconds."""
TITLE = 60
EDITING_TOOLS = frozenset({"edit_file", "create_file", "update_properties", "add_tags"})
"""The tools whose calls are shown as edits of their file."""


class TurnView:
    """The view of all turns of one server.

    Args:
        client: The editor.
        ledger: The ledger, which has the hunks of turns.
        publisher: The publisher that shows questions at the locations of their turns.
        agent: The agent, which gets cancellations and answers by buttons.
    """

    def __init__(
        self, client: Client, ledger: ReviewLedger, publisher: DiagnosticsPublisher, agent: Agent
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._publisher = publisher
        self._agent = agent
        self._buttons: dict[str, asyncio.Task[None]] = {}
        self._progress: dict[str, Progress] = {}
        self._spoken: dict[str, int] = {}
        """By turn, the characters of the current round's text."""
        self._code: dict[str, str] = {}
        """By turn, the code that the model has written in the current round, in a few words."""
        self._activities: dict[str, str] = {}
        self._reported = 0.0

    def handle_event(self, event: AgentEvent) -> None:
        """Show one event of a turn."""
        turn = event.turn
        match event:
            case TurnStarted():
                self._turn_started(turn)
            case TurnEnded():
                self._turn_ended(turn)
            case RoundStarted(round=number, limit=limit):
                self._round(turn, number, limit)
            case TextDelta() | CodeWritten():
                self._show_writing(event)
            case ToolStarted(run=run) if run.course is not ToolKind.CONTROL:
                self._report(turn, _describe_call(turn, run))
            case SteeringApplied(text=text):
                self._report(turn, f"sent to the model: {_cut(text)}")
            case RetryScheduled(reason=reason):
                self._forget_writing(turn)
                self._report(turn, escape_line(reason))
            case _:
                self._handle_user_event(event)

    def _handle_user_event(self, event: AgentEvent) -> None:
        """Show a question to the user, or a file that the agent has opened."""
        match event:
            case FileOpened(uri=uri, line=line):
                self._client.start(self._open_file(uri, line), "show a file")
            case QuestionAsked() | QuestionAnswered():
                self._progress_question(event.turn)

    def _turn_started(self, turn: Turn) -> None:
        self._publisher.turn_started(turn)
        title = f"Stet: {_cut(turn.ask.prompt)}"
        stop = partial(self._agent.cancel, turn.id)
        self._progress[turn.id] = self._client.progress(title, "starting", stop)

    def _round(self, turn: Turn, number: int, limit: int) -> None:
        self._forget_writing(turn)
        spent = f", {turn.usage.total} tokens" if turn.usage.total else ""
        self._report(turn, f"{_name(turn)}: round {number} of {limit}{spent}")

    def _progress_question(self, turn: Turn) -> None:
        """Show the question of a turn in every way that the editor supports; remove it after the
        answer.
        """
        if turn.question is None:
            self._publisher.clear_question(turn.id)
            self._withdraw_buttons(turn.id)
            self._report(turn, "continuing")
        else:
            # Report first: where both share one line, the question stays visible.
            self._report(turn, "waiting for your answer")
            self._publisher.show_question(turn.id, turn.question)
            self._show_message(turn.id, turn.question)

    def remind(self, turn: Turn) -> None:
        """Show the question of a waiting turn again, as a message."""
        if turn.question is not None:
            self._withdraw_buttons(turn.id)
            self._show_message(turn.id, turn.question)

    def _show_message(self, turn_id: str, question: Question) -> None:
        text = f"Stet: {question.text}"
        if self._client.has_buttons and (question.choices or self._client.accepts_text_answers):
            if question.kind == "ask" and not self._client.accepts_text_answers:
                text += "\n(Or answer in your own words with `stet.answer`.)"
            work = self._choice(question, text)
            self._buttons[turn_id] = self._client.spawn(work, f"question {question.id}")
            return
        how = "Answer with `stet.answer`."
        if question.choices:
            numbered = [f"{n}: {choice}" for n, choice in enumerate(question.choices, 1)]
            how = f"Answer with a code action or `stet.answer`: {' / '.join(numbered)}"
        self._client.show_message(f"{text}\n{how}")

    async def _choice(self, question: Question, text: str) -> None:
        chosen = await self._client.choose(text, question.choices)
        if chosen is None and self._client.accepts_text_answers:
            chosen = NOBODY if question.kind == "ask" else question.choices[-1]
        if chosen is None:
            return
        try:
            _ = self._agent.questions.reply(chosen, question.id)
        except NoPendingQuestion as error:
            # In an editor, the question was answered in another way, or the turn is over.
            if self._client.accepts_text_answers:
                await self._choice(question, f"Stet: {escape(str(error))}")

    def _withdraw_buttons(self, turn_id: str) -> None:
        """Remove the message with buttons, if the editor supports this."""
        if buttons := self._buttons.pop(turn_id, None):
            buttons.cancel()

    async def _open_file(self, uri: str, line: int | None) -> None:
        """Show a file; if the editor refuses, show its URI in a message."""
        start = lsp.Position((line or 1) - 1, 0)
        at = lsp.Range(start, start) if line else None
        if not await self._client.show_document(uri, at):
            where = f", line {line}" if line else ""
            self._client.show_message(f"Stet: open {escape_line(uri)}{where}")

    def _show_writing(self, event: TextDelta | CodeWritten) -> None:
        """Show what the model writes: its latest line of code, or else how much text."""
        turn = event.turn
        if isinstance(event, CodeWritten):
            self._code[turn.id] = _describe_code(event.n_lines, event.line)
        else:
            self._spoken[turn.id] = self._spoken.get(turn.id, 0) + len(event.text)
        what = self._code.get(turn.id) or f"writing, {self._spoken[turn.id]} characters"
        message = f"{_name(turn)}: {what}"
        is_new = message != self._activities.get(turn.id)
        if is_new and monotonic() - self._reported >= EVERY:
            self._reported = monotonic()
            self._report(turn, message)

    def _forget_writing(self, turn: Turn) -> None:
        """Forget what the model has written in the round before."""
        self._spoken.pop(turn.id, None)
        self._code.pop(turn.id, None)

    def activity(self, turn_id: str) -> str:
        """Return the latest progress message of a running turn; "" if there is none."""
        return self._activities.get(turn_id, "")

    def _report(self, turn: Turn, message: str) -> None:
        self._activities[turn.id] = message
        if progress := self._progress.get(turn.id):
            progress.report(message)

    def _turn_ended(self, turn: Turn) -> None:
        self._publisher.turn_ended(turn.id)
        self._withdraw_buttons(turn.id)
        self._forget_writing(turn)
        self._activities.pop(turn.id, None)
        hunks = self._ledger.hunks(turn=turn.id)
        has_proposed = any(hunk.summary != REMOVAL for hunk in hunks)
        message = self._end_message(turn, hunks, has_proposed=has_proposed)
        if progress := self._progress.pop(turn.id, None):
            progress.end(message)
        # Some editors do not show progress or its end, but all editors show messages.
        if turn.state is TurnState.FAILED:
            self._client.show_message(f"Stet: {message}", lsp.MessageType.Error)
        elif turn.is_success(has_proposed=has_proposed):
            self._client.show_message(f"Stet: {message}")
        elif turn.state is not TurnState.CANCELLED:
            self._client.warn(f"Stet: {message}")

    def _end_message(self, turn: Turn, hunks: Sequence[Hunk], *, has_proposed: bool) -> str:
        replaced, has_chat = self._ledger.replaced_by(turn.id), self._client.can_show_chat
        if has_chat and self._client.capabilities.cuts_messages:
            return short_message(turn, hunks, replaced, has_proposed=has_proposed)
        return end_message(turn, hunks, replaced, has_proposed=has_proposed, has_chat=has_chat)


def _describe_call(turn: Turn, run: ToolRun) -> str:
    """Return what a call does; an edit names its file and its number among the turn's edits of
    it.
    """
    if run.tool not in EDITING_TOOLS or not run.file:
        return escape_line(f"{run.tool} {run.file}".strip())
    begun = [one for one in turn.tool_calls if one.state is not ToolState.BOOTING]
    n_edits = sum(one.tool in EDITING_TOOLS and one.file == run.file for one in begun)
    return f"editing {escape_line(run.file)} ({n_edits})"


def _describe_code(n_lines: int, line: str) -> str:
    """Return the number of lines and the latest one, cut. Some editors act on links in a message."""
    return f"line {n_lines}: {disable_links(_cut(line))}" if line else f"line {n_lines}"


def _name(turn: Turn) -> str:
    return escape_line(display_name(turn.model)) or "the model"


def _cut(prompt: str) -> str:
    text = escape_line(prompt)
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"
