"""All chat documents: which there are, what the user sends from them, and what goes into them.

A document outlives its server and may be written in by anybody; the conversation itself is the
agent's and kept with its turns. So a document that is opened is brought up to date from the turns,
and never the other way round.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from stet.agent.agent import Agent, NotRunning
from stet.agent.agent_events import AgentEvent, TurnEnded
from stet.agent.turn import FINAL_STATES, Ask, Turn
from stet.lsp.chat.open_texts import OpenTexts
from stet.lsp.chat.page import Page, Reading
from stet.lsp.chat.pages import Pages
from stet.lsp.chat.telling import Telling
from stet.lsp.chat.writer import PageWriter
from stet.lsp.client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.text.change import TextChange
from stet.workspace.modification import ModificationKind
from stet.workspace.workspace import Workspace

DEFAULT_CHAT = "main"
MAX_TURNS = 50
"""How many turns a new document of an old conversation begins with."""


class NothingToSend(Exception):
    """Nothing is written where the user's words go; the message says what to do."""


class Chats:
    """The chat documents of one server. Touched on the event loop only."""

    def __init__(  # noqa: PLR0913 - what a chat stands between
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        system: System,
        own: GeneratedDocuments,
        *,
        texts: OpenTexts,
        writer: PageWriter,
        agent: Callable[[], Agent],
        number: Callable[[], int],
    ) -> None:
        """`texts` are those that the editor has open; `agent` gives who answers, once it is there; `number` one that no chat has had."""
        self._client = client
        self._writer = writer
        self._texts = texts
        self._pages = Pages(
            client,
            system,
            own,
            texts=self._texts,
            writer=writer,
            folders=lambda: workspace.folders,
        )
        self._agent = agent
        self._number = number
        self._telling = Telling(workspace, ledger)
        self._current: str | None = None
        self._in_order = asyncio.Lock()
        own.listen(self._happened_in_editor)

    # What the user does

    def new(self) -> Awaitable[Page]:
        """Begin a conversation and show its document, as `open`."""
        return self.open(f"c{self._number()}")

    def open(self, chat: str | None = None) -> Awaitable[Page]:
        """Show a conversation's document, by default the latest one's.

        Raises:
            OSError: If it can't be written; when it is waited for, too.
        """
        page = self._pages.page(chat or self.current)
        self._current, page.is_refused = page.chat, False
        return self._open(page)

    async def _open(self, page: Page) -> Page:
        async with self._in_order:
            shown = self._pages.shown(page)
            if shown is None:
                await self._pages.fill(page, lambda found: self._note_missing(page, found))
            else:
                found = await self._pages.read(page, shown)
                if self._note_missing(page, found):
                    page.adopt(found)
                self._pages.write(page)
        self._client.start(self._client.show_document(page.uri), "show the chat")
        return page

    @property
    def current(self) -> str:
        """The conversation that the user had to do with last."""
        latest = self._agent().chats()[-1:]
        return self._current or (latest[0] if latest else DEFAULT_CHAT)

    def chat_of(self, uri: str) -> str | None:
        """The conversation whose document this is; None if it is no chat document."""
        return self._pages.chat_of(uri, (*self._agent().chats(), DEFAULT_CHAT))

    def send(self, chat: str, ask: Callable[[str, str], Ask]) -> Awaitable[str]:
        """Send what stands under the last heading of the user's; gives the turn that answers.

        It answers what the chat's turn waits for, steers the turn that runs, or begins one. What is
        sent is what the editor shows when this is called; of a document that is not open, what the
        disk holds.

        Args:
            chat: The conversation.
            ask: Makes a question of words and a conversation.

        Raises:
            OSError: If the document can't be read; when it is waited for, too.
            NothingToSend: When it is waited for, if nothing is written there.
            NoPendingQuestion, UnknownQuestion: The same, if it is no answer to what is asked.
        """
        page = self._pages.page(chat)
        self._current = chat
        return self._send(page, self._pages.shown(page), ask)

    async def _send(
        self, page: Page, shown: Sequence[str] | None, ask: Callable[[str, str], Ask]
    ) -> str:
        async with self._in_order:
            found = await self._pages.read(page, shown)
            if not found.writing:
                raise NothingToSend(
                    "there is nothing to send: write under the last heading `## You` of the chat"
                )
            if not (said := page.unsent(found.writing)):
                raise NothingToSend("there is nothing to send: what stands there has been sent")
            page.is_refused = False
            turn = self._take(page.chat, said, ask)
            if turn.id not in page.entries:
                page.add(self._telling.entry(turn))
            page.sent(turn.id, said)
            self._pages.write(page)
            return turn.id

    def _take(self, chat: str, said: str, ask: Callable[[str, str], Ask]) -> Turn:
        """Have the agent take what was said; gives the turn that answers.

        Raises:
            NoPendingQuestion, UnknownQuestion: If it is no answer to what is asked.
        """
        agent, running = self._agent(), self._agent().session(chat).running
        turn = agent.turn(running) if running else None
        if turn is not None and turn.question is not None:
            return agent.turn(agent.questions.reply(said, turn.question.id))
        return self._steered(turn, said) or agent.ask(ask(said, chat))

    def _steered(self, turn: Turn | None, text: str) -> Turn | None:
        """The turn that was told something while it runs; None if there is none that listens."""
        if turn is None or turn.state in FINAL_STATES:
            return None
        try:
            _ = self._agent().steer(text, turn.id)
        except NotRunning:
            return None
        self._telling.said_here(turn.id, text)
        return turn

    # What happens

    def happened(self, event: AgentEvent) -> None:
        """A turn has gone on: told in its chat's document, if that was shown."""
        turn = event.turn
        self._telling.tell(event)
        page = self._pages.known(turn.ask.chat)
        if page is not None:
            if turn.id not in page.entries:
                page.add(self._telling.entry(turn))
            elif isinstance(event, TurnEnded):
                page.entries[turn.id].ending = self._telling.ending(turn)
            self._pages.write(page)
        if isinstance(event, TurnEnded):
            self._telling.forget(turn.id)

    def _happened_in_editor(
        self, uri: str, kind: ModificationKind, changes: Sequence[TextChange]
    ) -> None:
        """A document of Stet's own was opened, changed or closed."""
        if kind is ModificationKind.OPENED:
            chat = self.chat_of(uri)
            if chat is None:
                return
            page = self._pages.page(chat)
            page.uri, self._current = uri, chat
            page.is_refused = False
            self._texts.opened(uri, lambda found: self._read(page, found))
        elif kind is ModificationKind.CLOSED:
            self._texts.closed(uri)
        else:
            self._texts.changed(uri, changes)
        self._writer.moved(uri, changes)

    def _read(self, page: Page, found: Reading) -> None:
        """What a document held when it was opened is known."""
        self._note_missing(page, found)
        page.adopt(found)
        self._pages.write(page)

    # What is missing

    def _note_missing(self, page: Page, found: Reading) -> bool:
        """Take in the turns that the document does not show to their end; whether there are any.

        Older ones that are not there the user has deleted.
        """
        n_before = len(page.entries)
        turns = [turn for turn in self._agent().turns() if turn.ask.chat == page.chat]
        shown = found.answers.keys()
        first = next((n for n in range(len(turns), 0, -1) if turns[n - 1].id in shown), 0)
        for n, turn in enumerate(turns):
            is_known = turn.id in page.entries
            is_new = n >= max(first, len(turns) - MAX_TURNS) and turn.id not in shown
            if not is_known and (is_new or (turn.id in shown and turn.id not in found.ended)):
                page.add(self._telling.entry(turn))
        return len(page.entries) > n_before
