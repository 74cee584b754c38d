"""Everything one server owns, handed to every handler; touched on the event loop only."""

import asyncio
from dataclasses import dataclass, field

from stet.agent.agent import Agent
from stet.agent.archive import Archive
from stet.agent.at_work import Answer
from stet.agent.events import AgentEvent
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.chat.chats import Chats
from stet.lsp.chat.writer import PageWriter
from stet.lsp.client import Client
from stet.lsp.comments import Comments
from stet.lsp.connection.wire import StetLanguageServer
from stet.lsp.delivering.delivery import Delivery
from stet.lsp.delivering.preview import Preview
from stet.lsp.disk_watch import DiskWatch
from stet.lsp.documents import Documents
from stet.lsp.editor_hands import EditorHands
from stet.lsp.inline_style import InlineStyle
from stet.lsp.keeper import Keeper, messenger
from stet.lsp.renames import Renames
from stet.lsp.showing.own_documents import OwnDocuments
from stet.lsp.showing.publisher import Publisher
from stet.lsp.showing.review_pages import ReviewPages
from stet.lsp.showing.turn_view import TurnView
from stet.lsp.startup import Startup
from stet.review.ledger import ReviewLedger
from stet.review.store.store import Store
from stet.system.system import System
from stet.text.encoding import Encoding
from stet.workspace.workspace import Workspace


@dataclass(slots=True)
class ServerState:
    """One server.

    Attributes:
        server: The framework's side.
        system: Disk, processes, clock.
        log_level_given: Whether the command line set the log's level, which then stays.
        workspace: The world.
        ledger: All proposals.
        client: The editor.
        disk: Files that change while they are not open.
        documents: Where text synchronisation is delivered.
        own: Stet's own documents, which are none of the user's.
        pages: Review pages.
        preview: Many hunks in one edit to pick from.
        publisher: Hunks as diagnostics.
        renames: Files that get another name.
        delivery: Accepted hunks on their way.
        inline: What is pending, in the text itself.
        keeper: What outlives the server.
        startup: What is read and imported after `initialize`.
        view: Turns as the user sees them.
        agent: All conversations.
        chats: Their documents.
        comments: What comments in the text ask for.
    """

    server: StetLanguageServer
    system: System
    log_level_given: bool = False
    workspace: Workspace = field(init=False)
    ledger: ReviewLedger = field(init=False)
    client: Client = field(init=False)
    disk: DiskWatch = field(init=False)
    documents: Documents = field(init=False)
    own: OwnDocuments = field(init=False)
    pages: ReviewPages = field(init=False)
    preview: Preview = field(init=False)
    publisher: Publisher = field(init=False)
    renames: Renames = field(init=False)
    delivery: Delivery = field(init=False)
    inline: InlineStyle = field(init=False)
    keeper: Keeper = field(init=False)
    startup: Startup = field(init=False)
    view: TurnView = field(init=False)
    agent: Agent = field(init=False)
    chats: Chats = field(init=False)
    comments: Comments = field(init=False)

    def __post_init__(self) -> None:
        store = self._make_world()
        self._make_review()
        self._make_agent(store)
        self.keeper = Keeper(
            self.workspace, self.ledger, store, self.system, self.server.tasks.spawn
        )
        hands = EditorHands(
            self.workspace, self.ledger, self.delivery, self.client, self.own, self.system
        )
        self.startup = Startup(
            self.workspace,
            self.ledger,
            self.client,
            self.system,
            self.keeper,
            hands=hands.ports,
            log_level_given=self.log_level_given,
            restore_chats=self._restore_chats,
        )

    def _make_world(self) -> Store:
        """The editor, the user's documents and the ledger; gives what outlives the process."""
        start = self.server.tasks.start
        self.workspace = Workspace(self.system)
        self.client = Client(self.server)
        store = Store(self.system, lambda: self.workspace.folders, messenger(self.client))
        self.ledger = ReviewLedger(store)
        self.workspace.blocks = lambda: self.ledger.blocks.known
        self.renames = Renames(self.workspace, self.ledger, self.system, start)
        self.own = OwnDocuments(self.system, self._encoding)
        self.disk = DiskWatch(self.workspace, self.ledger, start, editor=self._editor)
        self.documents = Documents(self.workspace, self.ledger, self.renames, self.own, self.disk)
        return store

    def _make_review(self) -> None:
        """What shows proposals, and brings decisions to the editor."""
        self.pages = ReviewPages(self.workspace, self.ledger, self.client, self.system, self.own)
        self.publisher = Publisher(self.workspace, self.ledger, self.client)
        self.delivery = Delivery(
            self.workspace, self.ledger, self.client, self.renames, editor=self._editor
        )
        self.preview = Preview(self.ledger, self.delivery, self.client)
        self.inline = InlineStyle(
            self.ledger,
            self.delivery,
            self.client,
            lambda: self.workspace.settings,
            self.server.tasks.start,
        )

    def _make_agent(self, store: Store) -> None:
        """Conversations, and where they are seen."""
        self.agent = Agent(
            self.workspace,
            self.ledger,
            self._answer,
            number=lambda: store.number("turn"),
            spawn=self.server.tasks.spawn,
            emit=self._happened,
            archive=Archive(store),
        )
        self.view = TurnView(self.client, self.ledger, self.publisher, self._agent)
        self.chats = Chats(
            self.workspace,
            self.ledger,
            self.client,
            self.system,
            self.own,
            writer=PageWriter(self.own, self.client, editor=self._editor, encoding=self._encoding),
            agent=self._agent,
            number=lambda: store.number("chat"),
        )
        self.comments = Comments(
            self.workspace, self.ledger, self.client, self._agent, self.server.tasks.start
        )

    def _agent(self) -> Agent:
        return self.agent

    def _editor(self) -> ClientCapabilities:
        return self.server.editor

    def _encoding(self) -> Encoding:
        return self.workspace.encoding

    def _happened(self, event: AgentEvent) -> None:
        self.comments.happened(event)
        self.view.show(event)
        self.inline.happened(event)
        self.chats.happened(event)

    async def _restore_chats(self) -> None:
        # A fault is logged where tasks are kept, and must not keep the server from work.
        await asyncio.wait({self.server.tasks.spawn(self.agent.restore(), "restoring chats")})

    async def _answer(self) -> Answer:
        return (await self.startup.answerer()).answer
