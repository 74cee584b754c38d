"""`update_properties`: the front matter of a note, as ordinary hunks."""

import asyncio

import pytest
from pydantic import ValidationError

from stet.lsp.tasks import Tasks
from stet.settings.values import EditSettings, Settings
from stet.tools.tool import ToolContext
from stet.tools.update_properties import UPDATE_PROPERTIES
from tests.support.agent_harness import make_tool_context, type_into, use
from tests.support.workspaces import insertion, make_workspace

TEXT = "---\ntitle: Old # why\nn: 1\n---\nBody\n"


def context_of(text: str = TEXT, name: str = "a.md", **settings: object) -> ToolContext:
    edit = EditSettings(**settings)  # type: ignore[arg-type]
    world = make_workspace(opened={f"/ws/{name}": text}, settings=Settings(edit=edit))
    return make_tool_context(world, asked=f"/ws/{name}")


def result(ctx: ToolContext, name: str = "a.md") -> str:
    document = ctx.reader.workspace.document(f"file:///ws/{name}")
    assert document is not None
    ids = [hunk.id for hunk in ctx.reader.ledger.live(document.uri)]
    return ctx.reader.ledger.edit_of(document, ids).apply(document.text)


async def test_properties_are_proposed_and_the_rest_stays() -> None:
    ctx = context_of()
    answer = await use(UPDATE_PROPERTIES, ctx, file="a.md", set={"title": "New"}, remove=["n"])
    (hunk,) = ctx.reader.ledger.hunks()
    assert answer == (
        f"Proposed {hunk.id}: properties of a.md (title, n). They wait for the user.\n"
    )
    assert result(ctx) == "---\ntitle: New # why\n---\nBody\n"


async def test_unchanged_property_is_not_proposed() -> None:
    ctx = context_of()
    answer = await use(UPDATE_PROPERTIES, ctx, file="a.md", set={"n": 1}, remove=["none"])
    assert answer == "a.md already says so; nothing to do.\n"
    assert ctx.reader.ledger.hunks() == ()


async def test_only_notes_get_a_front_matter() -> None:
    ctx = context_of("x = 1\n", "a.py")
    answer = await use(UPDATE_PROPERTIES, ctx, file="a.py", set={"n": 1})
    assert answer == "Error: 'a.py' is not a Markdown note and has no front matter."
    ctx = context_of("---\nn: 2\n---\n", "a.html")
    await use(UPDATE_PROPERTIES, ctx, file="a.html", set={"n": 1})
    assert result(ctx, "a.html") == "---\nn: 1\n---\n"


async def test_bad_yaml_is_an_error_that_names_the_line() -> None:
    ctx = context_of("---\nok: 1\nx: [1\n---\n")
    answer = await use(UPDATE_PROPERTIES, ctx, file="a.md", set={"n": 1})
    assert answer.startswith("Error: 'a.md', line 4: ")


async def test_policy_decides() -> None:
    ctx = context_of(can_delete=False)
    answer = await use(UPDATE_PROPERTIES, ctx, file="a.md", set={"title": "New"})
    assert answer.startswith("Error: Refused by the rule edit.canDelete")
    assert [(r.position, r.rule) for r in ctx.reader.report.rejected] == [
        ("properties", "edit.canDelete")
    ]


async def test_what_is_typed_meanwhile_is_kept() -> None:
    ctx = context_of()
    changing = Tasks().spawn(use(UPDATE_PROPERTIES, ctx, file="a.md", set={"n": 2}), "change")
    await asyncio.sleep(0)
    type_into(ctx.reader.workspace, ctx.reader.ledger, insertion(1, 0, "typed: x\n"), "/ws/a.md")
    assert (await changing).startswith("Proposed")
    assert result(ctx) == "---\ntyped: x\ntitle: Old # why\nn: 2\n---\nBody\n"


@pytest.mark.parametrize("arguments", [{}, {"set": {"a": 1}, "remove": ["a"]}, {"set": [1]}])
def test_arguments_that_mean_nothing_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        UPDATE_PROPERTIES.params.model_validate({"file": "a.md", **arguments})
