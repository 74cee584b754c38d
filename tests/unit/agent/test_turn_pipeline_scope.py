"""The editable scope of a turn, above all `linked`."""

from dataclasses import replace

import pytest

from stet.agent.turn import Ask, Mode
from stet.agent.turn_rules import create_turn_rules, linked_files
from stet.context.context_builder import EditorLocation, build_context
from stet.links.link_scan import scan_links
from stet.llm.scripted_model import Reply, call
from stet.review.policy.rules import EditRules
from stet.settings.values import ContextSettings, EditSettings, Settings
from stet.text.document import TextDocument
from stet.workspace.workspace import Workspace
from tests.support.agent_harness import AgentHarness
from tests.support.workspaces import make_workspace

FILES = {
    "/ws/out.md": "# Out\n[far](deep/far.md)\n",
    "/ws/in/back.md": "[[a]]\n",
    "/ws/deep/far.md": "far\n",
    "/ws/other.md": "other\n",
}
A = "file:///ws/a.md"


def world_of(edit_scope: str = "linked", **context: object) -> Workspace:
    settings = Settings(
        edit=replace(EditSettings(), scope=edit_scope),  # type: ignore[arg-type]
        context=replace(ContextSettings(), **context),  # type: ignore[arg-type]
    )
    return make_workspace(FILES, opened={"/ws/a.md": "[[out]]\n"}, settings=settings)


def rules(world: Workspace, *shown: str) -> EditRules:
    ask = Ask(prompt="", mode=Mode.AGENT, place=EditorLocation(A), chat="main")
    documents = {f"file:///ws/{name}": TextDocument(f"file:///ws/{name}", "") for name in shown}
    linked = linked_files(A, scan_links(world.snapshot()))
    return create_turn_rules(ask, world, documents, linked)


@pytest.mark.parametrize(
    ("scope", "editable"),
    [
        ("current", {"a.md"}),
        ("linked", {"a.md", "out.md", "in/back.md"}),
        ("context", {"a.md", "other.md"}),
    ],
)
def test_each_scope_holds_its_files(scope: str, editable: set[str]) -> None:
    edit_rules = rules(world_of(scope), "other.md")
    names = [*(path.removeprefix("/ws/") for path in FILES), "a.md"]
    assert {name for name in names if edit_rules.editable(f"file:///ws/{name}")} == editable


@pytest.mark.parametrize(
    ("scope", "folders"),
    [("current", {""}), ("linked", {"", "in/"}), ("context", {"", "in/", "deep/", "new/"})],
)
def test_new_files_go_where_the_scope_has_files(scope: str, folders: set[str]) -> None:
    edit_rules = rules(world_of(scope))
    every = ["", "in/", "deep/", "new/"]
    assert {each for each in every if edit_rules.may_create(f"file:///ws/{each}x.md")} == folders
    assert not edit_rules.may_create("file:///elsewhere/x.md")
    assert not edit_rules.may_create("untitled:x")


def test_without_an_active_file_nothing_is_linked_with_it() -> None:
    world = world_of()
    assert linked_files(None, scan_links(world.snapshot())) == ()
    ask = Ask(prompt="", mode=Mode.AGENT, place=EditorLocation(), chat="main")
    edit_rules = create_turn_rules(ask, world, {}, ())
    assert not edit_rules.editable(A)
    assert not edit_rules.may_create("file:///ws/x.md")


async def test_a_turn_in_the_scope_linked_edits_what_is_linked_and_nothing_else() -> None:
    def edit(file: str) -> Reply:
        return call("edit_file", file=file, old_text=FILES[f"/ws/{file}"].split()[0], new_text="x")

    replies = [edit("out.md"), edit("in/back.md"), edit("deep/far.md"), edit("other.md")]
    table = AgentHarness(world_of(), [*replies, call("done", summary="Done.")])
    turn = await table.end_of(table.start(file="/ws/a.md"))
    assert sorted(hunk.uri for hunk in table.hunks) == [
        "file:///ws/in/back.md",
        "file:///ws/out.md",
    ]
    assert [(each.file, each.rule) for each in turn.rejected] == [
        ("deep/far.md", "edit.scope"),
        ("other.md", "edit.scope"),
    ]


@pytest.mark.parametrize(
    ("depth", "attached"),
    [
        (0, []),
        (1, ["in/back.md", "out.md"]),
        (2, ["deep/far.md", "in/back.md", "out.md"]),
    ],
)
def test_the_context_linked_reaches_as_far_as_the_user_says(
    depth: int, attached: list[str]
) -> None:
    world = world_of("context", scope="linked", link_depth=depth)
    shown = build_context(world.snapshot(), EditorLocation(A), "Why?").shown
    names = sorted(document.uri.removeprefix("file:///ws/") for document in shown)
    assert names == sorted(["a.md", *attached])


def test_an_excluded_folder_is_a_wall_for_the_context() -> None:
    world = world_of("context", scope="linked", link_depth=3, excluded_folders=("in", "deep"))
    shown = build_context(world.snapshot(), EditorLocation(A), "Why?").shown
    assert sorted(document.uri for document in shown) == [A, "file:///ws/out.md"]
