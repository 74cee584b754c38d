"""`delete_file`: off unless the user wants it; then it asks, and what the user lets go is taken."""

import pytest

from stet.agent.toolbox import tools_for
from stet.agent.turn import Ask, Mode
from stet.context.context_builder import EditorLocation
from stet.review.proposal import HunkKind
from stet.settings.values import AgentSettings, EditSettings, Settings
from stet.tools.delete_file import DELETE_FILE
from stet.tools.editor_actions import EditorActions, Question
from stet.tools.read_file import READ_FILE
from stet.tools.tool import ToolContext, ToolGroup
from stet.tools.tool_errors import UserDeclined
from tests.support.agent_harness import make_tool_context, type_into, use
from tests.support.workspaces import insertion, make_workspace


def names(settings: AgentSettings) -> set[str]:
    ask = Ask(prompt="", mode=Mode.AGENT, place=EditorLocation(), chat="main")
    return {tool.name for tool in tools_for(ask, settings)}


def test_delete_file_is_off_by_default_and_disabled_with_its_group() -> None:
    assert "delete_file" not in names(AgentSettings())
    assert "delete_file" in names(AgentSettings(disabled_tools=()))
    off = AgentSettings(disabled_tools=(), disabled_groups=(ToolGroup.ADVANCED,))
    assert "delete_file" not in names(off)
    assert "move_file" in names(off)


def context_with(
    answer: str, problem: str = "", **files: str
) -> tuple[ToolContext, list[Question]]:
    """Return a tool context whose user answers `answer`, and whose editor reports `problem`."""
    ctx = make_tool_context(make_workspace(opened=files or {"/ws/a.py": "x = 1\n"}))
    asked: list[Question] = []

    async def inquire(question: Question) -> str:
        asked.append(question)
        assert ctx.reader.ledger.hunks() == ()
        return answer

    async def accept(hunk_id: str) -> str:
        assert ctx.reader.ledger.hunk(hunk_id).state == "pending"
        return problem

    ctx.ask_question, ctx.editor = inquire, EditorActions(accept_hunk=accept)
    return ctx, asked


async def test_approved_deletion_is_proposed_and_accepted_at_once() -> None:
    ctx, asked = context_with("Delete")
    await use(READ_FILE, ctx, file="a.py")
    answer = await use(DELETE_FILE, ctx, file="a.py", reason="Not\nused.")
    (hunk,) = ctx.reader.ledger.hunks()
    assert answer == (
        f"The user says yes: a.py is in the trash ({hunk.id}); they can restore it.\n"
    )
    assert (hunk.kind, hunk.old, hunk.new, hunk.summary) == (
        HunkKind.REMOVE, "x = 1\n", "", "Delete a.py: Not used.",
    )  # fmt: skip
    [question] = asked
    assert (question.kind, question.choices) == ("delete", ("Delete", "Keep"))
    assert question.text == (
        "Delete a.py? Not used.\nIt moves to Stet's trash; undo with `stet.undo`."
    )


async def test_refused_deletion_is_not_proposed() -> None:
    ctx, _ = context_with("Keep")
    await use(READ_FILE, ctx, file="a.py")
    with pytest.raises(UserDeclined, match=r"The user keeps a\.py"):
        await DELETE_FILE.run(DELETE_FILE.params(file="a.py"), ctx)  # type: ignore[call-arg]
    assert ctx.reader.ledger.hunks() == ()


async def test_deletion_that_the_editor_does_not_apply_is_pending() -> None:
    ctx, _ = context_with("Delete", "It is not saved.")
    await use(READ_FILE, ctx, file="a.py")
    answer = await use(DELETE_FILE, ctx, file="a.py")
    (hunk,) = ctx.reader.ledger.hunks()
    assert answer == (
        "The user says yes, but a.py is not deleted yet: It is not saved. It waits for the user as "
        f"{hunk.id}.\n"
    )


async def test_protected_file_is_named_in_the_question() -> None:
    ctx, asked = context_with("Keep", **{"/ws/Makefile": "all:\n"})
    await use(READ_FILE, ctx, file="Makefile")
    await use(DELETE_FILE, ctx, file="Makefile")
    assert "\nCaution: " in asked[0].text


async def test_deletion_applies_to_the_file_at_the_time_of_approval() -> None:
    ctx, _ = context_with("Delete")
    await use(READ_FILE, ctx, file="a.py")

    async def type_first(question: Question) -> str:
        type_into(ctx.reader.workspace, ctx.reader.ledger, insertion(0, 0, "new\n"))
        return "Delete"

    ctx.ask_question = type_first
    await use(DELETE_FILE, ctx, file="a.py")
    assert ctx.reader.ledger.hunks()[0].old == "new\nx = 1\n"


async def test_missing_file_is_refused() -> None:
    ctx = make_tool_context(make_workspace({"/ws/sub/b.py": ""}))
    assert (await use(DELETE_FILE, ctx, file="none.py")).startswith("Error: There is no file")
    assert (await use(DELETE_FILE, ctx, file="sub")).startswith("Error: 'sub' is a folder")


async def test_policy_decides_and_the_refusal_is_reported_to_the_user() -> None:
    files = {"/ws/b.py": ""}
    ctx = make_tool_context(make_workspace(files))
    assert "edit.scope" in await use(DELETE_FILE, ctx, file="b.py")
    settings = Settings(edit=EditSettings(can_delete=False))
    ctx = make_tool_context(make_workspace(files, settings=settings))
    await use(READ_FILE, ctx, file="b.py")
    assert "edit.canDelete" in await use(DELETE_FILE, ctx, file="b.py")
    assert [(r.position, r.rule) for r in ctx.reader.report.rejected] == [
        ("delete", "edit.canDelete")
    ]
    assert ctx.reader.ledger.hunks() == ()
