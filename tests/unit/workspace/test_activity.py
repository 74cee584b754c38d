from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource, Selection
from stet.workspace.workspace import WireEdit, Workspace
from tests.support.workspaces import (
    change,
    close_document,
    insertion,
    make_workspace,
    open_document,
)

A, B, C = (f"file:///ws/{name}.py" for name in "abc")


def span(start_line: int, start: int, end_line: int, end: int) -> Range:
    return Range(Position(start_line, start), Position(end_line, end))


def at(line: int, character: int) -> Range:
    return span(line, character, line, character)


def three_files() -> Workspace:
    return make_workspace(opened={f"/ws/{name}.py": "one\ntwo\nthree\n" for name in "abc"})


def cursor_of(world: Workspace, uri: str = A) -> Position | None:
    selection = world.activity.view().selection_of(uri)
    return None if selection is None else selection.cursor


def active_of(world: Workspace) -> str | None:
    return world.activity.active


# The pointer


def test_without_notifications_the_document_last_touched_is_active() -> None:
    world = three_files()
    assert active_of(world) == C
    world.apply(change(insertion(0, 0, "x"), uri=A))
    assert active_of(world) == A
    world.activity.touched(B, at(0, 0))
    assert active_of(world) == B


def test_focus_notification_overrides_the_guess() -> None:
    world = three_files()
    world.activity.focus(A)
    world.apply(change(insertion(0, 0, "x"), uri=B))
    world.activity.touched(C, at(0, 0))
    open_document(world, "file:///ws/d.py", "")
    assert active_of(world) == A
    assert world.activity.view().recent == (A, C, B, "file:///ws/d.py")


def test_focus_of_a_command_does_not_fix_the_active_file() -> None:
    world = three_files()
    world.activity.focus(A, ActivitySource.COMMAND)
    world.apply(change(insertion(0, 0, "x"), uri=B))
    assert active_of(world) == B


def test_closing_the_active_file_falls_to_the_most_recent_other_one() -> None:
    world = three_files()
    world.activity.focus(A)
    world.activity.focus(B)
    close_document(world, B)
    assert active_of(world) == A
    close_document(world, A)
    assert active_of(world) == C
    close_document(world, C)
    assert active_of(world) is None
    assert world.activity.view().recent == ()


def test_a_file_that_is_reloaded_becomes_active_again() -> None:
    world = three_files()
    world.activity.focus(A)
    close_document(world, A)
    open_document(world, A, "reloaded")
    assert active_of(world) == A


def test_a_file_that_is_opened_later_does_not_come_back_by_itself() -> None:
    world = three_files()
    world.activity.focus(A)
    close_document(world, A)
    world.activity.focus(B)
    open_document(world, A, "again")
    assert active_of(world) == B


def test_focus_notification_may_clear_the_focus() -> None:
    world = three_files()
    world.activity.focus(None)
    assert active_of(world) is None
    open_document(world, "file:///ws/d.py", "")
    assert active_of(world) is None
    world.activity.focus(B)
    assert active_of(world) == B


def test_the_first_file_opened_after_all_were_closed_is_active() -> None:
    world = make_workspace()
    world.activity.focus(A)
    open_document(world, A, "")
    close_document(world, A)
    open_document(world, B, "")
    assert active_of(world) == B


def test_a_focus_may_come_before_the_file_is_opened_and_is_forgotten_with_it() -> None:
    world = three_files()
    world.activity.focus("file:///ws/unopened.py")
    assert active_of(world) == "file:///ws/unopened.py"
    world.activity.focus(A)
    assert "file:///ws/unopened.py" not in world.activity.view().recent
    close_document(world, A)
    assert active_of(world) == C


def test_other_schemes_do_not_take_the_focus() -> None:
    world = three_files()
    world.activity.focus("git:/ws/a.py")
    world.activity.select("output:log", (at(0, 0),), ActivitySource.NOTIFIED)
    assert active_of(world) == C


def test_the_answer_is_in_the_editors_spelling() -> None:
    world = make_workspace()
    open_document(world, "file:///c%3A/a.py", "x")
    world.activity.focus("file:///C:/a.py")
    assert active_of(world) == "file:///c%3A/a.py"


# Cursor and selection


def test_explicit_selection_is_kept_against_requests() -> None:
    world = three_files()
    reported = (span(0, 0, 1, 2), at(2, 1))
    world.activity.select(A, reported, ActivitySource.NOTIFIED, cursor=Position(0, 0))
    world.activity.touched(A, span(0, 0, 2, 0))
    assert world.activity.view().selection_of(A) == Selection(
        reported, Position(0, 0), ActivitySource.NOTIFIED, 0.0
    )


def test_selection_of_a_command_is_kept_until_the_text_is_edited() -> None:
    world = three_files()
    world.activity.select(A, (span(0, 0, 0, 3),), ActivitySource.COMMAND)
    world.activity.touched(A, at(2, 2))
    assert cursor_of(world) == Position(0, 3)
    world.apply(change(insertion(1, 0, "x")))
    assert cursor_of(world) == Position(1, 1)
    world.activity.touched(A, at(2, 2))
    assert cursor_of(world) == Position(2, 2)


def test_selection_of_a_command_is_kept_until_another_file_is_active() -> None:
    world = three_files()
    world.activity.select(A, (span(0, 0, 0, 3),), ActivitySource.COMMAND)
    world.activity.touched(B, at(0, 0))
    world.activity.touched(A, at(2, 2))
    assert cursor_of(world) == Position(2, 2)


def test_one_character_in_a_request_is_a_cursor() -> None:
    world = three_files()
    world.activity.touched(A, span(1, 1, 1, 2))
    selection = world.activity.view().selection_of(A)
    assert selection == Selection((at(1, 1),), Position(1, 1), ActivitySource.REQUEST, 0.0)


def test_a_hover_counts_only_where_nothing_better_is_known() -> None:
    world = three_files()
    world.activity.touched(A, at(1, 1), ActivitySource.HOVER)
    assert (active_of(world), cursor_of(world)) == (C, Position(1, 1))
    world.activity.touched(A, at(2, 2))
    world.activity.touched(A, at(0, 0), ActivitySource.HOVER)
    assert cursor_of(world) == Position(2, 2)


def test_request_for_a_file_that_is_not_open_is_ignored() -> None:
    world = three_files()
    world.activity.touched("file:///ws/closed.py", at(0, 0))
    assert active_of(world) == C
    assert world.activity.view().selection_of("file:///ws/closed.py") is None


def test_typing_moves_the_cursor_after_the_new_text() -> None:
    world = three_files()
    world.apply(change(insertion(1, 3, "x\ny")))
    assert cursor_of(world) == Position(2, 1)


def test_several_edits_at_once_do_not_set_an_unknown_cursor() -> None:
    world = three_files()
    world.apply(change(insertion(0, 0, "x"), insertion(2, 0, "x")))
    assert cursor_of(world) is None


def test_reported_selection_moves_with_the_text_above_it() -> None:
    world = three_files()
    world.activity.select(A, (span(1, 1, 2, 2),), ActivitySource.NOTIFIED)
    world.activity.visible(A, span(0, 0, 2, 0))
    world.apply(change(insertion(0, 1, "x\ny")))
    view = world.activity.view()
    assert view.selection_of(A) == Selection(
        (span(2, 1, 3, 2),), Position(3, 2), ActivitySource.NOTIFIED, 0.0
    )
    assert view.visible_of(A) == span(0, 0, 3, 0)


def test_reported_cursor_moves_with_typing() -> None:
    world = three_files()
    world.activity.select(A, (at(1, 1),), ActivitySource.NOTIFIED)
    world.apply(change(insertion(1, 1, "x")))
    assert cursor_of(world) == Position(1, 2)
    world.apply(change(insertion(1, 3, "y")))
    assert cursor_of(world) == Position(1, 2)
    world.apply(change(insertion(1, 0, "z")))
    assert cursor_of(world) == Position(1, 3)


def test_a_selection_that_is_typed_over_is_gone() -> None:
    world = three_files()
    world.activity.select(A, (span(0, 0, 1, 2),), ActivitySource.NOTIFIED)
    world.apply(change(WireEdit(0, 0, 1, 2, "new")))
    selection = world.activity.view().selection_of(A)
    assert selection == Selection((at(0, 3),), Position(0, 3), ActivitySource.NOTIFIED, 0.0)


def test_nothing_of_a_closed_file_is_kept() -> None:
    world = three_files()
    world.activity.select(A, (span(0, 0, 1, 2),), ActivitySource.NOTIFIED)
    world.activity.visible(A, span(0, 0, 1, 0))
    close_document(world, A)
    open_document(world, A, "other")
    view = world.activity.view()
    assert (view.selection_of(A), view.visible_of(A)) == (None, None)


def test_view_is_frozen_and_has_the_time_of_a_report() -> None:
    world = three_files()
    world.activity.select(A, (at(1, 1),), ActivitySource.NOTIFIED)
    view = world.activity.view()
    world.activity.select(A, (at(2, 2),), ActivitySource.NOTIFIED)
    selection = view.selection_of(A)
    assert selection is not None
    assert (selection.cursor, selection.at) == (Position(1, 1), 0.0)
