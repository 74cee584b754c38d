"""An agent that has one file open, and the replies that most of its turns are made of."""

import asyncio

from stet.llm.messages import Completion, StopReason, ToolCall
from stet.llm.model import Request
from stet.llm.scripted_model import Reply, call
from stet.settings.values import AgentSettings, Settings
from tests.support.turns import Table
from tests.support.world import make_world

TEXT = "x = 1\ny = 2\n"
EDIT = call("edit_file", file="a.py", old_text="x = 1", new_text="x = 3", summary="Three")
DONE = call("done", summary="Done.")


def table(*replies: Reply, settings: Settings | None = None, **agent: object) -> Table:
    """An agent that has `a.py` open."""
    if agent:
        settings = Settings(agent=AgentSettings(**agent))  # type: ignore[arg-type]
    world = make_world({"/ws/b.py": "b\n"}, opened={"/ws/a.py": TEXT}, settings=settings)
    return Table(world, replies)


def raw(*arguments: str, name: str = "read_file", call_id: str = "") -> Completion:
    """Calls with arguments as a model may write them."""
    calls = tuple(ToolCall(call_id, name, each) for each in arguments)
    return Completion("", calls, StopReason.TOOL_CALLS)


class Held:
    """A reply that is kept back."""

    def __init__(self, reply: Completion) -> None:
        self.asked, self.go, self.reply = asyncio.Event(), asyncio.Event(), reply

    async def __call__(self, request: Request) -> Completion:
        self.asked.set()
        await self.go.wait()
        return self.reply
