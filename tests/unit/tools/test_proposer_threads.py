"""The policy check reads the disk in a worker thread: the event loop goes on meanwhile."""

import asyncio
import dataclasses
from collections.abc import Callable

import pytest

from stet.agent.comment_turns import CommentTask, propose_removal
from stet.agent.turn import REMOVAL, Ask, Mode, Turn, TurnState
from stet.context.context_builder import EditorLocation
from stet.text.position import Position, Range
from stet.tools.create_file import CREATE_FILE
from stet.tools.delete_file import DELETE_FILE
from stet.tools.edit_file import EDIT_FILE
from stet.tools.editor_actions import EditorActions, Question
from stet.tools.open_file import OPEN_FILE
from stet.tools.tool import Tool, ToolContext
from stet.workspace.names import Refusal
from stet.workspace.path_status import PathStatus
from tests.support.agent_harness import make_tool_context, type_into, use
from tests.support.workspaces import insertion, make_workspace

URI = "file:///ws/a.py"
TEXT = "x = 1\n# ai! rename x\n"
TAKEN = CommentTask(URI, "a.py", Range(Position(1, 0), Position(1, 14)), "# ai! rename x", 0)


def context_read_in_a_worker(
    meanwhile: Callable[[ToolContext], None] | None = None, refusal: Refusal | None = None
) -> ToolContext:
    """A tool context whose disk can't be read on the event loop; a read in a worker calls back."""
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": TEXT}))
    loop = asyncio.get_running_loop()

    async def happens() -> None:
        if meanwhile is not None:
            meanwhile(ctx)

    def bound() -> Callable[[str], PathStatus]:
        def ground(uri: str) -> PathStatus:
            # Waits for the event loop: on it, that would be for ever.
            asyncio.run_coroutine_threadsafe(happens(), loop).result()
            return PathStatus(refusal=refusal)

        return ground

    def on_the_loop(uri: str) -> PathStatus:
        raise AssertionError(f"the disk is asked about {uri} on the event loop")

    async def yes(question: Question) -> str:
        return "Delete"

    async def accepted(hunk_id: str) -> str:
        return ""

    ctx.proposer.rules = dataclasses.replace(
        ctx.proposer.rules, path_status=on_the_loop, bound=bound
    )
    ctx.ask_question, ctx.editor = yes, EditorActions(accept_hunk=accepted)
    return ctx


@pytest.mark.parametrize(
    ("tool", "more", "answer"),
    [
        (CREATE_FILE, {"file": "b.py", "content": "x"}, "Proposed h1: the new file b.py."),
        (EDIT_FILE, {"file": "b.py", "position": "create", "content": "x"}, "Proposed h1"),
        (EDIT_FILE, {"file": "a.py", "position": "open"}, "The user sees a.py now."),
        (OPEN_FILE, {"file": "a.py"}, "a.py is shown to the user."),
        (DELETE_FILE, {"file": "a.py"}, "The user says yes: a.py is in the trash (h1)"),
    ],
)
async def test_tools_ask_the_disk_in_a_worker(
    tool: Tool, more: dict[str, object], answer: str
) -> None:
    assert (await use(tool, context_read_in_a_worker(), **more)).startswith(answer)
    refused = context_read_in_a_worker(refusal=Refusal("ignored", "No."))
    assert await use(tool, refused, **more) == "Error: Refused by the rule ignored: No."


async def removed(ctx: ToolContext) -> Turn:
    """How the turn ends that a comment has asked for."""
    ask = Ask(prompt="rename x", mode=Mode.AGENT, place=EditorLocation(URI), chat="main")
    turn = Turn(id="t1", ask=ask, state=TurnState.COMPLETED, summary="Done.")
    return await propose_removal(turn, ctx, TAKEN)


async def test_the_comment_that_asked_is_taken_out_of_the_text_as_it_is_when_the_disk_has_answered() -> (
    None
):
    left = iter(range(2))

    def types(ctx: ToolContext) -> None:
        if next(left, None) is not None:
            type_into(
                ctx.reader.workspace, ctx.reader.ledger, insertion(0, 0, "typed\n"), "/ws/a.py"
            )

    ctx = context_read_in_a_worker(types)
    assert (await removed(ctx)).summary == "Done."
    (hunk,) = ctx.reader.ledger.hunks()
    assert (hunk.old, hunk.new, hunk.summary) == ("# ai! rename x\n", "", REMOVAL)
    assert hunk.range.start.line == 3


async def test_the_comment_stays_in_a_text_that_is_changed_all_the_time() -> None:
    def types(ctx: ToolContext) -> None:
        type_into(ctx.reader.workspace, ctx.reader.ledger, insertion(0, 0, "typed\n"), "/ws/a.py")

    ctx = context_read_in_a_worker(types)
    ended = await removed(ctx)
    assert ended.summary == "Done. The comment was kept: The file keeps changing."
    assert ctx.reader.ledger.hunks() == ()
