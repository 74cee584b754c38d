"""An agent that changes, adds to and takes back what it has proposed itself."""

import dataclasses

import pytest

from stet.review.proposal import Hunk
from stet.tools.create_file import CREATE_FILE
from stet.tools.edit_file import EDIT_FILE
from stet.tools.file_reader import TurnIdentity
from stet.tools.read_file import READ_FILE
from stet.tools.tool import ToolContext
from stet.workspace.workspace import WireEdit
from tests.support.agent_harness import make_tool_context, type_into, use
from tests.support.workspaces import make_workspace

URI = "file:///ws/a.py"
TEXT = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"


async def working_context(text: str = TEXT) -> ToolContext:
    """A tool context in which `a.py` has been read, and a hunk changes line 2 to `    return 2`."""
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": text}))
    await use(READ_FILE, ctx, file="a.py")
    await use(EDIT_FILE, ctx, file="a.py", position="replace:2", content="    return 2")
    return ctx


def states(ctx: ToolContext) -> dict[str, str]:
    return {hunk.id: str(hunk.state) for hunk in ctx.reader.ledger.hunks()}


def waiting(ctx: ToolContext) -> tuple[Hunk, ...]:
    return ctx.reader.ledger.live(URI)


def result(ctx: ToolContext) -> str:
    """The open file with what waits accepted."""
    document = ctx.reader.workspace.document(URI)
    assert document is not None
    return ctx.reader.ledger.edit_of(document, [hunk.id for hunk in waiting(ctx)]).apply(
        document.text
    )


async def test_pending_text_can_be_changed_by_quoting_it() -> None:
    ctx = await working_context()
    answer = await use(EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 3")
    (hunk,) = waiting(ctx)
    assert answer == (
        f"Proposed {hunk.id} at line 2 (replace) in a.py. They wait for the user; the file itself "
        "is unchanged, so its line numbers stay as shown.\n"
        "No longer proposed, because this takes its place: h1.\n"
    )
    assert states(ctx) == {"h1": "superseded", hunk.id: "pending"}
    assert result(ctx) == TEXT.replace("1", "3", 1)


async def test_a_quote_may_hold_text_of_the_file_around_what_is_pending() -> None:
    ctx = await working_context()
    await use(
        EDIT_FILE,
        ctx,
        file="a.py",
        old_text="def f():\n    return 2\n\n",
        new_text="def f() -> int:\n    return 2\n\n",
    )
    assert result(ctx) == "def f() -> int:\n    return 2\n" + TEXT.partition("1\n")[2]


async def test_putting_the_old_text_back_takes_the_proposal_back() -> None:
    ctx = await working_context()
    answer = await use(EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 1")
    assert answer == "No longer proposed: h1.\n"
    assert states(ctx) == {"h1": "withdrawn"}
    assert result(ctx) == TEXT


async def test_what_is_proposed_again_stays_as_it_is() -> None:
    ctx = await working_context()
    answer = await use(EDIT_FILE, ctx, file="a.py", position="replace:2", content="    return 2")
    assert answer.startswith("Proposed h1 at line 2 (replace)")
    assert states(ctx) == {"h1": "pending"}


async def test_text_of_the_file_has_priority_over_pending_text() -> None:
    ctx = await working_context("def f():\n    return 1\nreturn 2\n")
    await use(EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 9")
    assert result(ctx) == "def f():\n    return 2\nreturn 9\n"


async def test_marks_that_were_copied_mean_the_pending_text() -> None:
    ctx = await working_context("def f():\n    return 1\nreturn 2\n")
    shown = await use(READ_FILE, ctx, file="a.py")
    line = next(line for line in shown.splitlines() if "h1+" in line)
    await use(EDIT_FILE, ctx, file="a.py", old_text=line, new_text="    return 9")
    assert result(ctx) == "def f():\n    return 9\nreturn 2\n"


async def test_an_exact_quote_of_pending_text_goes_before_one_that_fits_the_file_roughly() -> None:
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": "if x:\n  one()\n  two()\n"}))
    await use(READ_FILE, ctx, file="a.py")
    await use(EDIT_FILE, ctx, file="a.py", position="replace:2-3", content="    one()\n    two()")
    await use(
        EDIT_FILE,
        ctx,
        file="a.py",
        old_text="    one()\n    two()\n",
        new_text="    one()\n    three()\n",
    )
    assert result(ctx) == "if x:\n    one()\n    three()\n"


async def test_a_place_that_is_pending_twice_is_refused() -> None:
    ctx = await working_context()
    await use(EDIT_FILE, ctx, file="a.py", position="replace:6", content="    return 2")
    answer = await use(EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 3")
    assert answer.startswith("Error: 'a.py': The old text is there 2 times")
    assert states(ctx) == {"h1": "pending", "h2": "pending"}


async def test_all_places_can_be_changed_at_once() -> None:
    ctx = await working_context()
    await use(EDIT_FILE, ctx, file="a.py", position="replace:6", content="    return 2")
    await use(
        EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 3", replace_all=True
    )
    assert result(ctx) == TEXT.replace("1", "3")


async def test_pending_text_of_another_conversation_is_not_editable() -> None:
    ctx = await working_context()
    ctx.reader.turn = TurnIdentity("t1", "m", "another")
    answer = await use(EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 3")
    assert answer.startswith("Error: 'a.py': The old text is not in the file.")
    assert "h1+" not in await use(READ_FILE, ctx, file="a.py")


async def test_the_users_typing_within_pending_lines_is_kept() -> None:
    ctx = await working_context()
    type_into(ctx.reader.workspace, ctx.reader.ledger, WireEdit(1, 0, 1, 4, "  "))
    assert "   h1+\t  return 2\n" in await use(READ_FILE, ctx, file="a.py")
    await use(EDIT_FILE, ctx, file="a.py", old_text="  return 2", new_text="  return 3")
    assert result(ctx) == TEXT.replace("    return 1", "  return 3", 1)


async def test_what_the_user_has_written_over_is_not_there_to_be_quoted() -> None:
    ctx = await working_context()
    type_into(ctx.reader.workspace, ctx.reader.ledger, WireEdit(1, 0, 1, 12, "    yield 7"))
    answer = await use(EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 3")
    assert answer.startswith("Error: 'a.py': The old text is not in the file.")
    assert states(ctx) == {"h1": "conflict"}


async def test_overlap_with_a_pending_hunk_is_reported_with_a_remedy() -> None:
    ctx = await working_context()
    answer = await use(EDIT_FILE, ctx, file="a.py", position="replace:1-2", content="x")
    assert answer.endswith("To change what is pending, quote that text as `old_text`.")


async def test_superseded_hunks_are_reported() -> None:
    ctx = await working_context()
    ctx.reader.turn = TurnIdentity("t2", "m", "main")
    answer = await use(EDIT_FILE, ctx, file="a.py", position="replace:1-2", content="x")
    assert answer.endswith("No longer proposed, because this takes its place: h1.\n")
    assert states(ctx) == {"h1": "superseded", "h2": "pending"}


async def test_amendment_passes_the_policy_check() -> None:
    ctx = await working_context()
    only_adding = dataclasses.replace(ctx.proposer.rules.settings, can_delete=False)
    ctx.proposer.rules = dataclasses.replace(ctx.proposer.rules, settings=only_adding)
    answer = await use(EDIT_FILE, ctx, file="a.py", old_text="return 2", new_text="return 3")
    assert answer.startswith("Error: Refused by the rule edit.canDelete")
    assert states(ctx) == {"h1": "pending"}


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        ({"old_text": "x = 1", "new_text": "x = 2"}, "x = 2\ny = 1\n"),
        ({"position": "end", "content": "z = 3"}, "x = 1\ny = 1\nz = 3\n"),
        ({"position": "replace:2", "content": "y = 2"}, "x = 1\ny = 2\n"),
    ],
)
async def test_a_new_file_that_waits_can_be_read_and_edited(
    edit: dict[str, str], text: str
) -> None:
    ctx = make_tool_context(make_workspace())
    await use(CREATE_FILE, ctx, file="new.py", content="x = 1\ny = 1\n")
    assert await use(READ_FILE, ctx, file="new.py") == (
        "(new.py does not exist yet: this is your pending proposal h1.)\n     1\tx = 1\n     "
        "2\ty = 1\n"
    )
    answer = await use(EDIT_FILE, ctx, file="new.py", **edit)
    assert answer == "Proposed h2: the new file new.py. It waits for the user.\n"
    assert states(ctx) == {"h1": "superseded", "h2": "pending"}
    assert ctx.reader.ledger.hunk("h2").new == text
