"""Everything one server owns, handed to every handler; touched on the event loop only."""

from dataclasses import dataclass, field

from stet.agent.agent import Agent, Answer
from stet.lsp.client import Client
from stet.lsp.delivery import Delivery
from stet.lsp.documents import Documents
from stet.lsp.publisher import Publisher
from stet.lsp.startup import Startup
from stet.lsp.turn_view import TurnView
from stet.lsp.wire import StetLanguageServer
from stet.review.ledger import ReviewLedger
from stet.system.system import System
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
        documents: Where text synchronisation is delivered.
        publisher: Hunks as diagnostics.
        delivery: Accepted hunks on their way.
        startup: What is read and imported after `initialize`.
        agent: All conversations.
    """

    server: StetLanguageServer
    system: System
    log_level_given: bool = False
    workspace: Workspace = field(init=False)
    ledger: ReviewLedger = field(init=False)
    client: Client = field(init=False)
    documents: Documents = field(init=False)
    publisher: Publisher = field(init=False)
    delivery: Delivery = field(init=False)
    startup: Startup = field(init=False)
    agent: Agent = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = Workspace(self.system)
        self.ledger = ReviewLedger()
        self.client = Client(self.server)
        self.documents = Documents(self.workspace, self.ledger)
        self.publisher = Publisher(self.workspace, self.ledger, self.client)
        self.delivery = Delivery(
            self.workspace, self.ledger, self.client, editor=lambda: self.server.editor
        )
        self.startup = Startup(
            self.workspace,
            self.ledger,
            self.client,
            self.system,
            log_level_given=self.log_level_given,
        )
        view = TurnView(self.client, self.ledger, self.publisher, lambda: self.agent)
        self.agent = Agent(
            self.workspace, self.ledger, self._answer, spawn=self.server.tasks.spawn, emit=view.show
        )

    async def _answer(self) -> Answer:
        return (await self.startup.answerer()).answer
