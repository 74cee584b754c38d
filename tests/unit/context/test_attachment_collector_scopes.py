"""Which files come with a question: by scope, nearest first, with walls, and what is attached."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.context.context_builder import Context, EditorLocation, build_context
from stet.settings.values import ContextSettings, Scope, Settings
from stet.workspace.attachments import Attachments
from stet.workspace.workspace import Workspace
from tests.support.memory_system import START, MemorySystem
from tests.support.workspaces import make_workspace, open_document

NOTES = {
    "/ws/a.md": "[[b]]\n",
    "/ws/b.md": "[[c]]\n",
    "/ws/c.md": "[[d]] [[in/e]]\n",
    "/ws/d.md": "d\n",
    "/ws/in/e.md": "[[f]]\n",
    "/ws/f.md": "f\n",
    "/ws/back.md": "[[a]]\n",
}
A = "file:///ws/a.md"


def settings(**values: object) -> Settings:
    return Settings(context=replace(ContextSettings(), **values))  # type: ignore[arg-type]


def asked(
    world: Workspace, prompt: str = "Why?", attachments: Attachments | None = None
) -> Context:
    return build_context(world.snapshot(), EditorLocation(A), prompt, attachments=attachments)


def attached(context: Context) -> tuple[list[str], list[str]]:
    """Names of the files in the section of what is attached, and what it says besides."""
    text = next((one.text for one in context.sections if one.name == "attached_files"), "")
    lines = text.split("\n")
    names = [line.split('"')[1] for line in lines if line.startswith("<file_contents")]
    return names, [line for line in lines if line.startswith("(")]


@pytest.mark.parametrize(
    ("depth", "names"),
    [
        (0, []),
        (1, ["back.md", "b.md"]),
        (2, ["back.md", "b.md", "c.md"]),
        (3, ["back.md", "b.md", "c.md", "in/e.md", "d.md"]),
    ],
)
def test_links_are_followed_breadth_first_and_both_ways(depth: int, names: list[str]) -> None:
    system = MemorySystem()
    for n, path in enumerate(NOTES):
        system.add_file(path, NOTES[path], mtime=START + n)
    world = Workspace(system, settings(scope="linked", link_depth=depth))
    world.add_root("file:///ws")
    open_document(world, A, "[[b]]\n")
    # Of one distance the latest written comes first, but never before what is nearer.
    assert attached(asked(world)) == (names, [])


def test_files_without_room_are_named_nearest_first() -> None:
    cut = settings(scope="linked", link_depth=3, max_files=2)
    world = make_workspace(NOTES, opened={"/ws/a.md": "[[b]]\n"}, settings=cut)
    names, notes = attached(asked(world))
    assert names == ["b.md", "back.md"]
    assert notes == [
        "(cut: context.maxFiles is 2; in scope too, but not shown: c.md, d.md, in/e.md; "
        "`read_file` shows them)"
    ]


def test_names_of_omitted_files_are_limited() -> None:
    files = {f"/ws/n{n:02}.md": "x\n" for n in range(30)}
    world = make_workspace(
        files, opened={"/ws/a.md": ""}, settings=settings(scope="folder", max_files=0)
    )
    names, [notes] = attached(asked(world))
    assert names == []
    assert "n00.md, n01.md" in notes
    assert "n19.md and 10 more;" in notes


def test_hidden_files_are_not_counted_as_left_out() -> None:
    opened = {"/ws/.env": "K=1\n", "/ws/in/e.md": "e\n", "/ws/b.md": "b\n", "/ws/a.md": "a\n"}
    hiding = settings(max_files=0, excluded_folders=("in",))
    names, notes = attached(asked(make_workspace(NOTES, opened=opened, settings=hiding)))
    assert (names, len(notes)) == ([], 1)
    assert "not shown: b.md;" in notes[0]


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from([f"{folder}{n}" for folder in ("", "wall/", "open/") for n in range(4)]),
        st.lists(st.integers(0, 11), max_size=4),
    ),
    st.sampled_from(["current", "linked", "folder", "open"]),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_no_scope_crosses_an_excluded_folder(
    links: dict[str, list[int]], scope: Scope, depth: int, max_files: int
) -> None:
    every = [f"{folder}{n}" for folder in ("", "wall/", "open/") for n in range(4)]
    files = {
        f"/ws/{name}.md": "canary\n" * name.startswith("wall")
        + "".join(f"[[{every[n]}]]\n" for n in links.get(name, []))
        for name in every
    }
    chosen = settings(
        scope=scope, link_depth=depth, max_files=max_files, excluded_folders=("wall",)
    )
    opened = {path: files[path] for path in list(files)[3:7]} | {"/ws/a.md": "[[0]] [[wall/0]]\n"}
    world = make_workspace(files, opened=opened, settings=chosen)
    tried = Attachments(("file:///ws/wall/1.md",), ("file:///ws/wall", "file:///ws/open"))
    for attachments in (Attachments(), tried):
        context = asked(world, attachments=attachments)
        assert "canary" not in context.text
        assert not any("/wall/" in document.uri for document in context.shown)
        folder_files = [name for name in attached(context)[0] if not name.startswith("open/")]
        assert len(folder_files) <= max_files


def test_attachments_come_whole_and_before_the_scope() -> None:
    files = {**NOTES, "/ws/long.md": "line\n" * 50, "/ws/docs/x.md": "x\n" * 50}
    world = make_workspace(files, opened={"/ws/b.md": "new\n", "/ws/a.md": ""})
    chosen = Attachments(("file:///ws/long.md", "file:///ws/b.md", A), ("file:///ws/docs",))
    context = asked(world, attachments=chosen)
    assert attached(context) == (["long.md", "b.md", "docs/x.md"], [])
    assert (
        'path="long.md" mtime="2023-11-14T22:13:20Z" lines="1-50" total_lines="50"' in context.text
    )
    assert 'lines="1-20" total_lines="50"' in context.text
    assert '<folder_contents path="docs">\ndocs/x.md\n</folder_contents>' in context.text
    assert "     1\tnew\n" in context.text
    # What is shown may be edited in the scope `context`; each file once.
    assert [document.uri.removeprefix("file:///ws/") for document in context.shown] == [
        "a.md",
        "long.md",
        "b.md",
        "docs/x.md",
    ]


def test_attachment_that_is_mentioned_is_shown_once_and_whole() -> None:
    world = make_workspace({**NOTES, "/ws/docs/x.md": "x\n" * 50}, opened={"/ws/a.md": ""})
    chosen = Attachments(("file:///ws/docs/x.md", "file:///ws/b.md"))
    context = asked(world, "See @docs/ and @b.md", chosen)
    assert attached(context)[0] == ["docs/x.md"]
    assert context.text.count('path="docs/x.md"') == 1
    assert context.text.count('path="b.md"') == 1
    assert 'lines="1-50" total_lines="50"' in context.text


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (Attachments(scope="current"), []),
        (Attachments(scope="linked", link_depth=1), ["b.md", "back.md"]),
        (Attachments(scope="linked", link_depth=0), []),
        (Attachments(link_depth=2), ["in/e.md"]),
    ],
)
def test_scope_of_the_attachments_overrides_the_settings(
    chosen: Attachments, names: list[str]
) -> None:
    world = make_workspace(NOTES, opened={"/ws/in/e.md": "", "/ws/a.md": "[[b]]\n"})
    assert attached(asked(world, attachments=chosen))[0] == names


def test_missing_attachment_is_reported_and_a_hidden_one_only_to_the_user() -> None:
    hiding = settings(excluded_folders=("in",))
    world = make_workspace(NOTES, opened={"/ws/a.md": ""}, settings=hiding)
    chosen = Attachments(
        ("file:///ws/gone.md", "file:///ws/in/e.md"),
        ("file:///ws/in", "file:///ws/no"),
        problems=("preset 'p': There is no file or folder 'x.md'.",),
    )
    context = asked(world, attachments=chosen)
    assert attached(context)[1] == [
        "(gone.md: There is no file 'gone.md'.)",
        "(no: no such folder.)",
    ]
    assert context.problems == (
        "gone.md: There is no file 'gone.md'.",
        "no: no such folder.",
        "preset 'p': There is no file or folder 'x.md'.",
        "in/e.md: 'in' is an excluded folder.",
        "in: 'in' is an excluded folder.",
    )
    assert "in/e.md" not in context.text


def test_long_attachments_are_shortened_with_a_notice() -> None:
    files = {f"/ws/{n}.md": "x" * 99 + "\n" + "y\n" * 30_000 for n in range(4)}
    many = settings(current_file_lines=100_000, head_lines=2)
    world = make_workspace(files, opened={"/ws/a.md": ""}, settings=many)
    context = asked(world, attachments=Attachments(tuple(f"file://{path}" for path in files)))
    assert attached(context) == (
        ["0.md", "1.md", "2.md", "3.md"],
        [
            "(cut: of 3 of these files only the first lines are shown, because all together are "
            "too long; `read_file` shows the rest)"
        ],
    )
