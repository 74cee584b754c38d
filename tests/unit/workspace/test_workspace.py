import logging
import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.settings.values import PrivacySettings, Settings
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.encoding import Encoding
from stet.text.position import Position, Range
from stet.workspace.workspace import (
    MAX_CHANGES,
    Modification,
    ModificationKind,
    WireEdit,
    Workspace,
)
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import (
    change,
    close_document,
    insertion,
    make_workspace,
    open_document,
)

A = "file:///ws/a.py"


def text_of(workspace: Workspace, uri: str = A) -> str:
    document = workspace.document(uri)
    assert document is not None
    return document.text


def test_open_text_wins_over_the_disk_until_it_is_closed() -> None:
    world = make_workspace({"/ws/a.py": "disk\n"}, opened={"/ws/a.py": "buffer\n"})
    assert world.snapshot().show(A).text == "buffer\n"
    close_document(world, A)
    assert world.snapshot().show(A).text == "disk\n"
    assert world.document(A) is None


def test_change_is_reported_in_code_points_for_every_encoding() -> None:
    world = make_workspace(opened={"/ws/a.py": "😀é\n"})
    world.encoding = Encoding.UTF16
    changes = world.apply(change(insertion(0, 2, "x"), version=7))
    at = Position(0, 1)
    assert changes == (TextChange(Range(at, at), "x"),)
    assert world.document(A) == TextDocument(A, "😀xé\n", 7, "plaintext", 2)


def test_several_changes_are_each_relative_to_the_one_before_full_ones_too() -> None:
    world = make_workspace(opened={"/ws/a.py": "one\n"})
    world.apply(change(insertion(0, 0, "a"), WireEdit.full("two\n"), insertion(0, 3, "!")))
    assert text_of(world) == "two!\n"


def test_every_spelling_is_one_document_and_the_editors_own_is_kept() -> None:
    world = make_workspace()
    open_document(world, "file:///c%3A/x.py", "x")
    world.apply(change(insertion(0, 1, "y"), uri="file:///C:/x.py"))
    document = world.document("file:///c:/x.py")
    assert document is not None
    assert (document.uri, document.text) == ("file:///c%3A/x.py", "xy")


@pytest.mark.parametrize("kind", list(ModificationKind)[1:])
def test_event_for_a_closed_document_is_ignored_and_logged(
    kind: ModificationKind, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_workspace(opened={"/ws/a.py": "x"})
    close_document(world, A)
    with caplog.at_level(logging.WARNING):
        edits = (WireEdit.full("y"),)
        assert world.apply(Modification(kind, A, 2, text="y", edits=edits)) == ()
    assert world.snapshot().documents == {}
    assert [record.message for record in caplog.records] == [
        f"{kind.value} for '{A}', which is not open: ignored"
    ]


def test_opening_twice_is_a_reload_and_reports_its_changes() -> None:
    world = make_workspace(opened={"/ws/a.py": "one\ntwo\n"})
    changes = world.apply(
        Modification(ModificationKind.OPENED, A, 9, "python", "one\n2\n"),
    )
    assert len(changes) == 1
    assert world.changes_since(A, 1) == changes
    assert world.document(A) == TextDocument(A, "one\n2\n", 9, "python", 2)


def test_a_save_with_other_text_is_taken_over() -> None:
    world = make_workspace(opened={"/ws/a.py": "one\n"})
    save = Modification(ModificationKind.SAVED, A, text="two\n")
    assert len(world.apply(save)) == 1
    assert text_of(world) == "two\n"
    assert world.apply(save) == ()
    assert world.apply(Modification(ModificationKind.SAVED, A)) == ()


def test_other_schemes_are_neither_tracked_nor_shown() -> None:
    world = make_workspace()
    open_document(world, "git:/ws/a.py?ref=HEAD", "old")
    assert world.document("git:/ws/a.py?ref=HEAD") is None
    assert world.activity.active is None


@pytest.mark.parametrize("version", [0, -5, 3, 2**60])
def test_versions_may_jump_repeat_and_go_back(version: int) -> None:
    world = make_workspace()
    open_document(world, A, "x", version=3)
    world.apply(change(insertion(0, 0, "y"), version=version))
    document = world.document(A)
    assert document is not None
    assert document.version == version


def test_changes_since_a_revision_lead_from_that_text_to_this() -> None:
    world = make_workspace(opened={"/ws/a.py": "abc\n"})
    before = world.document(A)
    assert before is not None
    changes = world.apply(change(insertion(0, 1, "x"), insertion(0, 0, "\n")))
    assert world.changes_since(A, before.revision) == changes
    assert world.changes_since(A, before.revision + 1) == changes[1:]
    assert world.changes_since(A, before.revision + 2) == ()
    assert world.changes_since(A, before.revision + 3) is None


def test_a_revision_of_an_earlier_life_or_of_the_disk_is_unknown() -> None:
    world = make_workspace(opened={"/ws/a.py": "abc\n"})
    world.apply(change(insertion(0, 1, "x")))
    old = world.document(A)
    assert old is not None
    close_document(world, A)
    assert world.changes_since(A, old.revision) is None
    open_document(world, A, "other\n")
    assert world.changes_since(A, old.revision) is None
    assert world.changes_since(A, 0) is None


def test_the_history_is_bounded() -> None:
    world = make_workspace(opened={"/ws/a.py": ""})
    for _ in range(MAX_CHANGES + 1):
        world.apply(change(insertion(0, 0, "x")))
    assert world.changes_since(A, 1) is None
    kept = world.changes_since(A, 2)
    assert kept is not None
    assert len(kept) == MAX_CHANGES


def test_snapshot_is_unchanged_while_the_user_types() -> None:
    world = make_workspace(opened={"/ws/a.py": "one\n", "/ws/b.py": "two\n"})
    before = world.snapshot()
    world.apply(change(insertion(0, 0, "x")))
    after = world.snapshot()
    assert before.show(A).text == "one\n"
    assert after.show(A).text == "xone\n"
    assert before.show("file:///ws/b.py") is after.show("file:///ws/b.py")


def test_settings_hold_for_the_snapshots_after_them() -> None:
    world = make_workspace()
    before = world.snapshot()
    settings = Settings(privacy=PrivacySettings(deny=("*.md",)))
    world.with_settings(settings)
    assert (before.settings, world.snapshot().settings) == (Settings(), settings)


def test_roots_are_distinguished_by_the_shortest_unique_path() -> None:
    world = make_workspace(roots=("/x/web/app", "/x/mobile/app", "/x/docs"))
    assert [root.name for root in world.roots] == ["web/app", "mobile/app", "docs"]
    world.remove_root("file:///x/mobile/app")
    assert [root.name for root in world.roots] == ["app", "docs"]
    world.add_root("vscode-vfs://github/x")
    world.add_root("file:///x/docs")
    assert len(world.roots) == 2
    assert world.roots is world.roots  # a keystroke takes a snapshot: nothing is named again for it


def test_without_a_root_the_open_files_folders_serve_but_not_the_home_folder() -> None:
    system = MemorySystem({"/home/me/.bashrc": "", "/p/a.py": ""}, environment={"HOME": "/home/me"})
    world = Workspace(system)
    for uri in ("file:///home/me/.bashrc", "file:///p/a.py", "file:///top.txt", "untitled:x"):
        open_document(world, uri, "")
    assert [root.path.as_posix() for root in world.roots] == ["/p"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 6), st.integers(-1, 9), st.integers(-1, 6), st.integers(-1, 9),
            st.text("ab\n\r😀", max_size=4),
        )
    )
)  # fmt: skip
def test_any_edit_leaves_a_valid_workspace(edits: list[tuple[int, int, int, int, str]]) -> None:
    world = make_workspace(opened={"/ws/a.py": "one\ntwo 😀\r\nthree"})
    before = world.snapshot().show(A)
    wire = tuple(WireEdit(*edit) for edit in edits)
    reported = world.apply(change(*wire))
    after = world.document(A)
    assert after is not None
    replayed = before
    for each in reported:
        start, end = replayed.offset_at(each.range.start), replayed.offset_at(each.range.end)
        replayed = TextDocument(A, replayed.text[:start] + each.text + replayed.text[end:])
    assert len(reported) == len(wire)
    assert replayed.text == after.text


def test_a_keystroke_costs_the_same_in_a_hundred_thousand_lines() -> None:
    def cost(n_lines: int) -> float:
        world = make_workspace(opened={"/ws/a.py": "a line of some length\n" * n_lines})
        keystroke = change(insertion(n_lines // 2, 3, "x"))
        return min(timeit.repeat(lambda: world.apply(keystroke), number=200, repeat=5))

    assert cost(100_000) < 5 * cost(100)
