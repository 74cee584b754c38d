"""Everything one server owns, handed to every handler; touched on the event loop only."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stet.agent.agent import Agent
from stet.agent.agent_events import AgentEvent
from stet.agent.session import ChatArchive
from stet.agent.turn_runner import TurnExecutor
from stet.bridges.opencode.opencode_bridge import OpenCodeBridge
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.chat.chat_controller import ChatController
from stet.lsp.chat.chat_writer import ChatWriter, OpenChatTexts
from stet.lsp.comment_runner import CommentCheck, CommentRunner
from stet.lsp.connection.protocol import StetLanguageServer
from stet.lsp.editor_client import Client
from stet.lsp.edits.apply_order import LspEditorActions, RefactorPreview
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.file_events import DiskWatch, RenameTracker
from stet.lsp.index_adapters import EmbeddingPort, IndexFeed, IndexView
from stet.lsp.inline_style import BlockImport, InlineStyle
from stet.lsp.observability import Observability
from stet.lsp.presentation.dead_link_view import DeadLinkView
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher
from stet.lsp.presentation.diff_documents import DiffDocuments
from stet.lsp.presentation.generated_documents import (
    ContextDocument,
    GeneratedDocuments,
    RequestLogDocument,
)
from stet.lsp.presentation.search_hits import LocatedPassage
from stet.lsp.presentation.turn_view import TurnView
from stet.lsp.preset_controller import PresetController
from stet.lsp.review_persistence import ReviewPersistence, StoreMaintenance, create_warner
from stet.lsp.startup import Startup
from stet.lsp.tasks import LatestRequest
from stet.lsp.text_sync import ReorderBuffer, TextSync
from stet.review.ledger import ReviewLedger
from stet.search.index_service import IndexService
from stet.storage.state_store import StateStore
from stet.system.system import System
from stet.text.encoding import Encoding
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.agent.limits import Limits
    from stet.agent.session import Session
    from stet.agent.turn import Turn
    from stet.agent.turn_runner import TurnChannel
    from stet.links.link_scan import LinkCache


@dataclass(slots=True)
class ServerState:
    """One server.

    Attributes:
        server: The framework's side.
        system: Disk, processes, clock.
        log_level_given: Whether the command line set the log's level, which then stays.
        observability: Reports of what failed, and traces.
        store: What outlives the process.
        workspace: The world.
        ledger: All proposals.
        client: The editor.
        disk_watch: Files that change while they are not open.
        documents: Where text synchronisation is delivered.
        block_import: Blocks of other programs in notes.
        index: The search index.
        index_feed: What tells it of the editor.
        index_view: What tells the user of it.
        symbols: Searches for symbols, of which only the newest counts.
        generated: Stet's own documents, which are none of the user's.
        diff_documents: Review pages.
        preview: Many hunks in one edit to pick from.
        publisher: Hunks as diagnostics.
        dead_links: Dead links as diagnostics, where they were asked for.
        presets: What is attached to questions, and saved of it.
        renames: Files that get another name.
        request_log: What was sent to whom.
        context_document: What a question would send, as a document.
        edit_applier: Accepted hunks on their way.
        inline: What is pending, in the text itself.
        persistence: What outlives the server.
        startup: What is read and imported after `initialize`.
        turn_view: Turns as the user sees them.
        agent: All conversations.
        chats: Their documents.
        comment_runner: What comments in the text ask for.
        comment_check: Which of them do.
        opencode: What an OpenCode server is told of the editor.
    """

    server: StetLanguageServer
    system: System
    log_level_given: bool = False
    observability: Observability = field(default_factory=Observability)
    store: StateStore = field(init=False)
    workspace: Workspace = field(init=False)
    ledger: ReviewLedger = field(init=False)
    client: Client = field(init=False)
    disk_watch: DiskWatch = field(init=False)
    documents: TextSync = field(init=False)
    block_import: BlockImport = field(init=False)
    index: IndexService = field(init=False)
    index_feed: IndexFeed = field(init=False)
    index_view: IndexView = field(init=False)
    symbols: LatestRequest[list[LocatedPassage]] = field(init=False)
    generated: GeneratedDocuments = field(init=False)
    diff_documents: DiffDocuments = field(init=False)
    preview: RefactorPreview = field(init=False)
    publisher: DiagnosticsPublisher = field(init=False)
    dead_links: DeadLinkView = field(init=False)
    presets: PresetController = field(init=False)
    renames: RenameTracker = field(init=False)
    request_log: RequestLogDocument = field(init=False)
    context_document: ContextDocument = field(init=False)
    edit_applier: EditApplier = field(init=False)
    inline: InlineStyle = field(init=False)
    persistence: ReviewPersistence = field(init=False)
    startup: Startup = field(init=False)
    turn_view: TurnView = field(init=False)
    agent: Agent = field(init=False)
    chats: ChatController = field(init=False)
    comment_runner: CommentRunner = field(init=False)
    comment_check: CommentCheck = field(init=False)
    opencode: OpenCodeBridge = field(init=False)

    def __post_init__(self) -> None:
        store = self.store = self._create_workspace()
        self._create_review()
        self._create_agent(store)
        self.persistence = ReviewPersistence(
            self.workspace, self.ledger, store, self.system, self.server.tasks.spawn
        )
        actions = LspEditorActions(
            self.workspace, self.ledger, self.edit_applier, self.client, self.generated, self.system
        )
        self.startup = Startup(
            self.workspace,
            self.ledger,
            self.client,
            self.system,
            self.persistence,
            editor_actions=actions.actions,
            searcher=self.index,
            log_level_given=self.log_level_given,
            restore_chats=self._restore_chats,
            operations=self.observability,
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
        self.observability.end()

    def _create_workspace(self) -> StateStore:
        """Create the client, the workspace and the ledger; return the store of what outlives the
        process.
        """
        start = self.server.tasks.start
        self.workspace = Workspace(self.system)
        self.client = Client(self.server)
        tending = StoreMaintenance(
            lambda: store, self.server.tasks.spawn, lambda: self.startup.catch_up(store)
        )
        say = create_warner(self.client)
        store = StateStore(self.system, lambda: self.workspace.folders, say, tending.wake)
        self.presets = PresetController(self.workspace, store)
        self.ledger = ReviewLedger(store)
        self.workspace.blocks = lambda: self.ledger.blocks.known
        self.workspace.placed = self.ledger.blocks.placed
        self.renames = RenameTracker(
            self.workspace, self.ledger, self.system, start, self.presets.renamed
        )
        self.generated = GeneratedDocuments(self.system, self._encoding)
        self.request_log = RequestLogDocument(
            self.workspace, store, self.client, self.system, self.generated
        )
        self.context_document = ContextDocument(
            self.workspace, self.client, self.system, self.generated
        )
        self.disk_watch = DiskWatch(self.workspace, self.ledger, start, editor=self._editor)
        self.index = IndexService(
            self.system,
            start,
            self._warn,
            watches=lambda: self._editor().watches_files,
            endpoint=EmbeddingPort(self.system, self.workspace),
        )
        self.index_feed = IndexFeed(self.workspace, self.index, start)
        self.index_view = IndexView(self.index, self.client)
        self.comment_check = CommentCheck(self.workspace, self.server.tasks.spawn)
        self.symbols = LatestRequest(self.server.tasks.spawn, "a search for symbols")
        self.block_import = BlockImport(self.workspace, self.ledger, self.client, start)
        self.documents = TextSync(
            self.workspace,
            self.ledger,
            self.renames,
            self.generated,
            disk=self.disk_watch,
            feed=self.index_feed,
            blocks=self.block_import,
        )
        if self._editor().overtakes:
            self.documents.reorder_buffer = ReorderBuffer(self.documents.apply)
        return store

    def _create_review(self) -> None:
        """Create the components that show proposals and send decisions to the editor."""
        self.diff_documents = DiffDocuments(
            self.workspace, self.ledger, self.client, self.system, self.generated
        )
        self.publisher = DiagnosticsPublisher(self.workspace, self.ledger, self.client)
        self.dead_links = DeadLinkView(
            self.workspace, self.publisher, self.client, self._links, self.server.tasks.start
        )
        self.documents.edited = self.dead_links.edited
        self.documents.opened = self.publisher.schedule
        self.edit_applier = EditApplier(
            self.workspace, self.ledger, self.client, self.renames, editor=self._editor
        )
        self.documents.closed = self.edit_applier.closed
        self.preview = RefactorPreview(self.ledger, self.edit_applier, self.client)
        self.inline = InlineStyle(
            self.ledger,
            self.edit_applier,
            self.client,
            lambda: self.workspace.settings,
            self.server.tasks.start,
        )

    def _create_agent(self, store: StateStore) -> None:
        """Conversations, and where they are seen."""
        self.agent = Agent(
            self.workspace,
            self.ledger,
            self._load_executor,
            number=lambda: store.number("turn"),
            spawn=self.server.tasks.spawn,
            emit=self._dispatch_event,
            archive=ChatArchive(store),
        )
        self.turn_view = TurnView(self.client, self.ledger, self.publisher, self._agent)
        texts = OpenChatTexts(self.generated, self.server.tasks.start)
        self.chats = ChatController(
            self.workspace,
            self.ledger,
            self.client,
            self.system,
            self.generated,
            texts=texts,
            writer=ChatWriter(
                self.generated, texts, self.client, editor=self._editor, encoding=self._encoding
            ),
            agent=self._agent,
            number=lambda: store.number("chat"),
        )
        self.comment_runner = CommentRunner(
            self.workspace, self.ledger, self.client, self._agent, self.server.tasks.start
        )

    def _agent(self) -> Agent:
        return self.agent

    def _editor(self) -> ClientCapabilities:
        return self.server.editor

    def _encoding(self) -> Encoding:
        return self.workspace.encoding

    def workspace_of(self, uri: str) -> Workspace:
        """Return the workspace of a document: the user's, or that of Stet's own documents."""
        is_generated = self.workspace.buffer(uri) is None and self.generated.buffer(uri) is not None
        return self.generated.world if is_generated else self.workspace

    def tell_error(self, message: str) -> None:
        """Show the user that something has failed."""
        self.client.show_message(message, lsp.MessageType.Error)

    def _warn(self, message: str) -> None:
        self.client.show_message(message, lsp.MessageType.Warning)

    def _dispatch_event(self, event: AgentEvent) -> None:
        self.comment_runner.handle_event(event)
        self.turn_view.handle_event(event)
        self.inline.handle_event(event)
        self.chats.handle_event(event)

    async def _restore_chats(self) -> None:
        # A fault is logged where tasks are kept, and must not keep the server from work.
        spawn = self.server.tasks.spawn
        blocks = spawn(self.block_import.import_restored(), "blocks in notes")
        presets = spawn(self.presets.restore(), "restoring presets")
        await asyncio.wait({spawn(self.agent.restore(), "restoring chats"), presets, blocks})

    async def _links(self) -> "LinkCache":
        return (await self.startup.wait_pipeline()).links

    async def _load_executor(self) -> TurnExecutor:
        answerer = await self.startup.wait_pipeline()

        async def answer(
            turn: "Turn", session: "Session", limits: "Limits", channel: "TurnChannel"
        ) -> "Turn":
            await self.block_import.import_asked(turn.ask)
            return await answerer.run(turn, session, limits, channel)

        return answer
