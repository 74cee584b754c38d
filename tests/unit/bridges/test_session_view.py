"""Whole files in the view of a session: what two sessions and the user make of them."""

from itertools import count

from stet.bridges.session_view import SessionText, SessionView
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
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
