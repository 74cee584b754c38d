"""A tool call goes its way and no other."""

from itertools import product

import pytest

from stet.review.proposal import HunkState
from stet.tools.tool_state import (
    TRANSITIONS,
    IllegalTransition,
    ToolKind,
    ToolRun,
    ToolState,
    state_after_review,
)

READ, WRITE, CONTROL = ToolKind.READ, ToolKind.WRITE, ToolKind.CONTROL
ALLOWED = {
    READ: {"booting>init", "init>completed", "booting>error", "init>error"},
    WRITE: {
        "booting>init",
        "init>waitingForUserInput",
        "waitingForUserInput>submitted",
        "submitted>completed",
        "submitted>waitingForUserInput",  # a second question
        *(f"{state}>error" for state in ("booting", "init", "waitingForUserInput", "submitted")),
        *(f"{state}>canceled" for state in ("booting", "init", "waitingForUserInput", "submitted")),
    },
}
ALLOWED[CONTROL] = ALLOWED[WRITE] | {"init>completed"}


def call(course: ToolKind, state: ToolState = ToolState.BOOTING, *hunks: str) -> ToolRun:
    """A call of that course, in that state."""
    return ToolRun("c1", "tool", state, course=course, hunks=hunks)


@pytest.mark.parametrize(
    ("course", "before", "after"), list(product(ToolKind, ToolState, ToolState)), ids=str
)
def test_every_step_is_allowed_or_an_error(
    course: ToolKind, before: ToolState, after: ToolState
) -> None:
    run = call(course, before)
    if f"{before}>{after}" in ALLOWED[course]:
        assert run.transition_to(after, "why") == ToolRun(
            "c1", "tool", after, error="why", course=course
        )
    else:
        with pytest.raises(IllegalTransition, match=f"from {before} to {after}"):
            run.transition_to(after)


@pytest.mark.parametrize("course", ToolKind)
def test_every_state_leads_to_an_end(course: ToolKind) -> None:
    ends = {state for steps in TRANSITIONS[course].values() for state in steps} - set(
        TRANSITIONS[course]
    )
    wanted = {ToolState.COMPLETED, ToolState.ERROR, ToolState.CANCELED}
    assert ends == (wanted - {ToolState.CANCELED} if course is READ else wanted)


@pytest.mark.parametrize(
    ("course", "before", "hunks", "after"),
    [
        (READ, "init", (), "completed"),
        (CONTROL, "init", (), "completed"),
        (CONTROL, "submitted", (), "completed"),
        (WRITE, "init", (), "completed"),
        (WRITE, "submitted", (), "completed"),
        (WRITE, "init", ("h1",), "waitingForUserInput"),
        (WRITE, "submitted", ("h1",), "submitted"),
    ],
)
def test_a_call_that_proposed_something_waits_for_the_review_of_it(
    course: ToolKind, before: str, hunks: tuple[str, ...], after: str
) -> None:
    run = call(course, ToolState(before)).completed_with(hunks)
    assert (run.state, run.hunks) == (after, hunks)


@pytest.mark.parametrize(
    ("course", "before", "after"),
    [
        (READ, "booting", "error"),
        (READ, "init", "error"),
        (READ, "completed", "completed"),
        (WRITE, "booting", "canceled"),
        (WRITE, "init", "canceled"),
        (WRITE, "waitingForUserInput", "canceled"),
        (WRITE, "submitted", "canceled"),
        (WRITE, "error", "error"),
        (CONTROL, "waitingForUserInput", "canceled"),
    ],
)
def test_unfinished_calls_end_with_the_turn(course: ToolKind, before: str, after: str) -> None:
    run = call(course, ToolState(before)).stopped("The turn is over.")
    assert (run.state, run.error) == (after, "" if before == after else "The turn is over.")


def test_call_that_waits_for_its_review_outlives_the_turn() -> None:
    run = call(WRITE, ToolState.WAITING, "h1")
    assert run.stopped("The turn is over.") is run


@pytest.mark.parametrize(
    ("states", "wanted"),
    [
        (["pending"], "waitingForUserInput"),
        (["conflict", "accepted"], "waitingForUserInput"),
        (["sent", "accepted"], "submitted"),
        (["sent", "pending"], "waitingForUserInput"),
        (["accepted", "rejected"], "completed"),
        (["undone"], "completed"),
        (["rejected", "superseded"], "canceled"),
        (["withdrawn"], "canceled"),
        ([], "waitingForUserInput"),
    ],
)
def test_the_review_of_its_hunks_decides(states: list[str], wanted: str) -> None:
    found = [HunkState(state) for state in states]
    assert state_after_review(call(WRITE, ToolState.WAITING, "h1"), found) == wanted


@pytest.mark.parametrize("state", [ToolState.ERROR, ToolState.COMPLETED, ToolState.INIT])
def test_a_review_does_not_touch_what_waits_for_none(state: ToolState) -> None:
    assert state_after_review(call(WRITE, state, "h1"), [HunkState.REJECTED]) is state
