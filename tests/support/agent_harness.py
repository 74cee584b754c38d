"""Turns of the agent with a scripted model, and the context of its tools.

agent = AgentHarness(make_workspace(opened={"/ws/a.py": ""}), [call("done", summary="Done.")])
turn = await agent.ask("Say done")
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from stet.agent.agent import Agent
from stet.agent.agent_events import AgentEvent, TurnEnded
from stet.agent.model_source import ModelSource
from stet.agent.session import ChatArchive
from stet.agent.turn import Ask, Mode, Turn
from stet.agent.turn_pipeline import TurnPipeline
from stet.agent.turn_rules import create_turn_rules
from stet.agent.turn_runner import TurnExecutor
from stet.context.context_builder import EditorLocation
from stet.llm.model import Model
from stet.llm.model_profiles import FULL_PROFILE, ModelProfile
from stet.llm.scripted_model import Reply, ScriptedModel
from stet.lsp.tasks import Tasks
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk
from stet.review.resolve.pending_view import ShownDocuments
from stet.settings.values import ModelSettings
from stet.storage.write_batch import ChatRow, ChatRows, TurnRow
from stet.text.position import Position, Range
from stet.tools.file_reader import FileReader, TurnIdentity, TurnReport
from stet.tools.proposer import Proposer
from stet.tools.tool import Tool, ToolContext
from stet.tools.tool_errors import ToolError
from stet.workspace.workspace import Modification, ModificationKind, WireEdit, Workspace
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import uri_at

FILE = "/ws/a.py"


class _FixedModelSource(ModelSource):
    """A source of models that always returns the same model."""

    def __init__(self, model: Model, profile: ModelProfile) -> None:
        super().__init__(MemorySystem({}))
        self.model = model
        self._profile = profile

    @property
    def is_tiny(self) -> bool:
        return self.model.is_tiny

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    @asynccontextmanager
    async def use(self, settings: ModelSettings, *, is_turn: bool = True) -> AsyncIterator[Model]:
        yield self.model


@dataclass
class MemoryRows:
    """Rows of turns and chats in memory."""

    turns: dict[str, TurnRow] = field(default_factory=dict)
    chats: dict[str, ChatRow] = field(default_factory=dict)

    def persist_turn(self, row: TurnRow) -> None:
        self.turns[row.id] = row

    def persist_chat(self, row: ChatRow) -> None:
        self.chats[row.id] = row

    def load_chats(self) -> ChatRows:
        return ChatRows(tuple(self.turns.values()), tuple(self.chats.values()))


class AgentHarness:
    """An agent with its workspace and its scripted model."""

    def __init__(
        self,
        workspace: Workspace,
        replies: Sequence[Reply] = (),
        *,
        is_tiny: bool = False,
        obeys_grammar: bool = False,
        profile: ModelProfile = FULL_PROFILE,
        model: Model | None = None,
        archive: ChatArchive | None = None,
    ) -> None:
        self.workspace = workspace
        self.ledger = ReviewLedger()
        self.model = ScriptedModel(replies)
        self.model.is_tiny, self.model.obeys_grammar = is_tiny, is_tiny or obeys_grammar
        self.events: list[AgentEvent] = []
        self.on_event: Callable[[AgentEvent], None] = lambda event: None
        self.tasks = Tasks()
        self._ended: dict[str, asyncio.Event] = {}
        self.answerer = TurnPipeline(
            workspace, self.ledger, _FixedModelSource(model or self.model, profile)
        )

        async def answer() -> TurnExecutor:
            return self.answerer.run

        self.agent = Agent(
            workspace,
            self.ledger,
            answer,
            number=itertools.count(1).__next__,
            spawn=self.tasks.spawn,
            emit=self._happened,
            archive=archive or ChatArchive(MemoryRows()),
        )

    def start(
        self,
        prompt: str = "Do it",
        mode: Mode = Mode.AGENT,
        *,
        file: str | None = FILE,
        lines: tuple[int, int] | None = None,
        chat: str = "main",
        disabled: Sequence[str] = (),
    ) -> str:
        """Ask, from lines (1-based, end included) of a file; return the turn's id."""
        selected = Range(Position(lines[0] - 1, 0), Position(lines[1], 0)) if lines else None
        place = EditorLocation(uri_at(file) if file else None, selected)
        ask = Ask(
            prompt=prompt, mode=mode, place=place, chat=chat, disabled_tools=frozenset(disabled)
        )
        return self.agent.ask(ask).id

    async def end_of(self, turn_id: str) -> Turn:
        """Wait for a turn's end; return the turn."""
        if not any(isinstance(e, TurnEnded) and e.turn.id == turn_id for e in self.events):
            async with asyncio.timeout(60):
                await self._ended.setdefault(turn_id, asyncio.Event()).wait()
        return self.agent.turn(turn_id)

    async def ask(
        self,
        prompt: str = "Do it",
        mode: Mode = Mode.AGENT,
        *,
        lines: tuple[int, int] | None = None,
    ) -> Turn:
        """Ask and wait for the end; return the turn."""
        return await self.end_of(self.start(prompt, mode, lines=lines))

    async def rest(self) -> None:
        """Wait until no task is left."""
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)

    def type(self, edit: WireEdit, path: str = FILE) -> None:
        """Type as the user."""
        type_into(self.workspace, self.ledger, edit, path)

    def proposed(self, path: str = FILE) -> str:
        """Return the text of an open file with every proposal accepted."""
        document = self.workspace.document(uri_at(path))
        assert document is not None
        ids = [hunk.id for hunk in self.ledger.live(document.uri)]
        return self.ledger.edit_of(document, ids).apply(document.text)

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        return self.ledger.hunks()

    def _happened(self, event: AgentEvent) -> None:
        self.events.append(event)
        self.on_event(event)
        if isinstance(event, TurnEnded):
            self._ended.setdefault(event.turn.id, asyncio.Event()).set()


def type_into(workspace: Workspace, ledger: ReviewLedger, edit: WireEdit, path: str = FILE) -> None:
    """Type into an open file as the user."""
    uri = uri_at(path)
    changes = workspace.apply(Modification(ModificationKind.CHANGED, uri, 9, edits=(edit,)))
    buffer = workspace.buffer(uri)
    assert buffer is not None
    ledger.apply_changes(uri, changes, buffer.lines)


def make_tool_context(
    workspace: Workspace, *, mode: Mode = Mode.AGENT, asked: str | None = FILE
) -> ToolContext:
    """Return the tool context of a turn asked from a file."""
    place = EditorLocation(uri_at(asked) if asked else None)
    ask = Ask(prompt="Do it", mode=mode, place=place, chat="main")
    shown = ShownDocuments()
    rules = create_turn_rules(ask, workspace, shown)
    reader = FileReader(
        workspace,
        ReviewLedger(),
        TurnIdentity("t1", "m", "main"),
        TurnReport(),
        question_uri=place.uri,
        shown=shown,
    )
    return ToolContext(reader, Proposer(reader, rules))


async def use(tool: Tool, ctx: ToolContext, **arguments: object) -> str:
    """Return the answer of a tool, or `Error: ...`."""
    try:
        return await tool.run(tool.params.model_validate(arguments), ctx)
    except ToolError as error:
        return f"Error: {error}"
