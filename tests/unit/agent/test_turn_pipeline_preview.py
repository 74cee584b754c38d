"""What is shown of a question is what would be sent, and the server goes on meanwhile."""

import asyncio
import threading
from pathlib import Path

from stet.agent.model_source import ModelSource
from stet.agent.session import Session
from stet.agent.turn import Ask, Mode
from stet.agent.turn_pipeline import TurnPipeline
from stet.context.context_builder import EditorLocation
from stet.llm.model import Message
from stet.llm.scripted_model import call
from stet.lsp.tasks import Tasks
from stet.review.ledger import ReviewLedger
from stet.workspace.workspace import Workspace
from tests.support.agent_harness import AgentHarness
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import make_workspace, uri_at

DONE = call("done", summary="Done.")


class SlowDisk(MemorySystem):
    """A disk that answers when it is let."""

    def __init__(self, files: dict[str, str | bytes]) -> None:
        super().__init__(files)
        self.asked, self.go = threading.Event(), threading.Event()

    def read_bytes(self, path: Path, limit: int) -> bytes:
        """As the disk of memory, but not before it is let."""
        self.asked.set()
        assert self.go.wait(5), "nobody could let it go on: the event loop stood still"
        return super().read_bytes(path, limit)


async def test_the_event_loop_goes_on_while_the_disk_is_asked() -> None:
    disk = SlowDisk({"/ws/a.py": "x = 1\n"})
    workspace = Workspace(disk)
    workspace.add_root("file:///ws")
    answerer = TurnPipeline(workspace, ReviewLedger(), ModelSource(disk))
    ask = Ask(prompt="Why?", mode=Mode.AGENT, place=EditorLocation(uri_at("/ws/a.py")), chat="main")
    shown = Tasks().spawn(answerer.preview(ask, Session("main")), "preview")
    await asyncio.to_thread(disk.asked.wait, 5)
    assert not shown.done()
    disk.go.set()
    assert "x = 1" in dict(await shown)["current_file"]


async def test_preview_is_the_request_with_its_history() -> None:
    read = call("read_file", file="b.py")
    world = make_workspace({"/ws/b.py": "b\n" * 50}, opened={"/ws/a.py": "x = 1\n"})
    table = AgentHarness(world, [read, DONE, DONE])
    await table.ask("First")
    ask = Ask(
        prompt="Second", mode=Mode.AGENT, place=EditorLocation(uri_at("/ws/a.py")), chat="main"
    )
    session = table.agent.session("main")
    parts = await table.answerer.preview(ask, session)
    await table.ask("Second")
    sent = table.model.requests[2].messages
    system, _tools, *others = parts
    assert system == ("system", sent[0].content)
    history, question = sent[1:-1], sent[-1]
    assert others[: len(history)] == [(one.role, _shown(one)) for one in history]
    assert all(text in question.content for _, text in others[len(history) :])


def _shown(message: Message) -> str:
    calls = [f"{one.name} {one.arguments}" for one in message.tool_calls]
    return "\n".join(part for part in (message.content, *calls) if part)
