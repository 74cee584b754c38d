"""What `get_attached_context` shows in the middle of a turn."""

from functools import partial

from stet.agent.context_refresh import current_context
from stet.context.context_builder import EditorLocation
from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.text.position import Position, Range
from stet.text.render import MAX_CHARACTERS
from stet.tools.get_attached_context import GET_ATTACHED_CONTEXT
from tests.support.agent_harness import make_tool_context, type_into, use
from tests.support.workspaces import insertion, make_workspace, open_document, uri_at

A, B = uri_at("/ws/a.py"), uri_at("/ws/b.py")
TEXT = "one\ntwo\nthree\n"


async def test_refreshed_context_shows_the_current_editor_state() -> None:
    world = make_workspace(opened={"/ws/b.py": "b\n", "/ws/a.py": TEXT})
    ctx = make_tool_context(world)
    ctx.current_context = partial(
        current_context,
        ctx.reader,
        ctx.links,
        EditorLocation(A, Range(Position(1, 0), Position(1, 3))),
    )
    first = await use(GET_ATTACHED_CONTEXT, ctx)
    assert "Path: a.py\nLine: 2\n" in first
    assert '<manually_added_selection path="a.py" lines="2-2">\ntwo\n' in first
    assert '<file_contents path="b.py"' in first
    assert "<user_query>" not in first
    assert ctx.reader.report.files_read == ["a.py", "b.py"]
    type_into(world, ctx.reader.ledger, insertion(0, 0, "new\n"))
    again = await use(GET_ATTACHED_CONTEXT, ctx)
    assert "     1\tnew\n" in again
    shown = ctx.reader.shown.last(A)
    assert shown is not None
    assert shown.text == f"new\n{TEXT}"
    assert ctx.proposer.rules.editable(B)


async def test_refreshed_context_follows_the_active_file() -> None:
    world = make_workspace(opened={"/ws/a.py": TEXT})
    ctx = make_tool_context(world)
    ctx.current_context = partial(current_context, ctx.reader, ctx.links, EditorLocation(A))
    open_document(world, B, "b\n")
    assert "Path: b.py\n" in await use(GET_ATTACHED_CONTEXT, ctx)


async def test_refreshed_context_leaves_hidden_files_out() -> None:
    settings = Settings(privacy=PrivacySettings(deny=("a.py",)))
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": TEXT}, settings=settings))
    ctx.current_context = partial(current_context, ctx.reader, ctx.links, EditorLocation(A))
    assert (await use(GET_ATTACHED_CONTEXT, ctx)).startswith("No file is open")
    assert (ctx.reader.report.files_read, len(ctx.reader.shown)) == ([], 0)


async def test_refreshed_context_shortens_files_until_it_fits() -> None:
    long = "".join(f"line {n} {'x' * 80}\n" for n in range(3000))
    ctx = make_tool_context(make_workspace(opened={"/ws/b.py": long, "/ws/a.py": long}))
    ctx.current_context = partial(
        current_context,
        ctx.reader,
        ctx.links,
        EditorLocation(A, Range(Position(1500, 0), Position(1500, 0))),
    )
    text = await use(GET_ATTACHED_CONTEXT, ctx)
    assert MAX_CHARACTERS / 4 < len(text) <= MAX_CHARACTERS
    assert "  1501\tline 1500 " in text
    assert "of 3000; `read_file` shows the others" in text
    assert text.endswith("/>\n")


async def test_refreshed_context_that_does_not_fit_is_cut_with_a_notice() -> None:
    context = ContextSettings(selection_limit=50_000)
    world = make_workspace(opened={"/ws/a.py": "x" * 50_000}, settings=Settings(context=context))
    ctx = make_tool_context(world)
    ctx.current_context = partial(
        current_context,
        ctx.reader,
        ctx.links,
        EditorLocation(A, Range(Position(0, 0), Position(0, 50_000))),
    )
    text = await use(GET_ATTACHED_CONTEXT, ctx)
    assert text.splitlines()[-1].endswith(" more characters; `read_file` shows each file)")
    assert len(text) < MAX_CHARACTERS + 200
