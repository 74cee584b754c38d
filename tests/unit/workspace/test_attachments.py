"""What is attached: each thing once, with its file wherever that goes."""

import pytest

from stet.settings.values import ContextSettings, PresetSettings, PrivacySettings, Settings
from stet.workspace.attachments import (
    Attachable,
    Attachments,
    NotAttachable,
    attachments_of,
    resolve_attachable,
)
from tests.support.workspaces import make_workspace

A, B, DOCS = "file:///ws/a.md", "file:///ws/docs/b.md", "file:///ws/docs"
BOTH = Attachments((A, B), (DOCS,), "linked", 2)
FILES = {
    "/ws/a b.md": "a\n",
    "/ws/docs/b.md": "b\n",
    "/ws/.env": "KEY=1\n",
    "/ws/deny.md": "",
    "/ws/private/c.md": "c\n",
    "/ws/out/d.log": "",
    "/ws/.gitignore": "out/\n",
    "/other/e.md": "",
}
HIDING = Settings(
    context=ContextSettings(excluded_folders=("private",)),
    privacy=PrivacySettings(deny=("deny.md",)),
)


def test_what_is_attached_twice_is_there_once() -> None:
    assert BOTH.with_more(["file:///ws/%61.md"], [f"{DOCS}/"]) == BOTH
    assert Attachments().with_more([B, A, B], [DOCS]).files == (B, A)


def test_what_moves_is_still_attached_and_folders_take_their_files_along() -> None:
    assert BOTH.renamed(A, "file:///ws/new.md").files == ("file:///ws/new.md", B)
    moved = BOTH.renamed(f"{DOCS}/", "file:///ws/texts")
    assert moved.files == (A, "file:///ws/texts/b.md")
    assert moved.folders == ("file:///ws/texts",)
    assert (moved.scope, moved.link_depth) == ("linked", 2)
    assert BOTH.renamed("file:///ws/doc", "file:///ws/x") == BOTH
    assert Attachments((A, B)).renamed(A, B) == Attachments((B,))


def test_what_is_deleted_goes_with_all_that_was_in_it() -> None:
    assert BOTH.without(DOCS) == Attachments((A,), (), "linked", 2)
    assert BOTH.without("file:///ws/docs/b") == BOTH


def test_nothing_attached_is_empty_but_a_scope_is_something() -> None:
    assert Attachments(problems=("x",)).is_empty
    assert not Attachments(link_depth=0).is_empty
    assert not Attachments(scope="open").is_empty


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a b.md", Attachable("file:///ws/a%20b.md", is_folder=False)),
        ("file:///ws/a%20b.md", Attachable("file:///ws/a%20b.md", is_folder=False)),
        ("/ws/docs/b.md", Attachable(B, is_folder=False)),
        ("docs/", Attachable(DOCS, is_folder=True)),
        (f"{DOCS}/", Attachable(DOCS, is_folder=True)),
        (".", Attachable("file:///ws", is_folder=True)),
        ("untitled:n", Attachable("untitled:n", is_folder=False)),
        ("/other/open.md", Attachable("file:///other/open.md", is_folder=False)),
    ],
)
def test_files_and_folders_are_named_as_people_name_them(name: str, found: Attachable) -> None:
    opened = {"untitled:n": "", "/other/open.md": ""}
    assert resolve_attachable(make_workspace(FILES, opened=opened).snapshot(), name) == found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope.md", "There is no file or folder 'nope.md'."),
        ("../other/e.md", "contains `..`"),
        ("/other/e.md", "'e.md' is outside the workspace."),
        ("file:///other/e.md", "'e.md' is outside the workspace."),
        ("file://host/ws/a.md", "is neither a local file nor untitled."),
        ("https://x.y/z", "is neither a local file nor untitled."),
        ("link.md", "'link.md' is outside the workspace (through a symbolic link)."),
        (".env", "looks like a secret"),
        ("deny.md", "is excluded by `privacy.deny`."),
        ("private", "'private' is an excluded folder."),
        ("private/c.md", "'private' is an excluded folder."),
        ("out/d.log", "is ignored by a .gitignore."),
        ("untitled:gone", "No untitled document 'untitled:gone' is open."),
        (" / ", "' / ' is not a valid file or folder name; a root is '.'"),
    ],
)
def test_paths_that_cannot_be_attached_are_named(name: str, message: str) -> None:
    links = {"/ws/link.md": "/other/e.md"}
    world = make_workspace(FILES, links=links, settings=HIDING)
    with pytest.raises(NotAttachable) as raised:
        resolve_attachable(world.snapshot(), name)
    assert message in str(raised.value)


def test_preset_attaches_existing_files_and_reports_the_others() -> None:
    preset = PresetSettings("p", ("docs/b.md", "docs", "gone.md"), ("a b.md",), "folder", 0)
    assert attachments_of(preset, make_workspace(FILES).snapshot()) == Attachments(
        (B, "file:///ws/a%20b.md"),
        (DOCS,),
        "folder",
        0,
        ("preset 'p': There is no file or folder 'gone.md'.",),
    )
