"""`link_files`: a link in the note's own style, at its place."""

import pytest

from stet.tools.link_files import LINK_FILES
from stet.tools.tool import ToolContext
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace

OTHERS: dict[str, str | bytes] = {
    "/ws/notes/Set up.md": "# Set up\n",
    "/ws/b.md": "",
    "/ws/pic.png": b"\x89PNG\0",
}


def context_of(
    text: str, others: dict[str, str | bytes] | None = None, name: str = "a.md"
) -> ToolContext:
    world = make_workspace({**OTHERS, **(others or {})}, opened={f"/ws/{name}": text})
    return make_tool_context(world, asked=f"/ws/{name}")


async def linked(note: str, to: str = "b.md", **more: object) -> str:
    """The note with the link accepted."""
    others = more.pop("others", None)
    ctx = context_of(note, others)  # type: ignore[arg-type]
    answer = await use(LINK_FILES, ctx, file="a.md", to=to, **more)
    assert answer.startswith("Proposed "), answer
    document = ctx.reader.workspace.document("file:///ws/a.md")
    assert document is not None
    assert document.text == note
    ids = [hunk.id for hunk in ctx.reader.ledger.live(document.uri)]
    return ctx.reader.ledger.edit_of(document, ids).apply(note)


@pytest.mark.parametrize(
    ("text", "to", "more", "after"),
    [
        ("Text [x](pic.png).\n", "b.md", {}, "Text [x](pic.png).\n\n[b](b.md)\n"),
        ("See [[b]].\n", "notes/Set up.md", {}, "See [[b]].\n\n[[Set up]]\n"),
        ("See [[b]].\n", "pic.png", {"text": "A picture"}, "See [[b]].\n\n[[pic.png|A picture]]\n"),
        ("See [[b]].\n", "pic.png", {"text": "A|B"}, "See [[b]].\n\n[A|B](pic.png)\n"),
        ("", "notes/Set up.md", {}, "[Set up](notes/Set%20up.md)\n"),
        ("", "b.md", {"text": " a [b]\nc\\ "}, "[a \\[b\\] c\\\\](b.md)\n"),
        ("- one\n* two\n", "b.md", {}, "- one\n* two\n* [b](b.md)\n"),
        ("  3. x", "b.md", {}, "  3. x\n  4. [b](b.md)"),
        ("- [ ] do it\r\n\r\n\r\n", "b.md", {}, "- [ ] do it\r\n- [b](b.md)\r\n\r\n\r\n"),
    ],
)
async def test_the_link_is_written_as_the_note_has_them(
    text: str, to: str, more: dict[str, object], after: str
) -> None:
    assert await linked(text, to, **more) == after


async def test_a_note_without_links_takes_the_style_of_the_others() -> None:
    others = {"/ws/c.md": "[[b]] [[b]] [b](b.md)"}
    assert await linked("Text\n", others=others) == "Text\n\n[[b]]\n"


async def test_of_two_files_of_a_name_the_one_that_is_meant_is_linked() -> None:
    others = {"/ws/x/n.md": "", "/ws/y/n.md": ""}
    assert await linked("[[b]]\n", "y/n.md", others=others) == "[[b]]\n\n[[y/n]]\n"


@pytest.mark.parametrize(
    ("text", "heading", "after"),
    [
        (
            "# A\n\n## Related\n\n- [x](pic.png)\n\n## End\nz\n",
            "## Related",
            "# A\n\n## Related\n\n- [x](pic.png)\n- [b](b.md)\n\n## End\nz\n",
        ),
        ("# A\nText\n# B\n", "A", "# A\nText\n\n[b](b.md)\n\n# B\n"),
        ("# A\n# B\n", "# A", "# A\n\n[b](b.md)\n\n# B\n"),
        ("A\n===\n", "A", "A\n===\n\n[b](b.md)\n"),
        ("# A\n\n```\n# no heading\n```\n", "A", "# A\n\n```\n# no heading\n```\n\n[b](b.md)\n"),
    ],
)
async def test_link_after_a_heading_goes_to_the_end_of_its_section(
    text: str, heading: str, after: str
) -> None:
    assert await linked(text, after=heading) == after


async def test_what_is_linked_there_already_is_not_proposed() -> None:
    ctx = context_of("# A\n[[b]]\n# C\n")
    answer = await use(LINK_FILES, ctx, file="a.md", to="b.md", after="A")
    assert answer == "a.md links to b.md there already, at line 2; nothing is proposed.\n"
    assert ctx.reader.ledger.hunks() == ()
    assert (await use(LINK_FILES, ctx, file="a.md", to="b.md", after="C")).startswith("Proposed")


async def test_files_that_cannot_be_linked_are_reported_with_a_remedy() -> None:
    ctx = context_of("# A\n", {"/ws/.env": "KEY=1", "/ws/code.py": ""})
    code = await use(LINK_FILES, ctx, file="code.py", to="b.md")
    assert code.startswith("Error: 'code.py' is not a Markdown note")
    assert "`edit_file`" in code
    assert "no file 'c.md' to link to. `list_files`" in await use(
        LINK_FILES, ctx, file="a.md", to="c.md"
    )
    for folder in ("notes/", "notes", "."):
        assert await use(LINK_FILES, ctx, file="a.md", to=folder) == (
            f"Error: {folder!r} is a folder, and a link leads to a file: name one in it, such as "
            "an index or overview. `list_files` gives names."
        )
    assert "looks like a secret" in await use(LINK_FILES, ctx, file="a.md", to=".env")
    assert "There is no heading 'B'" in await use(
        LINK_FILES, ctx, file="a.md", to="b.md", after="B"
    )
    assert "edit.scope" in await use(LINK_FILES, ctx, file="b.md", to="a.md")
    assert ctx.reader.ledger.hunks() == ()
