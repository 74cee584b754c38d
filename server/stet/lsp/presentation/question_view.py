"""A turn's question in the editor: beside the text, and as a message, with buttons where there are any.

Code actions and `stet.answer` answer it in every editor; buttons are an extra, and go when it is
answered elsewhere or its turn is over.
"""

import asyncio
from collections.abc import Callable

from stet.agent.agent import Agent
from stet.agent.questions import NoPendingQuestion
from stet.agent.turn import Turn
from stet.lsp.editor_client import Client
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher
from stet.text.escape import escape
from stet.tools.question import Question

NOBODY = "Nobody is there to answer. Go on without an answer."
"""What the agent is told where a question meets no person."""


class QuestionView:
    """Shows every question of one server.

    Args:
        client: The editor.
        publisher: Shows questions where they were asked from.
        agent: Takes the answers.
    """

    def __init__(
        self, client: Client, publisher: DiagnosticsPublisher, agent: Callable[[], Agent]
    ) -> None:
        self._client = client
        self._publisher = publisher
        self._agent = agent
        self._buttons: dict[str, asyncio.Task[None]] = {}

    def turn_started(self, turn: Turn) -> None:
        """A turn begins, which may have questions."""
        self._publisher.turn_started(turn)

    def ask(self, turn: Turn) -> None:
        """Ask in every way the editor has; whichever is answered first counts."""
        self._publisher.show_question(turn)
        if turn.question is not None:
            self._show_message(turn.id, turn.question)

    def remind(self, turn: Turn) -> None:
        """Ask once more, as a message."""
        if turn.question is not None:
            self._withdraw(turn.id)
            self._show_message(turn.id, turn.question)

    def question_answered(self, turn: Turn) -> None:
        """The turn's question is answered."""
        self._publisher.clear_question(turn.id)
        self._withdraw(turn.id)

    def turn_ended(self, turn: Turn) -> None:
        """The turn is over, and whatever it asked with it."""
        self._publisher.turn_ended(turn.id)
        self._withdraw(turn.id)

    def _show_message(self, turn_id: str, question: Question) -> None:
        text = f"Stet: {question.text}"
        if self._client.has_buttons and (question.choices or self._client.accepts_text_answers):
            if question.kind == "ask" and not self._client.accepts_text_answers:
                text += "\n(Or in your own words: `stet.answer`.)"
            work = self._choice(question, text)
            self._buttons[turn_id] = self._client.spawn(work, f"question {question.id}")
            return
        how = "Answer with the command `stet.answer` and your words."
        if question.choices:
            numbered = [f"{n}: {choice}" for n, choice in enumerate(question.choices, 1)]
            how = f"Answer by code action or `stet.answer`: {' / '.join(numbered)}"
        self._client.show_message(f"{text}\n{how}")

    async def _choice(self, question: Question, text: str) -> None:
        chosen = await self._client.choose(text, question.choices)
        if chosen is None and self._client.accepts_text_answers:
            chosen = NOBODY if question.kind == "ask" else question.choices[-1]
        if chosen is None:
            return
        try:
            _ = self._agent().questions.reply(chosen, question.id)
        except NoPendingQuestion as error:
            # Else it is answered elsewhere meanwhile, or the turn is over.
            if self._client.accepts_text_answers:
                await self._choice(question, f"Stet: {escape(str(error))}")

    def _withdraw(self, turn_id: str) -> None:
        """Take the buttons away, where the editor does that."""
        if buttons := self._buttons.pop(turn_id, None):
            buttons.cancel()
