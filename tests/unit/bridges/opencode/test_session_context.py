"""What may be sent of the editor: open files, focus, selection; nothing that the filter hides."""

from dataclasses import replace

from stet.bridges.opencode.session_context import (
    MAX_FILES,
    SelectedText,
    SessionContext,
    collect_context,
)
from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource
from stet.workspace.workspace import Workspace
from tests.support.workspaces import make_workspace, uri_at


def select(world: Workspace, path: str, *lines: int) -> None:
    """Select these whole lines."""
    ranges = [Range(Position(line, 0), Position(line + 1, 0)) for line in lines]
    world.activity.select(uri_at(path), ranges, ActivitySource.NOTIFIED)


def test_open_files_are_named_the_one_in_focus_first_the_others_by_name() -> None:
    world = make_workspace(opened={"/ws/c.py": "", "/ws/b.py": "", "/ws/a.py": ""})
    world.activity.focus(uri_at("/ws/b.py"))
    assert collect_context(world.snapshot()) == SessionContext(
        ("b.py", "a.py", "c.py"), is_focused=True, folders=("/ws",)
    )


def test_without_a_focus_they_are_in_the_order_of_their_names() -> None:
    world = make_workspace(opened={"/ws/b.py": "", "/ws/a.py": ""})
    world.activity.focus(None)
    assert collect_context(world.snapshot()) == SessionContext(("a.py", "b.py"), folders=("/ws",))


def test_what_is_selected_comes_with_its_source() -> None:
    world = make_workspace(opened={"/ws/a.py": "one\ntwo\nthree\nfour\n"})
    select(world, "/ws/a.py", 3, 0)
    assert collect_context(world.snapshot()).selected == SelectedText("a.py", ("one\n", "four\n"))


def test_a_bare_cursor_selects_nothing() -> None:
    world = make_workspace(opened={"/ws/a.py": "one\n"})
    world.activity.select(
        uri_at("/ws/a.py"), [Range(Position(0, 1), Position(0, 1))], ActivitySource.NOTIFIED
    )
    assert collect_context(world.snapshot()).selected is None


def test_the_limit_of_selections_holds_for_all_ranges_together() -> None:
    settings = Settings(context=ContextSettings(selection_limit=6))
    world = make_workspace(opened={"/ws/a.py": "one\ntwo\nthree\n"}, settings=settings)
    select(world, "/ws/a.py", 0, 1, 2)
    assert collect_context(world.snapshot()).selected == SelectedText("a.py", ("one\n", "tw"), 8)


def test_secret_and_denied_files_are_not_even_named() -> None:
    settings = Settings(privacy=PrivacySettings(("diary/",)))
    opened = {"/ws/a.py": "x\n", "/ws/diary/mon.md": "dear\n", "/ws/.env": "KEY=1\n"}
    world = make_workspace(opened=opened, settings=settings)
    for path in ("/ws/diary/mon.md", "/ws/.env"):
        select(world, path, 0)
        assert collect_context(world.snapshot()) == SessionContext(("a.py",), folders=("/ws",))


def test_an_ignored_file_is_left_out_even_while_it_has_the_focus() -> None:
    opened = {"/ws/a.py": "x\n", "/ws/out/made.txt": "made\n"}
    world = make_workspace({"/ws/.gitignore": "out/\n"}, opened=opened)
    select(world, "/ws/out/made.txt", 0)
    snapshot = world.snapshot()
    assert snapshot.privacy().check(uri_at("/ws/out/made.txt")) is None  # a question may ask of it
    assert collect_context(snapshot) == SessionContext(("a.py",), folders=("/ws",))
    asked = replace(snapshot, question_uri=uri_at("/ws/out/made.txt"))
    assert collect_context(asked) == SessionContext(("a.py",), folders=("/ws",))


def test_an_untitled_document_has_no_path_but_may_be_selected_in() -> None:
    world = make_workspace(opened={"/ws/a.py": "x\n", "untitled:Notes": "word\n"})
    select(world, "untitled:Notes", 0)
    assert collect_context(world.snapshot()) == SessionContext(
        ("a.py",), selected=SelectedText("untitled:Notes", ("word\n",)), folders=("/ws",)
    )


def test_many_or_long_names_are_counted_instead() -> None:
    many = make_workspace(opened={f"/ws/{n:03}.py": "" for n in range(MAX_FILES + 5)})
    many.activity.focus(None)
    seen = collect_context(many.snapshot())
    assert (len(seen.files), seen.n_more) == (MAX_FILES, 5)
    long = make_workspace(opened={f"/ws/{n}{'x' * 200}.py": "" for n in range(45)})
    seen = collect_context(long.snapshot())
    assert (len(seen.files), seen.n_more) == (39, 6)


def test_the_folder_is_the_root_of_the_active_file_in_every_spelling() -> None:
    world = make_workspace(
        {"/real/in/x.py": ""},
        links={"/two": "/real"},
        opened={"/two/in/x.py": ""},
        roots=("/one", "/two", "/two/in"),
    )
    assert collect_context(world.snapshot()).folders == ("/two/in", "/real/in")
    world.activity.focus(None)
    assert collect_context(world.snapshot()).folders == ("/one",)


def test_context_without_open_files_is_empty() -> None:
    assert collect_context(make_workspace().snapshot()) == SessionContext(folders=("/ws",))
    assert collect_context(make_workspace(roots=()).snapshot()) == SessionContext()
