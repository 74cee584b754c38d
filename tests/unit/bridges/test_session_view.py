"""Whole files in the view of a session: what two sessions and the user make of them."""

from dataclasses import replace
from itertools import count

import pytest

from stet.bridges.session_view import SessionText, SessionView, ViewError
from stet.bridges.session_views import MAX_VIEWS, SessionViews
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkKind, HunkState
from stet.settings.values import Settings
from stet.workspace.workspace import Workspace
from tests.support.workspaces import make_workspace

A, B, C = (f"file:///ws/{name}.txt" for name in "abc")


def make_view(workspace: Workspace, ledger: ReviewLedger, chat: str) -> SessionView:
    numbers = count(1)
    return SessionView(workspace, ledger, lambda: next(numbers), chat.partition("-")[0], chat)


async def test_a_file_moved_back_is_there_again_whatever_the_user_has_restored() -> None:
    ledger = ReviewLedger()
    view = make_view(make_workspace({"/ws/a.txt": "one\n"}), ledger, "claude-1")
    (first,) = await view.move(A, B)
    (second,) = await view.move(B, C)
    assert ledger.hunk(first.id).state is HunkState.SUPERSEDED
    (removal,) = await view.delete(C)
    assert ledger.hunk(second.id).state is HunkState.WITHDRAWN
    ledger.restore(first.id)
    assert await view.move(B, A) == ()
    assert await view.read(A) == SessionText("one\n")
    assert ledger.hunk(first.id).state is HunkState.WITHDRAWN
    assert ledger.hunk(removal.id).state is HunkState.WITHDRAWN


async def test_two_sessions_of_an_agent_share_no_turn_before_their_first_prompt() -> None:
    ledger, workspace = ReviewLedger(), make_workspace({"/ws/a.txt": "one\ntwo\n"})
    first, second = (make_view(workspace, ledger, chat) for chat in ("claude-1", "claude-2"))
    (was,) = await first.write(A, "one\ntwo\n", "1\ntwo\n")
    (now,) = await second.write(A, "one\ntwo\n", "I\ntwo\n")
    assert was.turn != now.turn
    assert ledger.hunk(was.id).state is HunkState.SUPERSEDED
    assert now.reason == f"replaces {was.id} of another session: restore it to have it instead"
    assert await first.read(A) == SessionText("one\ntwo\n")
    assert await second.read(A) == SessionText("I\ntwo\n", is_live=False)


async def test_a_new_file_under_a_deleted_name_is_a_change_of_the_file() -> None:
    ledger = ReviewLedger()
    view = make_view(make_workspace({"/ws/a.txt": "one\ntwo\n"}), ledger, "claude-1")
    (removal,) = await view.delete(A)
    (hunk,) = await view.write(A, None, "one\n2\n")
    assert (hunk.kind, hunk.old, hunk.new) == (HunkKind.REPLACE, "two\n", "2\n")
    assert ledger.hunk(removal.id).state is HunkState.WITHDRAWN
    assert await view.read(A) == SessionText("one\n2\n", is_live=False)


async def test_a_new_file_under_a_name_that_was_moved_away_leaves_a_copy() -> None:
    ledger = ReviewLedger()
    view = make_view(make_workspace({"/ws/a.txt": "one\ntwo\n"}), ledger, "claude-1")
    await view.write(A, "one\ntwo\n", "1\ntwo\n")
    (move,) = await view.move(A, B)
    hunks = await view.write(A, None, "new\n")
    assert [(one.uri, str(one.kind), one.old, one.new) for one in hunks] == [
        (B, "create", "", "1\ntwo\n"),
        (A, "replace", "one\ntwo\n", "new\n"),
    ]
    assert ledger.hunk(move.id).state is HunkState.WITHDRAWN
    assert await view.read(A) == SessionText("new\n", is_live=False)
    assert await view.read(B) == SessionText("1\ntwo\n", is_live=False)
    await view.delete(B)
    assert await view.read(B) == SessionText(None)
    assert await view.read(A) == SessionText("new\n", is_live=False)


async def test_two_files_change_their_names() -> None:
    ledger = ReviewLedger()
    files = {"/ws/a.txt": "one\n", "/ws/b.txt": "two\n"}
    view = make_view(make_workspace(files), ledger, "claude-1")
    await view.move(A, C)
    await view.move(B, A)
    await view.move(C, B)
    pending = {
        (one.uri, str(one.kind), one.new)
        for one in ledger.hunks()
        if one.state is HunkState.PENDING
    }
    assert pending == {(A, "replace", "two\n"), (B, "replace", "one\n")}
    assert [await view.read(uri) for uri in (A, B, C)] == [
        SessionText("two\n", is_live=False),
        SessionText("one\n", is_live=False),
        SessionText(None),
    ]


async def test_nothing_is_changed_if_the_copy_may_not_be_created() -> None:
    ledger = ReviewLedger()
    workspace = make_workspace({"/ws/a.txt": "one\n"})
    view = make_view(workspace, ledger, "claude-1")
    (move,) = await view.move(A, B)
    edit = replace(Settings().edit, can_create=False)
    workspace.settings = replace(Settings(), edit=edit)
    await view.begin_turn()
    with pytest.raises(ViewError):
        await view.write(A, None, "new\n")
    assert [(one.id, one.state) for one in ledger.hunks()] == [(move.id, HunkState.PENDING)]


async def test_a_move_over_a_deleted_file_is_refused_as_a_whole() -> None:
    ledger = ReviewLedger()
    files = {"/ws/a.txt": "one\n", "/ws/b.txt": "two\n"}
    workspace = make_workspace(files)
    view = make_view(workspace, ledger, "claude-1")
    (removal,) = await view.delete(A)
    edit = replace(Settings().edit, can_delete=False)
    workspace.settings = replace(Settings(), edit=edit)
    await view.begin_turn()
    with pytest.raises(ViewError):
        await view.move(B, A)
    assert [(one.id, one.state) for one in ledger.hunks()] == [(removal.id, HunkState.PENDING)]


def test_a_session_has_one_view_until_it_ends_or_others_have_come_since() -> None:
    views = SessionViews(make_workspace({}), ReviewLedger(), lambda: 1)
    first, ended = views.open("claude", "c"), views.open("claude", "d")
    assert views.open("claude", "c") is first
    assert views.open("gemini", "c") is not first, "two agents may answer in one chat"
    views.close(ended)
    assert views.open("claude", "d") is not ended
    for number in range(MAX_VIEWS - 1):
        views.open("codex", str(number))
    assert views.open("claude", "c") is not first
