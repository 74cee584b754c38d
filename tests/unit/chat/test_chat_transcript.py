"""What a chat document says of a turn that is steered, or that asked whether a file may go."""

import dataclasses

from stet.agent.agent_events import RoundCompleted, SteeringApplied, TextDelta, ToolEnded
from stet.agent.turn import Ask, Mode, Turn, TurnState
from stet.chat.chat_document import TranscriptBuilder
from stet.chat.chat_transcript import ChatTranscript, ending, transcript_of
from stet.context.context_builder import EditorLocation
from stet.llm.model import Completion
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState, RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.tools.tool_state import ToolKind, ToolRun, ToolState
from tests.support.review_harness import rules
from tests.support.workspaces import make_workspace

ASK = Ask(prompt="Why?", mode=Mode.AGENT, place=EditorLocation(), chat="main")
TURN = Turn(id="t1", ask=ASK)


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


def file_name(name: str) -> str:
    """The name of a file in a workspace at `/ws`."""
    return name.removeprefix("file:///ws/")


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
    assert transcript_of(turn, (), file_name).text == "> **You:** Use tabs\n\nSo."


def test_outcome_of_a_deletion_is_reported() -> None:
    turn = dataclasses.replace(TURN, state=TurnState.COMPLETED, answer="So.")
    pending = removal()
    texts = {
        state: ending(turn, [dataclasses.replace(pending, state=state)], file_name).split("\n")[0]
        for state in (HunkState.ACCEPTED, HunkState.UNDONE, HunkState.PENDING)
    }
    assert texts == {
        HunkState.ACCEPTED: "Deleted: a.md; undo with `stet.undo`",
        HunkState.UNDONE: "Deleted and restored: a.md",
        HunkState.PENDING: "Proposed: 1 hunk in a.md",
    }


def test_file_that_the_user_keeps_is_reported_as_kept() -> None:
    run = ToolRun("c1", "delete_file", ToolState.CANCELED, "a.md", "Do not ask.", ToolKind.WRITE)
    other = dataclasses.replace(run, tool="execute_command", file="")
    turn = dataclasses.replace(TURN, tool_calls=(run, other))
    assert transcript_of(turn, (), file_name).text == (
        "- delete_file a.md: kept\n- execute_command: not run"
    )


def test_transcript_of_an_earlier_turn_has_calls_where_they_were_made() -> None:
    def run(name: str) -> ToolRun:
        return ToolRun(name, "read_file", ToolState.COMPLETED, name)

    turn = TURN.with_calls((run("a.md"),))
    turn = turn.with_round(Completion("I look.")).with_calls((run("b.md"), run("c.md")))
    turn = turn.with_steering("Be brief", 1.0).with_round(Completion("So."))
    expected = (
        "- read_file a.md\n\nI look.\n\n- read_file b.md\n- read_file c.md\n\n"
        "> **You:** Be brief\n\nSo."
    )
    assert transcript_of(turn, (), file_name).text == expected
    # A turn of an older version has no places: its calls come first.
    old = tuple(dataclasses.replace(one, answer_length=0) for one in turn.tool_calls)
    text = transcript_of(dataclasses.replace(turn, tool_calls=old), (), file_name).text
    assert text.startswith("- read_file a.md\n- read_file b.md\n- read_file c.md\n\nI look.")


def test_transcript_names_files_relative_to_their_root() -> None:
    telling = TranscriptBuilder(make_workspace({"/ws/sub/a.md": "x\n"}), ReviewLedger())
    for file in ("sub/a.md", "/ws/sub/a.md", "/elsewhere/a.md"):
        run = ToolRun("c1", "read_file", ToolState.COMPLETED, file)
        telling.handle_event(ToolEnded(TURN, run))
    assert telling.create_turn(TURN).transcript.text == (
        "- read_file sub/a.md\n- read_file sub/a.md\n- read_file /elsewhere/a.md"
    )


def test_code_block_that_is_cut_off_ends_before_the_next_text() -> None:
    transcript = ChatTranscript(file_name)
    transcript.add_text("So:\n\n~~~~py\nx = 1")
    transcript.finish_message()
    transcript.add_note("Again")
    assert transcript.text == "So:\n\n~~~~py\nx = 1\n~~~~\n\n*Again*"
