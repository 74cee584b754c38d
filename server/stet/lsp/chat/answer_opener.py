"""When the chat document of a turn is opened: beside the code, without the focus, once for a turn.

An answer that is too long for a message is read in the chat document. The document is opened while
the answer is streamed, as soon as a message of the model is too long. A document that is open, or
that the user has closed during the turn, is not opened.
"""

from collections.abc import Callable

from stet.agent.agent_events import (
    AgentEvent,
    RetryScheduled,
    RoundCompleted,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from stet.agent.turn import THOUGHTS, Mode, Turn, has_words
from stet.lsp.presentation.end_message import is_long, needs_chat
from stet.workspace.workspace import Workspace


class AnswerOpener:
    """The decision for all turns of one server; used on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        show: Callable[[str], None],
        has_proposed: Callable[[Turn], bool],
    ) -> None:
        """Start without a turn.

        Args:
            workspace: The workspace, which has the settings.
            show: A function that opens the document of a chat unless it is open.
            has_proposed: A function that returns whether the model has proposed an edit in a turn.
        """
        self._workspace = workspace
        self._show = show
        self._has_proposed = has_proposed
        self._messages: dict[str, str] = {}
        """By chat, the model's current message, until the document is or need not be opened."""
        self._checked: dict[str, int] = {}
        """By chat, the length of the message at which it is checked next, in code points."""

    def handle_event(self, event: AgentEvent) -> None:
        """Open the document of the turn's chat if the answer has become long."""
        turn = event.turn
        match event:
            case TurnStarted() if turn.ask.mode is not Mode.REWRITE:
                self._messages[turn.ask.chat] = ""
            case TextDelta(text=text) if turn.ask.chat in self._messages:
                self._messages[turn.ask.chat] += text
                self._check(turn.ask.chat)
            case RoundCompleted() | RetryScheduled() if turn.ask.chat in self._messages:
                self._messages[turn.ask.chat] = ""
                self._checked.pop(turn.ask.chat, None)
            case TurnEnded():
                long = needs_chat(turn, has_proposed=self._has_proposed(turn))
                self._open(turn.ask.chat, has_answer=has_words(turn.answer), long=long)
                _ = self._messages.pop(turn.ask.chat, None)
                self._checked.pop(turn.ask.chat, None)
            case _:
                pass

    def _check(self, chat: str) -> None:
        """Open the document if the current message is long enough.

        A message is checked each time that it has grown by an eighth, so that a long thought does
        not cost the square of its length.
        """
        message = self._messages[chat]
        if len(message) < self._checked.get(chat, 0):
            return
        self._checked[chat] = len(message) + len(message) // 8
        shown = THOUGHTS.sub("", message)
        self._open(chat, has_answer=has_words(shown), long=is_long(shown))

    def document_closed(self, chat: str) -> None:
        """Do not open the document of a chat again that the user has closed during a turn."""
        _ = self._messages.pop(chat, None)

    def _open(self, chat: str, *, has_answer: bool, long: bool) -> None:
        """Open the document, unless it was opened in this turn or the settings exclude it."""
        wanted = self._workspace.settings.chat.open_answers
        if chat in self._messages and (long if wanted == "long" else has_answer):
            del self._messages[chat]
            if wanted != "never":
                self._show(chat)
