"""A turn begins with what became of the proposals of those before."""

import pytest

from stet.agent.agent_events import AgentEvent, RoundStarted, ToolEnded
from stet.agent.turn import TurnState
from stet.llm.model import Completion
from stet.llm.scripted_model import Reply, call
from stet.workspace.workspace import WireEdit
from tests.support.agent_harness import AgentHarness
from tests.support.workspaces import insertion, make_workspace

TEXT = "one\ntwo\nthree\nfour\n"
DONE = call("done", summary="Done.")


def swap(old: str, new: str) -> Completion:
    return call("edit_file", file="a.py", old_text=old, new_text=new, summary=f"{old} to {new}")


def table(*replies: Reply) -> AgentHarness:
    return AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), replies)


def asked(at: AgentHarness, request: int) -> str:
    """The message with the question of a request, without the state of the editor."""
    messages = at.model.requests[request].messages
    content = next(one.content for one in reversed(messages) if one.role == "user")
    return content.partition("<additional_data>")[0]


async def test_first_turn_has_no_feedback() -> None:
    at = table(swap("two", "2"), DONE)
    await at.ask()
    assert asked(at, 0) == ""


async def test_next_turn_begins_with_the_decisions() -> None:
    at = table(swap("two", "2"), swap("three", "3"), swap("four", "4"), DONE, DONE)
    await at.ask()
    at.ledger.reject("h1", "Keep the word")
    at.type(WireEdit(2, 0, 2, 5, "drei"))
    await at.ask()
    assert asked(at, 4) == (
        "<since_last_turn>\nStatus of your proposals (do not propose again what the user rejected, unless they ask for it):\n- h2 a.py line 3 (three to 3): conflict: "
        "the user has edited that text, so it can't be accepted\n    There now:\n    | drei\n- "
        "h1 a.py line 2 (two to 2): rejected\n    The user says: Keep the word\n- h3 a.py line "
        "4 (four to 4): pending\nChanged since you saw it, not by your proposals:\n- a.py:\n    "
        "line 3:\n    - three\n    + drei\n</since_last_turn>\n"
    )


async def test_feedback_stays_unchanged_in_the_history() -> None:
    at = table(swap("two", "2"), DONE, DONE, DONE, DONE)
    await at.ask("First")
    at.ledger.reject("h1", "No")
    await at.ask("Second")
    await at.ask("Third")
    at.type(insertion(0, 0, "zero\n"))
    await at.ask("Fourth")
    second, third, fourth = (at.model.requests[n].messages for n in (2, 3, 4))
    assert third[: len(second) - 1] == second[:-1]
    assert fourth[: len(third) - 1] == third[:-1]
    assert third[len(second) - 1] == second[-1]
    assert "The user says: No" in second[-1].content
    assert asked(at, 3) == ""
    assert "+ zero" in asked(at, 4)


async def test_feedback_of_a_cancelled_turn_is_sent_again() -> None:
    at = table(swap("two", "2"), DONE, DONE, DONE)
    await at.ask()
    at.ledger.reject("h1", "No")

    def cancel(event: AgentEvent) -> None:
        if isinstance(event, RoundStarted):
            at.agent.cancel()

    at.on_event = cancel
    assert (await at.ask()).state is TurnState.CANCELLED
    at.on_event = lambda event: None
    await at.rest()
    await at.ask()
    assert "The user says: No" in asked(at, len(at.model.requests) - 1)


async def test_other_conversations_get_no_feedback() -> None:
    at = table(swap("two", "2"), DONE, DONE, DONE)
    await at.end_of(at.start(chat="other"))
    await at.ask()
    at.ledger.reject("h1", "No")
    await at.ask()
    assert [asked(at, n) for n in (2, 3)] == ["", ""]


async def test_pending_text_of_an_earlier_turn_can_be_changed() -> None:
    at = table(swap("two", "2"), DONE, swap("2", "II"), DONE)
    await at.ask()
    await at.ask()
    assert at.proposed() == TEXT.replace("two", "II")
    assert [(hunk.id, str(hunk.state)) for hunk in sorted(at.hunks, key=lambda one: one.id)] == [
        ("h1", "superseded"), ("h2", "pending"),
    ]  # fmt: skip


@pytest.mark.parametrize("n_typed", [1, 3])
async def test_text_typed_during_a_turn_is_reported_to_the_next_turn(n_typed: int) -> None:
    at = table(swap("two", "2"), DONE, DONE)
    left = [insertion(0, 0, f"typed {n}\n") for n in range(n_typed)]

    def typed(event: AgentEvent) -> None:
        if isinstance(event, ToolEnded):
            while left:
                at.type(left.pop())

    at.on_event = typed
    await at.ask()
    await at.ask()
    assert asked(at, 2).count("    + typed") == n_typed
