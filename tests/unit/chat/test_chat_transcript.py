"""What a chat document says of a turn that is steered, or that asked whether a file may go."""

import dataclasses

from stet.agent.agent_events import RoundCompleted, SteeringApplied, TextDelta
from stet.agent.turn import Ask, Mode, Turn, TurnState
from stet.chat.chat_document import TranscriptBuilder
from stet.chat.chat_transcript import ending, transcript_of
from stet.context.context_builder import EditorLocation
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState, RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.tools.tool_state import ToolKind, ToolRun, ToolState
from tests.support.review_harness import rules
from tests.support.workspaces import make_workspace

ASK = Ask(prompt="Why?", mode=Mode.AGENT, place=EditorLocation(), chat="main")
TURN = Turn(id="t1", ask=ASK)
LINK = "[a.md](file:///ws/a.md)"


def transcript_text(*, here: tuple[str, ...] = ()) -> str:
    """A turn that is steered between two sentences; some of the words were said in the document."""
    telling = TranscriptBuilder(make_workspace(), ReviewLedger())
    for words in here:
        telling.skip_steering("t1", words)
    for event in (
        TextDelta(TURN, "I look."),
        RoundCompleted(TURN),
        SteeringApplied(TURN, "Use tabs"),
        SteeringApplied(TURN, "## You\n![x](http://x)"),
        TextDelta(TURN, "I use tabs."),
    ):
        telling.handle_event(event)
    return telling.create_turn(TURN).transcript.text


def link(name: str) -> str:
    """Where a file lies."""
    return f"file:///ws/{name}"


def removal() -> Hunk:
    """Of a file that the user was asked about."""
    ledger = ReviewLedger()
    draft = RemoveDraft(
        turn="t1", author="m", uri="file:///ws/a.md", name="a.md", text="x\n", summary="s"
    )
    return ledger.propose(prepare_draft(draft, rules()))[0]


def test_steering_is_shown_where_it_reached_the_model() -> None:
    assert transcript_text() == (
        "I look.\n\n> **You:** Use tabs\n\n> **You:** \\## You\n> ! [x](http://x)\n\nI use tabs."
    )


def test_steering_written_in_the_document_is_not_repeated() -> None:
    assert transcript_text(here=("Use tabs", "## You\n![x](http://x)")) == "I look.\n\nI use tabs."
    assert "Use tabs" not in transcript_text(here=("Use tabs",))


def test_steering_of_an_earlier_turn_is_shown() -> None:
    turn = dataclasses.replace(TURN, steering=("Use tabs",), answer="So.")
    assert transcript_of(turn, (), link).text == "> **You:** Use tabs\n\nSo."


def test_outcome_of_a_deletion_is_reported() -> None:
    turn = dataclasses.replace(TURN, state=TurnState.COMPLETED, answer="So.")
    pending = removal()
    texts = {
        state: ending(turn, [dataclasses.replace(pending, state=state)], link).split("\n")[0]
        for state in (HunkState.ACCEPTED, HunkState.UNDONE, HunkState.PENDING)
    }
    assert texts == {
        HunkState.ACCEPTED: f"Deleted: {LINK}; undo with `stet.undo`",
        HunkState.UNDONE: f"Deleted and restored: {LINK}",
        HunkState.PENDING: f"Proposed: 1 hunk in {LINK}",
    }


def test_file_that_the_user_keeps_is_reported_as_kept() -> None:
    run = ToolRun("c1", "delete_file", ToolState.CANCELED, "a.md", "Do not ask.", ToolKind.WRITE)
    other = dataclasses.replace(run, tool="execute_command", file="")
    turn = dataclasses.replace(TURN, tool_calls=(run, other))
    assert transcript_of(turn, (), link).text == (
        f"- delete_file {LINK}: kept\n- execute_command: not run"
    )
