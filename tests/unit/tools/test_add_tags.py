"""`add_tags`: tags in the front matter of a note, as ordinary hunks."""

import pytest

from stet.tools.add_tags import ADD_TAGS
from stet.tools.tool import ToolContext
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace


def context_of(text: str, name: str = "a.md") -> ToolContext:
    return make_tool_context(make_workspace(opened={f"/ws/{name}": text}), asked=f"/ws/{name}")


async def test_tags_are_proposed_once_and_without_their_mark() -> None:
    ctx = context_of("---\ntags:\n  - old # keep\n---\nBody\n")
    answer = await use(ADD_TAGS, ctx, file="a.md", tags=["#new", "Old", "new"])
    (hunk,) = ctx.reader.ledger.hunks()
    assert answer == f"Proposed {hunk.id}: the tags new in a.md. They wait for the user.\n"
    assert (hunk.kind, hunk.old, hunk.new) == ("add", "", "  - new\n")


@pytest.mark.parametrize("name", ["Tags", "TAG", "tag"])
async def test_tags_go_to_the_property_that_is_there_however_it_is_spelt(name: str) -> None:
    ctx = context_of(f"---\n{name}: [a]\n---\n")
    await use(ADD_TAGS, ctx, file="a.md", tags=["A", "b"])
    (hunk,) = ctx.reader.ledger.hunks()
    assert (hunk.old, hunk.new) == (f"{name}: [a]\n", f"{name}: [a, b]\n")


async def test_a_tag_of_either_property_is_there_already() -> None:
    ctx = context_of("---\ntag: a\nTags: [b]\n---\n")
    answer = await use(ADD_TAGS, ctx, file="a.md", tags=["a", "B"])
    assert answer == "a.md has these tags already; nothing to do.\n"
    await use(ADD_TAGS, ctx, file="a.md", tags=["a", "c"])
    (hunk,) = ctx.reader.ledger.hunks()
    assert (hunk.old, hunk.new) == ("Tags: [b]\n", "Tags: [b, c]\n")


async def test_a_note_that_has_them_is_left_alone() -> None:
    ctx = context_of("---\ntags: [a]\n---\n")
    answer = await use(ADD_TAGS, ctx, file="a.md", tags=["A"])
    assert answer == "a.md has these tags already; nothing to do.\n"


async def test_invalid_arguments_are_reported() -> None:
    ctx = context_of("---\ntags: [a\n---\n")
    assert (await use(ADD_TAGS, ctx, file="a.md", tags=["b"])).startswith("Error: 'a.md', line 3: ")
    assert "write 'to-do'" in await use(ADD_TAGS, context_of(""), file="a.md", tags=["to do"])
    code = await use(ADD_TAGS, context_of("", "a.py"), file="a.py", tags=["b"])
    assert code == "Error: 'a.py' is not a Markdown note and has no front matter."
