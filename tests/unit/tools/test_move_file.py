"""`move_file`: a file gets another name, and what names it follows."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from stet.agent.turn import Ask, Mode
from stet.agent.turn_rules import create_turn_rules
from stet.context.context_builder import EditorLocation
from stet.lsp.tasks import Tasks
from stet.review.policy.rules import EditRules
from stet.review.proposal import HunkKind, MoveDraft
from stet.review.resolve.prepared_edit import PreparedDraft, prepare_draft
from stet.settings.values import EditSettings, Settings
from stet.tools import move_file
from stet.tools.edit_file import EDIT_FILE
from stet.tools.move_file import MOVE_FILE
from stet.tools.read_file import READ_FILE
from stet.tools.tool import ToolContext
from tests.support.agent_harness import make_tool_context, type_into, use
from tests.support.workspaces import insertion, make_workspace

FILES = {
    "/ws/b.md": "# B\n\nSee [[a]] and [a](a.md#x).\n",
    "/ws/sub/c.md": "[a](../a.md)\n",
    "/ws/d.md": "nothing",
}
A = "# A\n\n![p](img/p.png) [c](sub/c.md)\n"


async def context_of(*read: str, **settings: object) -> ToolContext:
    """Return a tool context in which `a.md` is open and the named files have been read."""
    edit = EditSettings(**settings)  # type: ignore[arg-type]
    world = make_workspace(
        {**FILES, "/ws/img/p.png": b"\0"}, opened={"/ws/a.md": A}, settings=Settings(edit=edit)
    )
    ctx = make_tool_context(world, asked="/ws/a.md")
    for name in read:
        await use(READ_FILE, ctx, file=name)
    return ctx


def accepted(ctx: ToolContext) -> dict[str, str]:
    """The texts of the files with hunks of lines, all of them accepted."""
    found = {}
    for uri in ctx.reader.ledger.live_uris():
        lines = [h.id for h in ctx.reader.ledger.live(uri) if h.kind is not HunkKind.MOVE]
        if lines:
            document = ctx.reader.workspace.snapshot().show(uri)
            name = uri.removeprefix("file:///ws/")
            found[name] = ctx.reader.ledger.edit_of(document, lines).apply(document.text)
    return found


async def test_a_move_is_one_proposal_with_all_its_links() -> None:
    ctx = await context_of("a.md", "b.md", "sub/c.md")
    answer = await use(MOVE_FILE, ctx, file="a.md", to="sub/n.md")
    move = next(h for h in ctx.reader.ledger.hunks() if h.kind is HunkKind.MOVE)
    assert (move.uri, move.new_uri) == ("file:///ws/a.md", "file:///ws/sub/n.md")
    assert {hunk.proposal for hunk in ctx.reader.ledger.hunks()} == {move.proposal}
    assert accepted(ctx) == {
        "a.md": "# A\n\n![p](../img/p.png) [c](c.md)\n",
        "b.md": "# B\n\nSee [[n]] and [a](sub/n.md#x).\n",
        "sub/c.md": "[a](n.md)\n",
    }
    assert answer == (
        f"Proposed {move.id}: a.md becomes sub/n.md, with 3 changes of links (a.md, b.md, sub/c.md)."
        " It waits for the user; until then the file keeps its name.\n"
    )


async def test_a_folder_is_a_place_too() -> None:
    ctx = await context_of("d.md")
    assert "d.md becomes sub/d.md." in await use(MOVE_FILE, ctx, file="d.md", to="sub/")


async def test_files_that_would_change_must_be_read_and_are_named_at_once() -> None:
    ctx = await context_of("a.md")
    answer = await use(MOVE_FILE, ctx, file="a.md", to="sub/n.md")
    assert answer == (
        "Error: Moving 'a.md' changes files that you have not read: 'b.md', 'sub/c.md'. Read them, "
        "then move it."
    )
    assert ctx.reader.ledger.hunks() == ()


async def test_invalid_moves_are_reported() -> None:
    ctx = await context_of("a.md")
    for file, to, answer in (
        ("none.md", "x.md", "Error: There is no file 'none.md'."),
        ("a.md", "a.md", "Error: 'a.md' is already there."),
        ("a.md", "b.md", "Error: 'b.md' already exists. To move into a folder"),
        ("a.md", "sub", "Error: 'sub' already exists. To move into a folder, end it with `/`."),
        ("sub", "x", "Error: 'sub' is a folder"),
        ("a.md", "../x.md", "Error: Refused by the rule parent"),
    ):
        assert (await use(MOVE_FILE, ctx, file=file, to=to)).startswith(answer)
    assert ctx.reader.ledger.hunks() == ()
    assert [rejected.rule for rejected in ctx.reader.report.rejected] == ["parent"]


async def test_policy_decides_and_the_refusal_is_reported_to_the_user() -> None:
    ctx = await context_of("d.md", can_create=False)
    answer = await use(MOVE_FILE, ctx, file="d.md", to="e.md")
    assert answer.startswith("Error: Refused by the rule edit.canCreate")
    assert [(r.file, r.position, r.rule) for r in ctx.reader.report.rejected] == [
        ("d.md", "move", "edit.canCreate")
    ]


async def test_links_outside_the_scope_keep_a_file_where_it_is() -> None:
    ctx = await context_of("a.md", scope="current")
    answer = await use(MOVE_FILE, ctx, file="a.md", to="n.md")
    assert answer.startswith("Error: Refused by the rule edit.scope: 'a.md' can't be moved")


async def test_in_the_scope_linked_the_links_of_the_current_file_are_in_reach() -> None:
    ctx = await context_of(scope="linked")
    ask = Ask(prompt="", mode=Mode.AGENT, place=EditorLocation("file:///ws/a.md"), chat="main")
    linked = ["file:///ws/b.md", "file:///ws/sub/c.md"]
    ctx.proposer.rules = create_turn_rules(ask, ctx.reader.workspace, ctx.reader.shown, linked)
    answer = await use(MOVE_FILE, ctx, file="a.md", to="sub/n.md")
    assert answer.startswith("Proposed")
    outside = await use(MOVE_FILE, ctx, file="b.md", to="new/b.md")
    assert outside.startswith("Error: Refused by the rule edit.scope")


async def test_what_is_typed_while_links_are_looked_for_is_kept() -> None:
    ctx = await context_of("a.md", "b.md", "sub/c.md")
    moving = Tasks().spawn(use(MOVE_FILE, ctx, file="a.md", to="n.md"), "move")
    await asyncio.sleep(0)
    type_into(
        ctx.reader.workspace,
        ctx.reader.ledger,
        insertion(0, 0, "[[b]] typed [c](sub/c.md)\n"),
        "/ws/a.md",
    )
    assert (await moving).startswith("Proposed")
    assert accepted(ctx) == {
        "b.md": "# B\n\nSee [[n]] and [a](n.md#x).\n",
        "sub/c.md": "[a](../n.md)\n",
    }


async def test_policy_check_runs_in_a_worker_and_again_if_a_text_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def ask(draft: MoveDraft, rules: EditRules) -> PreparedDraft:
        asked.append(threading.current_thread() is threading.main_thread())
        return prepare_draft(draft, rules)

    async def in_a_thread(work: Callable[..., object], *given: object) -> object:
        n_asked = len(asked)
        found = await to_thread(work, *given)
        if len(asked) > n_asked == 0:
            type_into(
                ctx.reader.workspace, ctx.reader.ledger, insertion(0, 0, "typed\n"), "/ws/a.md"
            )
        return found

    to_thread = asyncio.to_thread
    ctx = await context_of("a.md", "b.md", "sub/c.md")
    monkeypatch.setattr(move_file, "prepare_draft", ask)
    monkeypatch.setattr(asyncio, "to_thread", in_a_thread)
    assert (await use(MOVE_FILE, ctx, file="a.md", to="sub/n.md")).startswith("Proposed")
    assert accepted(ctx)["a.md"] == "typed\n# A\n\n![p](../img/p.png) [c](c.md)\n"
    assert asked == [False, False]


PICTURES: dict[str, str | bytes] = {
    "/ws/img/p.png": b"\x89PNG\0", "/ws/img/q.png": b"\0", "/ws/old/p.png": b"\0",
    "/ws/a.md": A, "/ws/sub/c.md": "![[img/p.png]] <img src='../img/p.png'>\n",
    "/ws/d.md": "![[q.png]]\n",
}  # fmt: skip


def context_with_pictures(**settings: object) -> ToolContext:
    edit = EditSettings(**settings)  # type: ignore[arg-type]
    return make_tool_context(make_workspace(PICTURES, settings=Settings(edit=edit)), asked=None)


async def test_a_binary_file_is_moved_once_the_notes_that_show_it_are_read() -> None:
    ctx = context_with_pictures()
    answer = await use(MOVE_FILE, ctx, file="img/p.png", to="pic.png")
    assert answer == (
        "Error: 'img/p.png' holds no text and need not be read, but the files that link to it must "
        "be, and these are not yet: 'a.md', 'sub/c.md'. Read them, then move it."
    )
    await use(READ_FILE, ctx, file="a.md")
    assert "not yet: 'sub/c.md'." in await use(MOVE_FILE, ctx, file="img/p.png", to="pic.png")
    assert ctx.reader.ledger.hunks() == ()
    await use(READ_FILE, ctx, file="sub/c.md")
    answer = await use(MOVE_FILE, ctx, file="img/p.png", to="pic.png")
    assert "img/p.png becomes pic.png, with 2 changes of links (a.md, sub/c.md)." in answer
    assert accepted(ctx) == {
        "a.md": "# A\n\n![p](pic.png) [c](sub/c.md)\n",
        "sub/c.md": "![[pic.png]] <img src='../pic.png'>\n",
    }


async def test_a_note_that_shows_a_moved_binary_file_must_be_read_if_its_link_stays_too() -> None:
    ctx = context_with_pictures()
    assert "not yet: 'd.md'." in await use(MOVE_FILE, ctx, file="img/q.png", to="new/q.png")
    await use(READ_FILE, ctx, file="d.md")
    assert (await use(MOVE_FILE, ctx, file="img/q.png", to="new/q.png")).startswith("Proposed")
    assert accepted(ctx) == {}


async def test_a_binary_file_that_nothing_links_to_stays() -> None:
    ctx = context_with_pictures()
    answer = await use(MOVE_FILE, ctx, file="old/p.png", to="new.png")
    assert answer.startswith("Error: Refused by the rule edit.scope")


async def test_in_other_scopes_a_binary_file_stays() -> None:
    ctx = context_with_pictures(scope="current")
    answer = await use(MOVE_FILE, ctx, file="old/p.png", to="old/n.png")
    assert answer.startswith("Error: Refused by the rule edit.scope")


async def test_a_link_that_can_not_be_written_anew_is_named() -> None:
    files = {"/ws/src/main.rs": "mod b;\n", "/ws/src/b.rs": "fn x() {}\n"}
    ctx = make_tool_context(make_workspace(files))
    await use(READ_FILE, ctx, file="src/b.rs")
    answer = await use(MOVE_FILE, ctx, file="src/b.rs", to="src/a/b.rs")
    assert answer.endswith(
        "These links can't be changed by themselves; see to them with `edit_file`: 'b' in "
        "src/main.rs.\n"
    )


async def test_a_pending_edit_of_a_link_is_in_the_way() -> None:
    ctx = await context_of("a.md", "b.md", "sub/c.md")
    await use(EDIT_FILE, ctx, file="b.md", old_text="See [[a]]", new_text="Look at [[a]]")
    answer = await use(MOVE_FILE, ctx, file="a.md", to="n.md")
    assert "already have a pending hunk" in answer
