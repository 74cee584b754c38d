"""What the tools that write propose, and what they answer where they do not."""

import asyncio
import json

import pytest
from pydantic import ValidationError

from stet.agent.toolbox import ALL_TOOLS
from stet.agent.turn import Mode
from stet.lsp.tasks import Tasks
from stet.settings.values import EditSettings, Settings
from stet.tools.create_file import CREATE_FILE
from stet.tools.done import DONE
from stet.tools.edit_file import EDIT_FILE
from stet.tools.read_file import READ_FILE
from stet.tools.tool import Tool, ToolContext
from stet.workspace.workspace import WireEdit
from tests.support.agent_harness import make_tool_context, type_into, use
from tests.support.workspaces import close_document, insertion, make_workspace

TEXT = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"


async def reading_context(text: str = TEXT, **settings: object) -> ToolContext:
    """Return a tool context in which `a.py` has been read."""
    edit = EditSettings(**settings)  # type: ignore[arg-type]
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": text}, settings=Settings(edit=edit)))
    await use(READ_FILE, ctx, file="a.py")
    return ctx


def result(ctx: ToolContext) -> str:
    """The open file with all proposals accepted."""
    document = ctx.reader.workspace.document("file:///ws/a.py")
    assert document is not None
    ids = [hunk.id for hunk in ctx.reader.ledger.live(document.uri)]
    return ctx.reader.ledger.edit_of(document, ids).apply(document.text)


async def test_text_is_replaced_and_the_file_stays_as_it_was() -> None:
    ctx = await reading_context()
    answer = await use(
        EDIT_FILE,
        ctx,
        file="a.py",
        old_text="def g():\n    return 1",
        new_text="def g():\n    pass",
    )
    (hunk,) = ctx.reader.ledger.hunks()
    assert answer == (
        f"Proposed {hunk.id} at line 6 (replace) in a.py. They wait for the user; the file itself "
        "is unchanged, so its line numbers stay as shown.\n"
    )
    assert result(ctx) == TEXT[:-13] + "    pass\n"
    document = ctx.reader.workspace.document("file:///ws/a.py")
    assert document is not None
    assert document.text == TEXT


async def test_every_place_is_replaced_where_that_is_asked() -> None:
    ctx = await reading_context()
    await use(EDIT_FILE, ctx, file="a.py", old_text="1", new_text="2", replace_all=True)
    assert result(ctx) == TEXT.replace("1", "2")


async def test_a_position_is_that_of_the_text_that_was_shown() -> None:
    ctx = await reading_context()
    type_into(ctx.reader.workspace, ctx.reader.ledger, insertion(0, 0, "# typed since\n"))
    await use(EDIT_FILE, ctx, file="a.py", position="replace:2", content="    return 2")
    await use(EDIT_FILE, ctx, file="a.py", position="start", content="# start")
    await use(EDIT_FILE, ctx, file="a.py", position="end", content="# end")
    assert result(ctx) == ("# start\n# typed since\n" + TEXT.replace("1", "2", 1) + "# end\n")


async def test_position_end_is_the_end_of_the_current_text() -> None:
    ctx = await reading_context("a")
    type_into(ctx.reader.workspace, ctx.reader.ledger, insertion(0, 1, "b"))
    await use(EDIT_FILE, ctx, file="a.py", position="end", content="c")
    assert result(ctx) == "ab\nc"


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"old_text": "    return 1", "new_text": "x"}, "Error: 'a.py': "),
        ({"old_text": "nothing like it", "new_text": "x"}, "Error: 'a.py': "),
        (
            {"position": "replace:99", "content": "x"},
            "Error: 'a.py': replace:99-99 is past the end",
        ),
        ({"position": "", "content": "x"}, "Error: 'a.py': There is no position ''"),
        ({"position": "create", "content": "x"}, "Error: 'a.py' already exists."),
        ({"position": " create", "content": "x"}, "Error: 'a.py' already exists."),
        ({"old_text": "def h():", "new_text": "def g():"}, "a.py already says so"),
        ({"position": "replace:1", "content": "def f():"}, "a.py already says so"),
        ({"position": "end"}, "a.py already says so"),
    ],
)
async def test_edit_without_an_effect_is_reported_with_a_reason(
    arguments: dict[str, object], answer: str
) -> None:
    ctx = await reading_context()
    assert (await use(EDIT_FILE, ctx, file="a.py", **arguments)).startswith(answer)
    assert ctx.reader.ledger.hunks() == ()


async def test_an_ambiguous_place_is_refused_with_its_lines() -> None:
    ctx = await reading_context()
    answer = await use(EDIT_FILE, ctx, file="a.py", old_text="    return 1", new_text="x")
    assert "2" in answer
    assert "6" in answer


async def test_a_gutter_that_was_copied_is_no_part_of_the_text() -> None:
    ctx = await reading_context()
    await use(
        EDIT_FILE,
        ctx,
        file="a.py",
        old_text="     1\tdef f():\n     2\t    return 1",
        new_text="     1\tdef f():\n     2\t    return 2",
    )
    assert result(ctx) == TEXT.replace("1", "2", 1)


async def test_lines_that_the_user_changed_are_reported() -> None:
    ctx = await reading_context()
    type_into(ctx.reader.workspace, ctx.reader.ledger, WireEdit(1, 0, 1, 12, "    yield"))
    by_text = await use(
        EDIT_FILE, ctx, file="a.py", old_text="def f():\n    return 1", new_text="x"
    )
    assert "changed" in by_text
    by_line = await use(EDIT_FILE, ctx, file="a.py", position="replace:2", content="x")
    assert "changed these lines" in by_line
    assert "Read the file again" in by_line


async def test_lines_of_a_file_that_was_never_shown_mean_nothing() -> None:
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": TEXT}))
    answer = await use(EDIT_FILE, ctx, file="a.py", position="replace:1", content="x")
    assert "Read it first" in answer


async def test_a_second_edit_of_the_same_lines_is_refused() -> None:
    ctx = await reading_context()
    await use(EDIT_FILE, ctx, file="a.py", position="replace:2", content="x")
    answer = await use(EDIT_FILE, ctx, file="a.py", position="replace:1-2", content="y")
    assert "already have a pending hunk" in answer
    assert "one edit" in answer


async def test_policy_refusal_is_reported_to_the_model_and_recorded_for_the_user() -> None:
    ctx = await reading_context(can_delete=False)
    answer = await use(EDIT_FILE, ctx, file="a.py", position="delete:1", summary="Take it out")
    assert answer.startswith("Error: Refused by the rule edit.canDelete: ")
    (rejected,) = ctx.reader.report.rejected
    assert (rejected.file, rejected.position, rejected.rule) == (
        "a.py", "delete:1", "edit.canDelete",
    )  # fmt: skip


async def test_a_file_outside_the_scope_can_be_edited_once_it_is_read() -> None:
    ctx = make_tool_context(make_workspace({"/ws/b.py": "b = 1\n"}, opened={"/ws/a.py": TEXT}))
    edit = {"file": "b.py", "old_text": "1", "new_text": "2"}
    assert "edit.scope" in await use(EDIT_FILE, ctx, **edit)
    await use(READ_FILE, ctx, file="b.py")
    assert (await use(EDIT_FILE, ctx, **edit)).startswith("Proposed")


async def test_the_scope_current_is_the_file_that_was_asked_from() -> None:
    settings = Settings(edit=EditSettings(scope="current"))
    world = make_workspace({"/ws/b.py": "b\n", "/ws/sub/c.py": ""}, opened={"/ws/a.py": TEXT})
    world.with_settings(settings)
    ctx = make_tool_context(world, asked="file:///ws/%61.py")
    await use(READ_FILE, ctx, file="b.py")
    assert "edit.scope" in await use(EDIT_FILE, ctx, file="b.py", old_text="b", new_text="c")
    edited = await use(EDIT_FILE, ctx, file="a.py", old_text="def f", new_text="def h")
    assert edited.startswith("Proposed")
    assert (await use(CREATE_FILE, ctx, file="beside.py", content="")).startswith("Proposed")
    assert "edit.scope" in await use(CREATE_FILE, ctx, file="sub/d.py", content="")


async def test_a_new_file_is_proposed_once_and_only_where_nothing_is() -> None:
    ctx = make_tool_context(make_workspace({"/ws/b.py": "b\n"}))
    answer = await use(CREATE_FILE, ctx, file="sub/new.py", content="x = 1\n")
    (hunk,) = ctx.reader.ledger.hunks()
    assert answer == f"Proposed {hunk.id}: the new file sub/new.py. It waits for the user.\n"
    assert (hunk.kind, hunk.uri, hunk.new) == ("create", "file:///ws/sub/new.py", "x = 1\n")
    assert await use(CREATE_FILE, ctx, file="b.py", content="") == (
        "Error: 'b.py' already exists. Change it with `edit_file`."
    )
    assert (await use(CREATE_FILE, ctx, file="../b.py", content="")).startswith("Error: ")


async def test_a_file_below_a_link_is_judged_by_where_it_leads() -> None:
    world = make_workspace(
        {"/ws/.github/workflows/": ""}, links={"/ws/docs": "/ws/.github/workflows"}
    )
    ctx = make_tool_context(world)
    await use(CREATE_FILE, ctx, file="docs/ci.yml", content="on: push\n")
    (hunk,) = ctx.reader.ledger.hunks()
    assert hunk.protected


async def test_nothing_is_proposed_when_only_an_answer_is_wanted() -> None:
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": TEXT}), mode=Mode.ASK)
    edited = await use(EDIT_FILE, ctx, file="a.py", old_text="def f", new_text="def h")
    assert edited.startswith("Error: Refused by the rule mode")
    created = await use(CREATE_FILE, ctx, file="n.py", content="")
    assert created.startswith("Error: Refused by the rule mode")


async def test_done_keeps_its_summary() -> None:
    ctx = make_tool_context(make_workspace())
    assert await use(DONE, ctx, summary=" All done. ") == "Finished.\n"
    assert ctx.reader.report.summary == "All done."


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)
def test_schema_holds_the_required_parameters_only(tool: Tool) -> None:
    schema = json.dumps(tool.schema)
    assert '"title"' not in schema
    assert "anyOf" not in schema
    assert "$ref" not in schema
    assert tool.schema["additionalProperties"] is False
    assert all(prop["description"] for prop in tool.schema["properties"].values())
    assert tool.description
    assert "    " not in tool.description


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (READ_FILE, {}),
        (READ_FILE, {"file": "a", "path": "b"}),
        (READ_FILE, {"file": ["a"]}),
        (READ_FILE, {"file": "a", "start_line": 0}),
        (READ_FILE, {"file": "a", "start_line": "many"}),
        (READ_FILE, {"file": "a", "__proto__": {}}),
        (EDIT_FILE, {"file": "a"}),
        (EDIT_FILE, {"file": "a", "old_text": "x"}),
        (EDIT_FILE, {"file": "a", "old_text": "x", "new_text": "y", "position": "end"}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tool: Tool, arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        tool.params.model_validate(arguments)


async def test_what_is_typed_while_the_disk_is_asked_is_in_the_text_that_is_edited() -> None:
    ctx = await reading_context()
    looking = Tasks().spawn(ctx.reader.document_to_edit("a.py"), "look")
    await asyncio.sleep(0)
    type_into(ctx.reader.workspace, ctx.reader.ledger, insertion(0, 0, "# typed\n"))
    assert (await looking).text == "# typed\n" + TEXT


async def test_a_document_closed_while_the_disk_is_asked_is_read_from_the_disk() -> None:
    ctx = make_tool_context(make_workspace({"/ws/a.py": "disk\n"}, opened={"/ws/a.py": TEXT}))
    looking = Tasks().spawn(ctx.reader.document_to_edit("a.py"), "look")
    await asyncio.sleep(0)
    close_document(ctx.reader.workspace, "file:///ws/a.py")
    document = await looking
    assert (document.text, document.version) == ("disk\n", None)
