"""An agent with one open file, and the replies of which most of its turns consist."""

import asyncio

from stet.llm.model import Completion, Request, StopReason, ToolCall
from stet.llm.scripted_model import Reply, call
from stet.settings.values import AgentSettings, Settings
from tests.support.agent_harness import AgentHarness
from tests.support.workspaces import make_workspace

TEXT = "x = 1\ny = 2\n"
EDIT = call("edit_file", file="a.py", old_text="x = 1", new_text="x = 3", summary="Three")
DONE = call("done", summary="Done.")


def make_agent(*replies: Reply, settings: Settings | None = None, **agent: object) -> AgentHarness:
    """Make an agent with `a.py` open."""
    if agent:
        settings = Settings(agent=AgentSettings(**agent))  # type: ignore[arg-type]
    world = make_workspace({"/ws/b.py": "b\n"}, opened={"/ws/a.py": TEXT}, settings=settings)
    return AgentHarness(world, replies)


def raw(*arguments: str, name: str = "read_file", call_id: str = "") -> Completion:
    """Make calls with unparsed arguments as a model may write them."""
    calls = tuple(ToolCall(call_id, name, each) for each in arguments)
    return Completion("", calls, StopReason.TOOL_CALLS)


class PausedReply:
    """A reply that waits for the test's permission."""

    def __init__(self, reply: Completion) -> None:
        self.asked, self.go, self.reply = asyncio.Event(), asyncio.Event(), reply

    async def __call__(self, request: Request) -> Completion:
        self.asked.set()
        await self.go.wait()
        return self.reply
