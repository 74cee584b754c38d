"""The state of one server, which every handler gets; used on the event loop only.

`ServerState` creates four groups in this order, each by its constructor: `Documents`, `ReviewUi`,
`Background`, `AgentUi`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stet.agent.agent import Agent
from stet.agent.agent_events import AgentEvent
from stet.agent.session import ChatArchive
from stet.agent.turn_runner import TurnExecutor
from stet.bridges.opencode.opencode_bridge import OpenCodeBridge
from stet.bridges.session_views import SessionViews
from stet.lsp.chat.chat_controller import ChatController
from stet.lsp.claude_ide import ClaudeIde
from stet.lsp.comment_runner import CommentCheck, CommentRunner
from stet.lsp.completion_controller import CompletionController
from stet.lsp.connection.protocol import StetLanguageServer
from stet.lsp.control_socket import ControlSocket
from stet.lsp.editor_client import Client
from stet.lsp.edits.apply_order import RefactorPreview, editor_actions
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.external_agents import ExternalAgents
from stet.lsp.file_events import DiskWatch, RenameTracker
from stet.lsp.index_adapters import EmbeddingPort, IndexFeed, IndexView
from stet.lsp.inline_style import BlockImport, InlineStyle
from stet.lsp.observability import Observability
from stet.lsp.other_editors import OtherEditors
from stet.lsp.presentation.answer_stream import AnswerStream
from stet.lsp.presentation.dead_link_view import DeadLinkView
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher
from stet.lsp.presentation.diff_documents import DiffDocuments
from stet.lsp.presentation.generated_documents import GeneratedDocuments, RequestLogDocument
from stet.lsp.presentation.search_hits import LocatedPassage
from stet.lsp.presentation.turn_view import TurnView
from stet.lsp.preset_controller import PresetController
from stet.lsp.review_persistence import ReviewPersistence, StoreMaintenance
from stet.lsp.startup import Startup
from stet.lsp.tasks import LatestRequest
from stet.lsp.text_sync import TextSync
from stet.review.ledger import ReviewLedger
from stet.search.index_service import IndexService
from stet.storage.state_store import StateStore
from stet.system.resource_limits import return_freed_memory
from stet.system.system import System
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.agent.limits import Limits
    from stet.agent.mcp_offer import McpOffer
    from stet.agent.session import Session
    from stet.agent.turn import Turn
    from stet.agent.turn_pipeline import TurnPipeline
    from stet.agent.turn_runner import TurnChannel
    from stet.links.link_scan import LinkCache
    from stet.lsp.control_methods import RunCommand
    from stet.mcp_servers.mcp_connection import SpawnTask


class Documents:
    """The editor's documents, the proposals for them, and the store.

    Attributes:
        client: The editor.
        workspace: The open documents, the roots and the focus.
        store: The database of hunks, chats and presets.
        ledger: All proposals.
        presets: The attachments of questions, and presets of them.
        renames: The detection of renamed files.
        generated: Stet's own documents.
        disk_watch: The watch of files with hunks that are not open.
        block_import: The import of blocks of other programs.
    """

    def __init__(
        self, server: StetLanguageServer, system: System, catch_up: Callable[[], Awaitable[None]]
    ) -> None:
        """Create the group; no document or file is read yet.

        Args:
            server: The server of the framework.
            system: The access to the disk, processes and the clock.
            catch_up: A function that loads data which the store could not load at the start; called
                as soon as the store can load it.
        """
        start = server.tasks.start
        self.client = Client(server)
        self.workspace = Workspace(system)
        maintenance = StoreMaintenance(lambda: self.store, server.tasks.spawn, catch_up)
        loop = asyncio.get_running_loop()

        def warn(text: str) -> None:  # from any thread
            loop.call_soon_threadsafe(self.client.warn, text)

        self.store = StateStore(system, lambda: self.workspace.folders, warn, maintenance.wake)
        self.ledger = ReviewLedger(self.store)
        self.workspace.blocks = self.ledger.blocks.known
        self.workspace.placed = self.ledger.blocks.placed
        self.presets = PresetController(self.workspace, self.store)
        self.renames = RenameTracker(
            self.workspace, self.ledger, system, start, self.presets.renamed
        )
        self.generated = GeneratedDocuments(system, self.workspace)
        self.disk_watch = DiskWatch(self.workspace, self.ledger, start)
        self.block_import = BlockImport(self.workspace, self.ledger, self.client)

    def workspace_of(self, uri: str) -> Workspace:
        """Return the workspace of a document: the user's, or that of Stet's own documents."""
        is_generated = (
            self.workspace.buffer(uri) is None and self.generated.workspace.buffer(uri) is not None
        )
        return self.generated.workspace if is_generated else self.workspace


class ReviewUi:
    """The views of proposals, and the services that apply decisions in the editor.

    Attributes:
        diff_documents: The documents of `stet.review`.
        publisher: The publisher of hunks and questions as diagnostics.
        dead_links: The view of dead links as diagnostics, for `stet.deadLinks`.
        edit_applier: The service that applies and undoes hunks in the editor.
        preview: The preview of many hunks as one edit.
        inline: The view of hunks as blocks in the text.
        editor_actions: The actions that tools may request of the editor.
    """

    def __init__(self, documents: Documents, links: Callable[[], Awaitable["LinkCache"]]) -> None:
        """Create the group; `links` returns the cache of links as soon as the server is ready."""
        workspace, ledger, client = documents.workspace, documents.ledger, documents.client
        self.diff_documents = DiffDocuments(workspace, ledger, client, documents.generated)
        self.publisher = DiagnosticsPublisher(workspace, ledger, client)
        self.dead_links = DeadLinkView(workspace, self.publisher, client, links)
        self.edit_applier = EditApplier(workspace, ledger, client, documents.renames)
        self.preview = RefactorPreview(ledger, self.edit_applier, client)
        self.inline = InlineStyle(workspace, ledger, self.edit_applier, client)
        self.editor_actions = editor_actions(ledger, self.edit_applier, client, documents.generated)


class Background:
    """Services beside the editor: search index, completions, the ways to and from other programs.

    Attributes:
        index: The search index.
        index_feed: The forwarder of file events to the index.
        index_view: The state of the index as the user sees it.
        symbols: The searches for symbols, of which only the latest counts.
        completions: The inline completions.
        opencode: The bridge that sends the state of the editor to an OpenCode server.
        other_editors: The other editors on the folders, and the hunks that wait there.
        control: The socket for other programs of the user, and the hooks of other agents.
        external_agents: The agents that answer over the Agent Client Protocol.
        claude_ide: The server for `claude --ide`.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts that its services need
        self,
        server: StetLanguageServer,
        system: System,
        documents: Documents,
        observability: Observability,
        run_command: "RunCommand",
        publisher: DiagnosticsPublisher,
        adopt: Callable[[], Awaitable[int]],
    ) -> None:
        """Create the services; nothing is started yet.

        Args:
            server: The server of the framework.
            system: The access to the disk, processes and the clock.
            documents: The documents and their proposals.
            observability: The crash reports, and the trace of the model.
            run_command: Runs a command by name, as if the editor had sent it.
            publisher: The publisher of diagnostics.
            adopt: Takes over the hunks of servers that have ended; returns how many are pending.
        """
        workspace, client, start = documents.workspace, documents.client, server.tasks.start
        self.index = IndexService(
            system,
            start,
            client.warn,
            watches=lambda: server.editor.watches_files,
            endpoint=EmbeddingPort(system, workspace),
        )
        self.index_feed = IndexFeed(workspace, self.index, start)
        self.index_view = IndexView(self.index, client)
        self.symbols: LatestRequest[list[LocatedPassage]] = LatestRequest(
            server.tasks.spawn, "a search for symbols"
        )
        self.completions = CompletionController(
            workspace, client, system, server.tasks.spawn, observability.tracer
        )
        self.opencode = OpenCodeBridge(workspace, system, start, client.warn)
        workspace.activity.moved = self.opencode.focus_changed
        number = partial(documents.store.number, "turn")
        views = SessionViews(workspace, documents.ledger, number)
        self.external_agents = ExternalAgents(workspace, views, server.tasks, client.warn)
        self.other_editors = OtherEditors(client, server.tasks.spawn, publisher, adopt)
        self.control = ControlSocket(
            workspace,
            documents.ledger,
            views,
            client,
            system,
            searcher=self.index,
            run_command=run_command,
            spawn=server.tasks.spawn,
            view_of=self.external_agents.view_of,
            others=self.other_editors,
        )
        self.claude_ide = ClaudeIde(
            workspace,
            documents.ledger,
            views,
            client,
            system,
            spawn=server.tasks.spawn,
        )

    def folders_changed(self) -> None:
        """Pass on that the workspace folders have changed."""
        self.control.server.folders_changed()
        self.claude_ide.server.folders_changed()

    def settings_changed(self) -> None:
        """Pass on that the settings have changed."""
        self.opencode.settings_changed()
        self.completions.settings_changed()
        self.control.server.settings_changed()
        self.external_agents.settings_changed()
        self.claude_ide.server.settings_changed()


class AgentUi:
    """The agent, and the parts that show and start its conversations.

    Attributes:
        agent: The agent, with all conversations.
        turn_view: The progress, the questions and the end messages of turns.
        chats: The chat documents.
        comment_runner: The service that starts turns for comments.
        comment_check: The search for the lines of such comments.
        request_log: The log of sent requests, as a document.
    """

    def __init__(
        self,
        server: StetLanguageServer,
        documents: Documents,
        review: ReviewUi,
        load_executor: Callable[[], Awaitable[TurnExecutor]],
    ) -> None:
        """Create the group; no turn is started yet.

        Args:
            server: The server of the framework.
            documents: The documents and their proposals.
            review: The views of proposals.
            load_executor: A function that returns the executor of turns, as soon as the server is
                ready.
        """
        workspace, ledger, client = documents.workspace, documents.ledger, documents.client
        generated, store, tasks = documents.generated, documents.store, server.tasks
        self._inline = review.inline
        self.agent = Agent(
            workspace,
            ledger,
            load_executor,
            number=partial(store.number, "turn"),
            spawn=tasks.spawn,
            emit=self._dispatch_event,
            archive=ChatArchive(store),
        )
        self.turn_view = TurnView(client, ledger, review.publisher, self.agent)
        self._answer_stream = AnswerStream(client)
        number = partial(store.number, "chat")
        self.chats = ChatController(
            workspace,
            ledger,
            client,
            generated,
            agent=self.agent,
            number=number,
            activity=self.turn_view.activity,
        )
        self.comment_runner = CommentRunner(workspace, ledger, client, self.agent)
        self.comment_check = CommentCheck(workspace, tasks.spawn)
        self.request_log = RequestLogDocument(workspace, store, client, generated)

    def _dispatch_event(self, event: AgentEvent) -> None:
        self.comment_runner.handle_event(event)
        self.turn_view.handle_event(event)
        self._answer_stream.handle_event(event)
        self._inline.handle_event(event)
        self.chats.handle_event(event)


class ServerState:
    """The state of one server: four groups of parts, and direct access to those used most.

    Attributes:
        server: The server of the framework.
        system: The access to the disk, processes and the clock.
        observability: The crash reports, and the trace of the model.
        documents: The editor's documents, the proposals for them, and the store.
        review: The views of proposals, and the services that apply decisions.
        background: The search index and the bridge to OpenCode.
        agent_ui: The agent, and the parts that show and start its conversations.
        workspace: `documents.workspace`.
        ledger: `documents.ledger`.
        client: `documents.client`.
        store: `documents.store`.
        agent: `agent_ui.agent`.
        text_sync: The receiver of text synchronization.
        persistence: The service that restores and saves the ledger's state.
        startup: The startup after `initialize`.
    """

    def __init__(
        self,
        server: StetLanguageServer,
        system: System,
        observability: Observability,
        run_command: "RunCommand",
        *,
        log_level_given: bool = False,
    ) -> None:
        """Create the state of a server whose editor has sent `initialize`.

        Args:
            server: The server of the framework.
            system: The access to the disk, processes and the clock.
            observability: The crash reports, and the trace of the model.
            run_command: Runs a command by name, as if the editor had sent it.
            log_level_given: Whether the command line set the log level, which settings then don't
                change.
        """
        self.server = server
        self.system = system
        self.observability = observability
        documents = self.documents = Documents(server, system, self._catch_up)
        review = self.review = ReviewUi(documents, self._links)
        background = self.background = Background(
            server, system, documents, observability, run_command, review.publisher, self._adopt
        )
        self.agent_ui = AgentUi(server, documents, review, self._load_executor)
        self.workspace = documents.workspace
        self.ledger = documents.ledger
        self.client = documents.client
        self.store = documents.store
        self.agent = self.agent_ui.agent
        self.text_sync = TextSync(
            self.workspace,
            self.ledger,
            documents.renames,
            documents.generated,
            disk=documents.disk_watch,
            feed=background.index_feed,
            blocks=documents.block_import,
            dead_links=review.dead_links,
            with_hunks_opened=review.publisher.schedule,
            is_in_other_editor=background.other_editors.has_hunks_in,
            closed=review.edit_applier.closed,
            completing=background.completions.completing,
            edited=background.completions.edited,
            reorders=server.editor.overtakes,
        )
        self.persistence = ReviewPersistence(
            self.workspace, self.ledger, self.store, system, server.tasks.spawn
        )
        self.startup = Startup(
            self.workspace,
            self.client,
            system,
            observability,
            options=server.initialize_params.initialization_options,
            log_level_given=log_level_given,
            load=self._load_pipeline,
            restore=self._restore,
            settings_changed=background.settings_changed,
        )
        # These functions are called, in this order, when hunks of a document have changed or moved.
        self.ledger.subscribe(self.documents.block_import.hunks_changed)
        self.ledger.subscribe(self.review.publisher.schedule)
        self.ledger.subscribe(self.persistence.hunks_changed)
        self._take_over(server.initialize_params)

    async def close(self) -> None:
        """Save the state that outlives the server, and close all services."""
        await self.background.control.close()
        await self.background.external_agents.close()
        await self.background.claude_ide.server.close()
        await self.background.index.close()
        await self.persistence.close()
        if self.startup.pipeline is not None:
            await self.startup.pipeline.close()
        await self.background.completions.close()
        await self.background.opencode.close()
        self.observability.end()

    def _take_over(self, params: lsp.InitializeParams) -> None:
        """Store the editor, the encoding and the roots of `initialize`."""
        tell_error = partial(self.client.show_message, kind=lsp.MessageType.Error)
        self.observability.editor_connected(self.server.editor, tell_error)
        self.workspace.encoding = self.server.encoding
        folders = [folder.uri for folder in params.workspace_folders or ()]
        for uri in folders or ([params.root_uri] if params.root_uri else []):
            self.workspace.add_root(uri)

    def _load_pipeline(self) -> "TurnPipeline":
        return_freed_memory()
        from stet.agent.model_source import ModelSource
        from stet.agent.turn_pipeline import TurnPipeline
        from stet.llm.embedded.model_daemons import ModelDaemons

        uses_daemon = self.server.editor.model_daemon
        daemons = ModelDaemons.of(self.system) if uses_daemon else None
        models = ModelSource(self.system, self.observability.tracer, daemons)
        actions, index = self.review.editor_actions, self.background.index
        pipeline = TurnPipeline(self.workspace, self.ledger, models, actions, index)
        pipeline.create_mcp = partial(_create_mcp_offer, self.workspace, self.server.tasks.spawn)
        return pipeline

    async def _catch_up(self) -> None:
        """Load data that the store could not load at the start, and let the store write again."""
        await self.startup.readiness.wait()
        await self._restore()
        await asyncio.to_thread(self.store.caught_up)

    async def _adopt(self) -> int:
        return await self.persistence.adopt()

    async def _restore(self) -> None:
        await self.persistence.restore()
        # `Tasks` logs errors, which must not prevent the start.
        spawn = self.server.tasks.spawn
        blocks = spawn(self.documents.block_import.import_restored(), "blocks in notes")
        presets = spawn(self.documents.presets.restore(), "restoring presets")
        await asyncio.wait({spawn(self.agent.restore(), "restoring chats"), presets, blocks})

    async def _links(self) -> "LinkCache":
        return (await self.startup.wait_pipeline()).links

    async def _load_executor(self) -> TurnExecutor:
        pipeline = await self.startup.wait_pipeline()

        async def run(
            turn: "Turn", session: "Session", limits: "Limits", channel: "TurnChannel"
        ) -> "Turn":
            await self.documents.block_import.import_asked(turn.ask)
            if name := turn.ask.external_agent(self.workspace.settings.agents.default):
                agents = self.background.external_agents
                return await agents.run(replace(turn, agent=name), session, channel)
            return await pipeline.run(turn, session, limits, channel)

        return run


def _create_mcp_offer(workspace: Workspace, spawn: "SpawnTask") -> "McpOffer":
    """Import the client of MCP servers, which takes long, and create it. For a thread."""
    from stet.agent.mcp_offer import McpOffer

    return McpOffer(workspace, spawn)
