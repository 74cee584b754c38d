"""What is attached goes with the questions asked while it is, and with what the agent sees
later.
"""

import asyncio
import dataclasses
from functools import partial

from stet.agent.context_refresh import current_context
from stet.agent.turn import Ask, Mode
from stet.context.context_builder import EditorLocation
from stet.llm.scripted_model import call
from stet.settings.values import EditSettings, Settings
from stet.tools.get_attached_context import GET_ATTACHED_CONTEXT
from stet.workspace.attachments import Attachments
from tests.support.agent_harness import AgentHarness, make_tool_context, use
from tests.support.workspaces import make_workspace, uri_at

FILES = {"/ws/b.md": "old\n", "/ws/c.md": "old\n"}
A = uri_at("/ws/a.md")
B, C = Attachments((uri_at("/ws/b.md"),)), Attachments((uri_at("/ws/c.md"),))


def edits(name: str) -> list[object]:
    return [call("edit_file", file=name, old_text="old", new_text="new"), call("done", summary=".")]


async def test_a_question_in_the_queue_keeps_what_was_attached_when_it_was_asked() -> None:
    table = AgentHarness(
        make_workspace(FILES, opened={"/ws/a.md": "a\n"}, settings=Settings(edit=EditSettings())),
        [*edits("b.md"), *edits("c.md")],  # type: ignore[list-item]
    )
    table.workspace.attachments = B
    first = table.start(file="/ws/a.md")
    table.workspace.attachments = C
    second = table.start(file="/ws/a.md")
    table.workspace.attachments = Attachments()
    turns = await asyncio.gather(table.end_of(first), table.end_of(second))
    assert [turn.ask.attachments for turn in turns] == [B, C]
    # Each could edit what came with it: it had been shown that, and nothing else.
    assert [turn.rejected for turn in turns] == [(), ()]
    assert [hunk.uri for hunk in table.hunks] == [*B.files, *C.files]


async def test_question_before_the_restore_gets_attachments_of_an_earlier_run() -> None:
    table = AgentHarness(make_workspace(FILES, opened={"/ws/a.md": "a\n"}), edits("b.md"))  # type: ignore[arg-type]
    turn = table.start(file="/ws/a.md")
    table.workspace.attachments = B
    ended = await table.end_of(turn)
    assert (ended.ask.attachments, ended.rejected) == (B, ())


async def test_a_preset_goes_with_its_question_only() -> None:
    table = AgentHarness(make_workspace(FILES, opened={"/ws/a.md": "a\n"}), [])
    table.workspace.attachments = B
    ask = Ask(prompt="Why?", mode=Mode.ASK, place=EditorLocation(A), chat="main")

    async def attached(ask: Ask) -> str:
        parts = await table.answerer.preview(ask, table.agent.session("main"))
        return "".join(text for name, text in parts if name == "attached_files")

    assert 'path="b.md"' in await attached(ask)
    other = await attached(dataclasses.replace(ask, attachments=C))
    assert 'path="c.md"' in other
    assert 'path="b.md"' not in other
    assert await attached(dataclasses.replace(ask, attachments=Attachments())) == ""


async def test_refreshed_context_includes_attachments() -> None:
    ctx = make_tool_context(make_workspace(FILES, opened={"/ws/a.md": "[[b]]\n"}))
    chosen = dataclasses.replace(C, scope="linked", link_depth=1)
    ctx.current_context = partial(current_context, ctx.reader, ctx.links, EditorLocation(A), chosen)
    answer = await use(GET_ATTACHED_CONTEXT, ctx)
    assert 'path="c.md"' in answer
    assert 'path="b.md"' in answer
    assert ctx.reader.report.files_read == ["a.md", "c.md", "b.md"]
