"""Everything one server owns, handed to every handler; touched on the event loop only."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stet.agent.agent import Agent
from stet.agent.agent_events import AgentEvent
from stet.agent.chat_archive import ChatArchive
from stet.agent.turn_runner import TurnExecutor
from stet.bridges.opencode.opencode_bridge import OpenCodeBridge
from stet.index.search.index_service import IndexService
from stet.lsp.block_import import BlockImport
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.chat.chats import Chats
from stet.lsp.chat.open_texts import OpenTexts
from stet.lsp.chat.writer import PageWriter
from stet.lsp.client import Client
from stet.lsp.comments import Comments
from stet.lsp.connection.wire import StetLanguageServer
from stet.lsp.disk_watch import DiskWatch
from stet.lsp.documents import Documents
from stet.lsp.editor_hands import EditorHands
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.edits.refactor_preview import RefactorPreview
from stet.lsp.embedding_port import EmbeddingPort
from stet.lsp.in_sequence import InSequence
from stet.lsp.index_feed import IndexFeed
from stet.lsp.index_view import IndexView
from stet.lsp.inline_style import InlineStyle
from stet.lsp.instruction_check import InstructionCheck
from stet.lsp.keeper import Keeper, messenger
from stet.lsp.latest import Latest
from stet.lsp.operations import Operations
from stet.lsp.presentation.context_document import ContextDocument
from stet.lsp.presentation.dead_link_view import DeadLinkView
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher
from stet.lsp.presentation.diff_documents import DiffDocuments
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.lsp.presentation.search_hits import LocatedPassage
from stet.lsp.presentation.turn_view import TurnView
from stet.lsp.presets import Presets
from stet.lsp.renames import Renames
from stet.lsp.sent_ledger import SentLedger
from stet.lsp.startup import Startup
from stet.lsp.store_tending import StoreTending
from stet.review.ledger import ReviewLedger
from stet.review.store.state_store import StateStore
from stet.system.system import System
from stet.text.encoding import Encoding
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.agent.limits import Limits
    from stet.agent.session import Session
    from stet.agent.turn import Turn
    from stet.agent.turn_runner import TurnChannel
    from stet.index.link_scan import LinkCache


@dataclass(slots=True)
class ServerState:
    """One server.

    Attributes:
        server: The framework's side.
        system: Disk, processes, clock.
        log_level_given: Whether the command line set the log's level, which then stays.
        operations: Reports of what failed, and traces.
        store: What outlives the process.
        workspace: The world.
        ledger: All proposals.
        client: The editor.
        disk: Files that change while they are not open.
        documents: Where text synchronisation is delivered.
        imports: Blocks of other programs in notes.
        index: The search index.
        feed: What tells it of the editor.
        index_view: What tells the user of it.
        symbols: Searches for symbols, of which only the newest counts.
        own: Stet's own documents, which are none of the user's.
        pages: Review pages.
        preview: Many hunks in one edit to pick from.
        publisher: Hunks as diagnostics.
        dead_links: Dead links as diagnostics, where they were asked for.
        presets: What is attached to questions, and saved of it.
        renames: Files that get another name.
        sent: What was sent to whom.
        context_page: What a question would send, as a document.
        delivery: Accepted hunks on their way.
        inline: What is pending, in the text itself.
        keeper: What outlives the server.
        startup: What is read and imported after `initialize`.
        view: Turns as the user sees them.
        agent: All conversations.
        chats: Their documents.
        comments: What comments in the text ask for.
        instructions: Which of them do.
        opencode: What an OpenCode server is told of the editor.
    """

    server: StetLanguageServer
    system: System
    log_level_given: bool = False
    operations: Operations = field(default_factory=Operations)
    store: StateStore = field(init=False)
    workspace: Workspace = field(init=False)
    ledger: ReviewLedger = field(init=False)
    client: Client = field(init=False)
    disk: DiskWatch = field(init=False)
    documents: Documents = field(init=False)
    imports: BlockImport = field(init=False)
    index: IndexService = field(init=False)
    feed: IndexFeed = field(init=False)
    index_view: IndexView = field(init=False)
    symbols: Latest[list[LocatedPassage]] = field(init=False)
    own: GeneratedDocuments = field(init=False)
    pages: DiffDocuments = field(init=False)
    preview: RefactorPreview = field(init=False)
    publisher: DiagnosticsPublisher = field(init=False)
    dead_links: DeadLinkView = field(init=False)
    presets: Presets = field(init=False)
    renames: Renames = field(init=False)
    sent: SentLedger = field(init=False)
    context_page: ContextDocument = field(init=False)
    delivery: EditApplier = field(init=False)
    inline: InlineStyle = field(init=False)
    keeper: Keeper = field(init=False)
    startup: Startup = field(init=False)
    view: TurnView = field(init=False)
    agent: Agent = field(init=False)
    chats: Chats = field(init=False)
    comments: Comments = field(init=False)
    instructions: InstructionCheck = field(init=False)
    opencode: OpenCodeBridge = field(init=False)

    def __post_init__(self) -> None:
        store = self.store = self._make_world()
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
            searcher=self.index,
            log_level_given=self.log_level_given,
            restore_chats=self._restore_chats,
            operations=self.operations,
        )
        self.opencode = OpenCodeBridge(
            self.workspace, self.system, self.server.tasks.start, self._warn
        )
        self.workspace.activity.moved = self.opencode.focus_changed
        self.startup.taken_over = self.opencode.settings_changed

    async def close(self) -> None:
        """Keep what is to outlive the server, and end what works for it."""
        await self.index.close()
        await self.startup.close()
        await self.opencode.close()
        self.operations.end()

    def _make_world(self) -> StateStore:
        """The editor, the user's documents and the ledger; gives what outlives the process."""
        start = self.server.tasks.start
        self.workspace = Workspace(self.system)
        self.client = Client(self.server)
        tending = StoreTending(
            lambda: store, self.server.tasks.spawn, lambda: self.startup.catch_up(store)
        )
        say = messenger(self.client)
        store = StateStore(self.system, lambda: self.workspace.folders, say, tending.wake)
        self.presets = Presets(self.workspace, store)
        self.ledger = ReviewLedger(store)
        self.workspace.blocks = lambda: self.ledger.blocks.known
        self.workspace.placed = self.ledger.blocks.placed
        self.renames = Renames(
            self.workspace, self.ledger, self.system, start, self.presets.renamed
        )
        self.own = GeneratedDocuments(self.system, self._encoding)
        self.sent = SentLedger(self.workspace, store, self.client, self.system, self.own)
        self.context_page = ContextDocument(self.workspace, self.client, self.system, self.own)
        self.disk = DiskWatch(self.workspace, self.ledger, start, editor=self._editor)
        self.index = IndexService(
            self.system,
            start,
            self._warn,
            watches=lambda: self._editor().watches_files,
            endpoint=EmbeddingPort(self.system, self.workspace),
        )
        self.feed = IndexFeed(self.workspace, self.index, start)
        self.index_view = IndexView(self.index, self.client)
        self.instructions = InstructionCheck(self.workspace, self.server.tasks.spawn)
        self.symbols = Latest(self.server.tasks.spawn, "a search for symbols")
        self.imports = BlockImport(self.workspace, self.ledger, self.client, start)
        self.documents = Documents(
            self.workspace,
            self.ledger,
            self.renames,
            self.own,
            disk=self.disk,
            feed=self.feed,
            blocks=self.imports,
        )
        if self._editor().overtakes:
            self.documents.in_sequence = InSequence(self.documents.take)
        return store

    def _make_review(self) -> None:
        """What shows proposals, and brings decisions to the editor."""
        self.pages = DiffDocuments(self.workspace, self.ledger, self.client, self.system, self.own)
        self.publisher = DiagnosticsPublisher(self.workspace, self.ledger, self.client)
        self.dead_links = DeadLinkView(
            self.workspace, self.publisher, self.client, self._links, self.server.tasks.start
        )
        self.documents.edited = self.dead_links.edited
        self.documents.opened = self.publisher.schedule
        self.delivery = EditApplier(
            self.workspace, self.ledger, self.client, self.renames, editor=self._editor
        )
        self.documents.closed = self.delivery.closed
        self.preview = RefactorPreview(self.ledger, self.delivery, self.client)
        self.inline = InlineStyle(
            self.ledger,
            self.delivery,
            self.client,
            lambda: self.workspace.settings,
            self.server.tasks.start,
        )

    def _make_agent(self, store: StateStore) -> None:
        """Conversations, and where they are seen."""
        self.agent = Agent(
            self.workspace,
            self.ledger,
            self._answer,
            number=lambda: store.number("turn"),
            spawn=self.server.tasks.spawn,
            emit=self._happened,
            archive=ChatArchive(store),
        )
        self.view = TurnView(self.client, self.ledger, self.publisher, self._agent)
        texts = OpenTexts(self.own, self.server.tasks.start)
        self.chats = Chats(
            self.workspace,
            self.ledger,
            self.client,
            self.system,
            self.own,
            texts=texts,
            writer=PageWriter(
                self.own, texts, self.client, editor=self._editor, encoding=self._encoding
            ),
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

    def tell_error(self, message: str) -> None:
        """Show the user that something has failed."""
        self.client.show_message(message, lsp.MessageType.Error)

    def _warn(self, message: str) -> None:
        self.client.show_message(message, lsp.MessageType.Warning)

    def _happened(self, event: AgentEvent) -> None:
        self.comments.happened(event)
        self.view.handle_event(event)
        self.inline.happened(event)
        self.chats.happened(event)

    async def _restore_chats(self) -> None:
        # A fault is logged where tasks are kept, and must not keep the server from work.
        spawn = self.server.tasks.spawn
        blocks = spawn(self.imports.restored(), "blocks in notes")
        presets = spawn(self.presets.restore(), "restoring presets")
        await asyncio.wait({spawn(self.agent.restore(), "restoring chats"), presets, blocks})

    async def _links(self) -> "LinkCache":
        return (await self.startup.answerer()).links

    async def _answer(self) -> TurnExecutor:
        answerer = await self.startup.answerer()

        async def answer(
            turn: "Turn", session: "Session", limits: "Limits", channel: "TurnChannel"
        ) -> "Turn":
            await self.imports.import_asked(turn.ask)
            return await answerer.run(turn, session, limits, channel)

        return answer
