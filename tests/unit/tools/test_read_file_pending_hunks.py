"""What `read_file` shows of an agent's own proposals."""

from stet.tools.edit_file import EDIT_FILE
from stet.tools.read_file import READ_FILE
from stet.tools.tool import ToolContext
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace

TEXT = "one\ntwo\nthree\nfour\n"


async def context_with(*edits: dict[str, str], text: str = TEXT) -> ToolContext:
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": text}))
    await use(READ_FILE, ctx, file="a.py")
    for edit in edits:
        answer = await use(EDIT_FILE, ctx, file="a.py", **edit)
        assert answer.startswith("Proposed")
    return ctx


async def test_pending_lines_are_shown_between_the_numbered_lines() -> None:
    ctx = await context_with(
        {"position": "insert:1", "content": "zero"},
        {"position": "replace:2", "content": "TWO\nand more"},
        {"position": "delete:4"},
    )
    assert await use(READ_FILE, ctx, file="a.py") == (
        "   h1+\tzero\n"
        "     1\tone\n"
        "     2\ttwo\n"
        "   h2+\tTWO\n"
        "   h2+\tand more\n"
        "     3\tthree\n"
        "     4\tfour\n"
        "(Your pending proposals, not in the file and without line numbers: h1 adds its lines "
        "before line 1; h2 replaces line 2; h3 takes out line 4.)\n"
    )


async def test_of_some_lines_only_what_is_pending_there_is_shown() -> None:
    ctx = await context_with(
        {"position": "replace:1", "content": "ONE"}, {"position": "end", "content": "five"}
    )
    assert await use(READ_FILE, ctx, file="a.py", start_line=2, end_line=3) == (
        "     2\ttwo\n     3\tthree\n"
    )
    assert await use(READ_FILE, ctx, file="a.py", start_line=4) == (
        "     4\tfour\n"
        "   h2+\tfive\n"
        "(Your pending proposals, not in the file and without line numbers: h2 adds its lines "
        "before line 5.)\n"
    )


async def test_what_is_pending_in_an_empty_file_is_shown() -> None:
    ctx = await context_with({"position": "end", "content": "first"}, text="")
    assert await use(READ_FILE, ctx, file="a.py") == (
        "   h1+\tfirst\n"
        "(Your pending proposals, not in the file and without line numbers: h1 adds its lines "
        "before line 1.)\n"
        "a.py is empty.\n"
    )


async def test_long_pending_text_is_cut_with_a_notice() -> None:
    ctx = await context_with({"position": "end", "content": "x" * 30_000})
    shown = await use(READ_FILE, ctx, file="a.py")
    assert "xxx" not in shown
    assert shown.endswith("h1 adds its lines before line 5 (cut).)\n")


async def test_a_decided_hunk_is_no_longer_marked() -> None:
    ctx = await context_with({"position": "replace:2", "content": "TWO"})
    ctx.reader.ledger.reject("h1")
    assert await use(READ_FILE, ctx, file="a.py") == (
        "     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n"
    )
