"""All chat documents: which there are, what the user sends from them, and what goes into them.

A document outlives its server and may be written in by anybody; the conversation itself is the
agent's and kept with its turns. So a document that is opened is brought up to date from the turns,
and never the other way round.
"""

import asyncio
import logging
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from stet.agent.agent import Agent, NotRunning
from stet.agent.events import (
    AgentEvent,
    Answered,
    Asked,
    Resumed,
    Said,
    ToolEnded,
    TurnEnded,
    Waiting,
)
from stet.agent.turn import OVER, Ask, Turn
from stet.lsp.chat.layout import blank, draft, has_ended, parts, written
from stet.lsp.chat.page import Entry, Page
from stet.lsp.chat.transcript import Transcript, ending, transcript_of
from stet.lsp.chat.writer import PageWriter
from stet.lsp.client import Client
from stet.lsp.showing.own_documents import OwnDocuments
from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.workspace.disk_text import decode
from stet.workspace.modification import ModificationKind
from stet.workspace.paths import PathRefused
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

DEFAULT_CHAT = "main"
MAX_TURNS = 50
"""How many turns a new document of an old conversation begins with."""
DISK_SECONDS = 0.3
MAX_BYTES = 20_000_000
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


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
        own: OwnDocuments,
        *,
        writer: PageWriter,
        agent: Callable[[], Agent],
        number: Callable[[], int],
    ) -> None:
        """`agent` gives who answers, once it is there; `number` one that no chat has had."""
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._system = system
        self._own = own
        self._writer = writer
        self._agent = agent
        self._number = number
        self._pages: dict[str, Page] = {}
        self._told: dict[str, Transcript] = {}
        self._to_disk: set[str] = set()
        self._current: str | None = None
        own.listen(self._happened_in_editor)

    # What the user does

    def new(self) -> Page:
        """Begin a conversation and show its document.

        Raises:
            OSError: If it can't be written.
        """
        return self.open(f"c{self._number()}")

    def open(self, chat: str | None = None) -> Page:
        """Show a conversation's document, by default the latest one's.

        Raises:
            OSError: If it can't be written.
        """
        page = self._page(chat or self.current)
        self._current = page.chat
        page.is_refused = False
        document = self._own.document(page.uri)
        if document is None:
            self._bring_up_to_date(page)
        else:
            if self._note_missing(page, document.text):
                page.adopt(document.text)
            self._write(page)
        self._client.start(self._client.show_document(page.uri), "show the chat")
        return page

    @property
    def current(self) -> str:
        """The conversation that the user had to do with last."""
        latest = self._agent().chats()[-1:]
        return self._current or (latest[0] if latest else DEFAULT_CHAT)

    def chat_of(self, uri: str) -> str | None:
        """The conversation whose document this is; None if it is no chat document."""
        known = {canonical(page.uri): chat for chat, page in self._pages.items()}
        if (chat := known.get(canonical(uri))) is not None:
            return chat
        if not self._own.holds(uri) or not Path(uri).name.startswith("chat-"):
            return None
        name = Path(uri).stem.split("-", 2)[-1]
        chats = {*self._agent().chats(), DEFAULT_CHAT, name}
        return next((chat for chat in chats if Path(uri).name == self._file_of(chat)), None)

    def send(self, chat: str, ask: Callable[[str, str], Ask]) -> str:
        """Send what stands under the last heading of the user's; gives the turn that answers.

        It answers what the chat's turn waits for, steers the turn that runs, or begins one.

        Args:
            chat: The conversation.
            ask: Makes a question of words and a conversation.

        Raises:
            NothingToSend: If nothing is written there.
            NoQuestion, UnknownQuestion: If it is no answer to what is asked.
            OSError: If the document can't be read.
        """
        page = self._page(chat)
        part = draft(self._text_of(page))
        if part is None or not part.text:
            raise NothingToSend(
                "there is nothing to send: write under the last heading `## You` of the chat"
            )
        self._current, page.is_refused = chat, False
        agent, running = self._agent(), self._agent().session(chat).running
        turn = agent.turn(running) if running else None
        if turn is not None and turn.question is not None:
            turn_id = agent.questions.reply(part.text, turn.question.id)
        else:
            turn_id = self._steered(turn, part.text) or agent.ask(ask(part.text, chat)).id
        if turn_id not in page.entries:
            page.add(self._entry(agent.turn(turn_id)))
        page.sent(turn_id, part.text)
        self._write(page)
        return turn_id

    def _steered(self, turn: Turn | None, text: str) -> str | None:
        """The turn that was told something while it runs; None if there is none that listens."""
        if turn is None or turn.state in OVER:
            return None
        try:
            return self._agent().steer(text, turn.id)
        except NotRunning:
            return None

    # What happens

    def happened(self, event: AgentEvent) -> None:
        """A turn has gone on: told in its chat's document, if that was shown."""
        turn = event.turn
        self._tell(event)
        page = self._pages.get(turn.ask.chat)
        if page is not None:
            if turn.id not in page.entries:
                page.add(self._entry(turn))
            elif isinstance(event, TurnEnded):
                page.entries[turn.id].ending = self._ending(turn)
            self._write(page)
        if isinstance(event, TurnEnded):
            self._told.pop(turn.id, None)

    def _tell(self, event: AgentEvent) -> None:
        turn = event.turn
        told = self._told.setdefault(turn.id, Transcript(self._link))
        match event:
            case Said(text=text):
                told.say(text)
            case Answered():
                told.pause()
            case ToolEnded(run=run):
                told.tool(run)
            case Asked() if turn.question is not None:
                told.ask(turn.question)
            case Resumed(answer=text):
                told.note(f"Your answer: {text}")
            case Waiting(reason=reason):
                told.note(f"Begun again: {reason}")
            case TurnEnded():
                told.end(turn, self._ledger.hunks(turn=turn.id))
            case _:
                pass

    def _happened_in_editor(self, uri: str, kind: ModificationKind) -> None:
        """A document of Stet's own was opened, changed or closed."""
        if kind is ModificationKind.OPENED:
            chat = self.chat_of(uri)
            if chat is None:
                return
            page, document = self._page(chat), self._own.document(uri)
            page.uri, self._current = uri, chat
            page.is_refused = False
            if document is not None:
                self._note_missing(page, document.text)
                page.adopt(document.text)
                self._write(page)
        self._writer.moved(uri)

    # Documents

    def _page(self, chat: str) -> Page:
        if chat not in self._pages:
            file = self._file_of(chat)
            uri = (self._system.state_folder() / file).as_uri()
            self._pages[chat] = Page(chat, file, uri)
        return self._pages[chat]

    def _file_of(self, chat: str) -> str:
        """The name of a chat's document; servers of other workspaces write in the same folder."""
        roots = "\n".join(canonical(uri) for uri in self._workspace.folders)
        name = chat if _PLAIN_NAME.fullmatch(chat) else f"x{_digest(chat)}"
        return f"chat-{_digest(roots)}-{name}.md"

    def _text_of(self, page: Page) -> str:
        """The document as it is in the editor, else on the disk.

        Raises:
            OSError: If it is there and can't be read.
        """
        document = self._own.document(page.uri)
        if document is not None:
            return document.text
        path = self._system.state_folder() / page.file
        if self._system.stat(path) is None:
            return blank(page.chat)
        return decode(self._system.read_bytes(path, MAX_BYTES))

    def _write(self, page: Page) -> None:
        """Write what there is to write, into the editor if it takes it, else into the file."""
        if self._writer.can_write(page):
            self._writer.start(page, lambda: self._was_refused(page))
        elif page.uri not in self._to_disk:
            self._to_disk.add(page.uri)
            self._client.start(self._put_on_disk(page), f"keep {page.file}")

    def _was_refused(self, page: Page) -> None:
        log.info("%s: the editor takes no edits; the file is written", page.uri)
        page.is_refused = True
        self._write(page)

    async def _put_on_disk(self, page: Page) -> None:
        """Write the file, a moment later so that words which stream in are written together."""
        await asyncio.sleep(DISK_SECONDS)
        self._to_disk.discard(page.uri)
        is_open = self._own.document(page.uri) is not None
        try:
            old = await asyncio.to_thread(self._text_of, page)
            new = page.filled(old)
            if new != old:
                await asyncio.to_thread(self._system.write_own, page.file, new)
        except OSError as error:
            log.warning("%s can't be written: %s", page.file, error)
            return
        if not is_open:
            page.adopt(new)

    def _bring_up_to_date(self, page: Page) -> None:
        """Write the file with all that is missing in it, while the editor does not have it.

        Raises:
            OSError: If it can't be read or written.
        """
        old = self._text_of(page)
        self._note_missing(page, old)
        new = page.filled(old)
        self._system.write_own(page.file, new)
        page.adopt(new)

    def _note_missing(self, page: Page, text: str) -> bool:
        """Take in the turns that the document does not show to their end; whether there are any.

        Older ones that are not there the user has deleted.
        """
        n_before = len(page.entries)
        turns = [turn for turn in self._agent().turns() if turn.ask.chat == page.chat]
        shown = {part.turn for part in parts(text)}
        first = next((n for n in range(len(turns), 0, -1) if turns[n - 1].id in shown), 0)
        for n, turn in enumerate(turns):
            is_known = turn.id in page.entries
            is_new = n >= max(first, len(turns) - MAX_TURNS) and turn.id not in shown
            if not is_known and (
                is_new or (turn.id in shown and not has_ended(written(text, turn.id)))
            ):
                page.add(self._entry(turn))
        return len(page.entries) > n_before

    def _entry(self, turn: Turn) -> Entry:
        hunks = self._ledger.hunks(turn=turn.id)
        told = self._told.get(turn.id) or transcript_of(turn, hunks, self._link)
        return Entry(turn.id, turn.ask.prompt, told, self._ending(turn))

    def _ending(self, turn: Turn) -> str:
        if turn.state not in OVER:
            return ""
        return ending(turn, self._ledger.hunks(turn=turn.id), self._link)

    def _link(self, name: str) -> str | None:
        try:
            return self._workspace.snapshot().locate(name).uri
        except PathRefused:
            return None


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
