"""What holds for every tool: one more is one file and one line, and a stopped call leaves
nothing.
"""

import asyncio
import json

import pytest

from stet.agent import toolbox
from stet.agent.toolbox import ALL_TOOLS, Toolbox
from stet.agent.turn import TurnState
from stet.llm.model import ToolCall
from stet.llm.scripted_model import call
from stet.lsp.tasks import Tasks
from stet.tools.editor_actions import Question
from stet.tools.tool import ToolKind
from stet.tools.tool_state import ToolState
from tests.support.agent_harness import AgentHarness, make_tool_context
from tests.support.shout_tool import SHOUT
from tests.support.workspaces import make_workspace

DONE = call("done", summary="Done.")
NOTE = "---\ntitle: A\n---\n# Head\n\none\n"


async def test_a_new_tool_is_one_file_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolbox, "ALL_TOOLS", (*ALL_TOOLS, SHOUT))
    ctx = AgentHarness(
        make_workspace(opened={"/ws/a.py": "x = 1\n"}),
        [call("shout", text="hey"), call("shout"), DONE, call("shout", text="hey"), DONE],
    )
    turn = await ctx.ask()
    assert turn.state is TurnState.COMPLETED
    [offered] = [tool for tool in ctx.model.requests[0].tools if tool.name == "shout"]
    assert (offered.description, offered.parameters["required"]) == ("Say it louder.", ["text"])
    answers = [one.content for one in ctx.model.requests[2].messages if one.role == "tool"]
    assert answers == ["HEY!\n", "Error: 'shout': text: Field required. Call it again.\n"]
    assert [run.state for run in turn.tool_calls[:2]] == [ToolState.COMPLETED, ToolState.ERROR]
    await ctx.end_of(ctx.start(disabled=["shout"]))
    assert "shout" not in {tool.name for tool in ctx.model.requests[3].tools}


WRITES: dict[str, dict[str, object]] = {
    "edit_file": {"file": "a.md", "old_text": "one", "new_text": "1"},
    "create_file": {"file": "new.md", "content": "new\n"},
    "move_file": {"file": "a.md", "to": "b.md"},
    "update_properties": {"file": "a.md", "set": {"title": "B"}},
    "add_tags": {"file": "a.md", "tags": ["x"]},
    "link_files": {"file": "a.md", "to": "other.md"},
    "delete_file": {"file": "other.md"},
    "execute_command": {"name": "make"},
}


def test_every_tool_that_writes_is_among_them() -> None:
    assert set(WRITES) == {tool.name for tool in ALL_TOOLS if tool.kind is ToolKind.WRITE}


async def yes(question: Question) -> str:
    """A user who agrees, a moment later."""
    await asyncio.sleep(0)
    return question.choices[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITES)
async def test_a_call_that_is_stopped_before_its_end_has_proposed_nothing(name: str) -> None:
    arguments, tasks = json.dumps(WRITES[name]), Tasks()
    for steps in range(1000):
        world = make_workspace({"/ws/other.md": "other\n"}, opened={"/ws/a.md": NOTE})
        ctx = make_tool_context(world, asked="/ws/a.md")
        ctx.ask_question = yes
        await ctx.reader.read("a.md")
        running = tasks.spawn(Toolbox(ALL_TOOLS, ctx).run(ToolCall("c", name, arguments)), "a call")
        for _ in range(steps):
            await asyncio.sleep(0)
        if running.done():
            break
        before = ctx.reader.ledger.hunks()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert ctx.reader.ledger.hunks() == before
        assert before == () or name == "delete_file"
    else:
        pytest.fail("the call has no end")
