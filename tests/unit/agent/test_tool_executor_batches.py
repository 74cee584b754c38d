"""Edits of one file that a model sends together: all of them are proposed, or none."""

import json
from typing import Any

import pytest

from stet.agent.agent_events import AgentEvent, ToolEnded
from stet.agent.turn import Turn, TurnState
from stet.llm.model import Completion, StopReason, ToolCall
from stet.llm.scripted_model import call
from stet.settings.values import AgentSettings, EditSettings, Settings
from stet.tools.tool_state import ToolState
from stet.workspace.workspace import WireEdit
from tests.support.agent_harness import AgentHarness
from tests.support.workspaces import insertion, make_workspace

TEXT = "one\ntwo\nthree\nfour\nfive\n"
DONE = call("done", summary="Done.")
READ = call("read_file", file="a.py")


def answer(
    *calls: tuple[str, dict[str, Any]], stop: StopReason = StopReason.TOOL_CALLS
) -> Completion:
    """One answer of the model with several calls."""
    wanted = [
        ToolCall(f"c{n}", name, json.dumps(arguments)) for n, (name, arguments) in enumerate(calls)
    ]
    return Completion("", tuple(wanted), stop)


def edits(*arguments: dict[str, Any], stop: StopReason = StopReason.TOOL_CALLS) -> Completion:
    return answer(*(("edit_file", {"file": "a.py", **one}) for one in arguments), stop=stop)


async def worked(
    *replies: Completion, text: str = TEXT, settings: Settings | None = None
) -> tuple[AgentHarness, Turn]:
    table = AgentHarness(
        make_workspace(opened={"/ws/a.py": text}, settings=settings), [*replies, DONE]
    )
    return table, await table.ask()


def tool_results(table: AgentHarness, request: int) -> list[str]:
    """The answers to the calls before a request, in order."""
    messages = table.model.requests[request].messages
    last_answer = max(n for n, message in enumerate(messages) if message.role == "assistant")
    return [message.content for message in messages[last_answer + 1 :]]


def swap(old: str, new: str, summary: str = "") -> dict[str, Any]:
    return {"old_text": old, "new_text": new, "summary": summary}


async def test_line_numbers_are_those_that_were_shown_for_all_of_them() -> None:
    table, _ = await worked(
        edits(
            {"position": "insert:1", "content": "zero"},
            {"position": "replace:2", "content": "2\n2"},
            {"position": "delete:4"},
            {"position": "end", "content": "six"},
        )
    )
    assert table.proposed() == "zero\none\n2\n2\nthree\nfive\nsix\n"
    assert [hunk.kind for hunk in table.hunks] == ["add", "replace", "delete", "add"]


async def test_every_hunk_has_the_summary_of_its_own_edit() -> None:
    table, _ = await worked(edits(swap("two", "2", "Twice"), swap("four", "4", "Fourfold")))
    assert [hunk.summary for hunk in table.hunks] == ["Twice", "Fourfold"]
    first, second = tool_results(table, 1)
    assert first.startswith("Proposed h1 at line 2")
    assert second.startswith("Proposed h2 at line 4")


async def test_insertions_at_one_place_keep_their_order() -> None:
    table, _ = await worked(
        edits(
            {"position": "insert:3", "content": "b"},
            {"position": "insert:3", "content": "a"},
            {"position": "insert:3", "content": "c"},
        )
    )
    assert table.proposed() == TEXT.replace("three", "b\na\nc\nthree")
    (hunk,) = table.hunks
    assert all(one.startswith(f"Proposed {hunk.id}") for one in tool_results(table, 1))


async def test_two_places_of_one_line_become_one_hunk() -> None:
    table, _ = await worked(edits(swap("a", "b", "Name"), swap("1", "2", "Value")), text="a = 1\n")
    (hunk,) = table.hunks
    assert (hunk.new, hunk.summary) == ("b = 2\n", "Name; Value")


async def test_quotes_may_share_lines_that_neither_changes() -> None:
    table, _ = await worked(edits(swap("one\ntwo\n", "1\ntwo\n"), swap("two\nthree\n", "two\n3\n")))
    assert table.proposed() == "1\ntwo\n3\nfour\nfive\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (swap("two\nthree", "x"), swap("three\nfour", "y")),
        ({"position": "replace:2-3", "content": "x"}, {"position": "delete:3"}),
        ({"position": "replace:2-3", "content": "x"}, {"position": "insert:3", "content": "y"}),
        (swap("two\n", "two\nx\n"), swap("two\n", "two\ny\n")),
        ({"position": "replace:2", "content": "x"}, swap("two", "y")),
    ],
)
async def test_overlapping_edits_are_refused_and_both_are_named(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    table, turn = await worked(edits(swap("five", "5"), first, second))
    assert table.hunks == ()
    other, one, two = tool_results(table, 1)
    assert one == two
    assert one.startswith("Error: 'a.py': edits 2 (")
    assert "and 3 (" in one
    assert other.startswith("Error: Edit 2 of this file failed: 'a.py': edits 2 (")
    assert all(text.endswith("was proposed; send all of them again.\n") for text in (one, other))
    assert [run.state for run in turn.tool_calls[:3]] == [ToolState.ERROR] * 3


async def test_edits_that_overlap_only_together_are_all_named() -> None:
    """The first two add at one place, which the third quotes as text around what it changes."""
    table, _ = await worked(
        edits(
            {"position": "insert:3", "content": "x"},
            {"position": "insert:3", "content": "y"},
            swap("two\nthree\nfour", "two\nthree\n4"),
            swap("one\ntwo", "1\ntwo"),
        )
    )
    assert table.hunks == ()
    assert all("of this answer overlap" in one for one in tool_results(table, 1))


async def test_edit_that_is_not_found_holds_the_others_back() -> None:
    table, _ = await worked(edits(swap("two", "2"), swap("nothing like it", "12")))
    assert table.hunks == ()
    first, second = tool_results(table, 1)
    assert first == (
        "Error: Edit 2 of this file failed: 'a.py': The old text is not in the file. Nothing in the "
        "file is like it: read the file again. None of the 2 edits of this file in this answer was "
        "proposed; send all of them again.\n"
    )
    assert second.startswith("Error: 'a.py': The old text is not in the file.")


async def test_edit_refused_by_the_policy_does_not_affect_others_and_is_reported_to_the_user() -> (
    None
):
    table, turn = await worked(
        edits({"position": "insert:1", "content": "zero"}, {"position": "delete:4"}),
        settings=Settings(edit=EditSettings(can_delete=False)),
    )
    assert table.proposed() == f"zero\n{TEXT}"
    first, second = tool_results(table, 1)
    assert first.startswith("Proposed h1 at line 1")
    assert second.startswith("Error: Refused by the rule edit.canDelete")
    assert second.endswith("The other edits of this file in this answer were proposed.\n")
    assert turn.failed == ()
    assert [(one.position, one.rule) for one in turn.rejected] == [("delete:4", "edit.canDelete")]


async def test_each_edit_is_refused_by_itself_if_the_policy_refuses_all() -> None:
    table, turn = await worked(
        edits({"position": "delete:2"}, {"position": "delete:4"}),
        settings=Settings(edit=EditSettings(can_delete=False)),
    )
    assert table.hunks == ()
    assert [one.position for one in turn.rejected] == ["delete:2", "delete:4"]
    assert not any("other edits" in one or "send all" in one for one in tool_results(table, 1))


async def test_a_place_that_is_not_found_holds_back_also_beside_a_refused_edit() -> None:
    table, turn = await worked(
        edits({"position": "delete:4"}, swap("none", "x"), {"position": "end", "content": "six"}),
        settings=Settings(edit=EditSettings(can_delete=False)),
    )
    assert table.hunks == ()
    refused, lost, held = tool_results(table, 1)
    assert refused.startswith("Error: Refused by the rule edit.canDelete")
    assert lost.startswith("Error: 'a.py': The old text is not in the file.")
    assert held.startswith("Error: Edit 2 of this file failed: 'a.py'")
    assert [(one.position, one.file) for one in turn.failed] == [("none", "a.py")]


@pytest.mark.parametrize(
    ("bad", "n_failed"),
    [
        (swap("none", "x"), 1),
        ({"position": "replace:90", "content": "x"}, 1),
        ({"old_text": "four"}, 1),
        (swap("wo\n", "x"), 1),
        (swap("a" * 400_001, "x"), 1),
    ],
    ids=["not found", "no such line", "not readable", "overlaps the first", "too large"],
)
async def test_in_the_last_round_what_is_valid_is_proposed(
    bad: dict[str, Any], n_failed: int
) -> None:
    settings = Settings(agent=AgentSettings(max_iterations=2))
    table, turn = await worked(
        READ, edits(swap("two\n", "2\n"), bad, swap("four", "4")), settings=settings
    )
    assert table.proposed() == TEXT.replace("two", "2").replace("four", "4")
    assert (turn.state, len(turn.failed)) == (TurnState.LIMITED, n_failed)
    assert turn.tool_calls[2].error


async def test_edit_with_invalid_arguments_holds_the_others_back() -> None:
    table, _ = await worked(edits(swap("two", "2"), {"old_text": "four"}))
    assert table.hunks == ()
    first, second = tool_results(table, 1)
    assert first.startswith("Error: Edit 2 of this file failed: 'edit_file': ")
    assert second.startswith("Error: 'edit_file': Value error, give either old_text and new_text")


async def test_edit_that_is_applied_already_is_no_failure() -> None:
    table, _ = await worked(edits(swap("two", "2"), swap("fourteen", "four")))
    assert table.proposed() == TEXT.replace("two", "2")
    assert tool_results(table, 1)[1] == "a.py already says so; nothing to do.\n"


async def test_edits_of_other_files_are_independent() -> None:
    table = AgentHarness(
        make_workspace(opened={"/ws/b.py": "b\n", "/ws/a.py": TEXT}),
        [
            answer(
                ("edit_file", {"file": "b.py", **swap("b", "B")}),
                ("edit_file", {"file": "a.py", **swap("none", "2")}),
                ("edit_file", {"file": "./a.py", **swap("two", "2")}),
            ),
            DONE,
        ],
    )
    await table.ask()
    assert [hunk.new for hunk in table.hunks] == ["B\n"]


async def test_reading_between_edits_does_not_move_them() -> None:
    table, _ = await worked(
        answer(
            ("edit_file", {"file": "a.py", "position": "delete:1"}),
            ("read_file", {"file": "a.py"}),
            ("edit_file", {"file": "a.py", "position": "delete:3"}),
        )
    )
    assert table.proposed() == "two\nfour\nfive\n"
    read = tool_results(table, 1)[1]
    assert "h1 takes out line 1; h2 takes out line 3" in read


async def test_a_call_that_was_cut_is_left_out() -> None:
    table, _ = await worked(
        edits(swap("two", "2"), swap("three", "3"), swap("four", "4"), stop=StopReason.LENGTH)
    )
    assert table.proposed() == TEXT.replace("two", "2").replace("three", "3")
    assert tool_results(table, 1)[2].startswith("Error: Your answer was cut off within this call")


async def test_pending_text_and_file_text_are_edited_together() -> None:
    table, _ = await worked(
        edits(swap("two", "2"), swap("four", "4")),
        edits(swap("2\nthree", "II\nthree"), swap("five", "5"), swap("4", "four")),
    )
    assert table.proposed() == "one\nII\nthree\nfour\n5\n"
    assert [(hunk.new, hunk.state) for hunk in table.hunks if hunk.state == "pending"] == [
        ("II\n", "pending"), ("5\n", "pending"),
    ]  # fmt: skip


async def test_edit_that_overlaps_an_earlier_proposal_is_refused_as_a_whole() -> None:
    table, _ = await worked(
        edits(swap("two", "2")), edits({"position": "delete:2-3"}, swap("five", "5"))
    )
    assert [hunk.new for hunk in table.hunks] == ["2\n"]
    assert all("already have a pending hunk (h1" in one for one in tool_results(table, 2))


async def test_last_line_without_an_end_cannot_be_deleted_while_a_line_is_added_after_it() -> None:
    table, _ = await worked(
        edits({"position": "delete:2"}, {"position": "end", "content": "c"}), text="a\nb"
    )
    assert table.hunks == ()
    table, _ = await worked(
        edits({"position": "replace:2", "content": "B"}, {"position": "end", "content": "c"}),
        text="a\nb",
    )
    assert table.proposed() == "a\nB\nc"


async def test_text_that_was_read_is_edited_while_the_user_types() -> None:
    """Text that was shown before, and changed since, is known by what it was then."""
    table = AgentHarness(
        make_workspace(opened={"/ws/a.py": TEXT}),
        [
            READ,
            READ,
            edits(swap("two\nthree", "x"), swap("five", "5")),
            edits(swap("five", "5")),
            DONE,
        ],
    )
    typed = [insertion(0, 0, "zero\n"), WireEdit(3, 0, 3, 5, "3")]

    def type_after_reading(event: AgentEvent) -> None:
        if isinstance(event, ToolEnded) and typed:
            table.type(typed.pop(0))

    table.on_event = type_after_reading
    await table.ask()
    first, second = tool_results(table, 3)
    assert first.startswith("Error: 'a.py': The user has changed this text (now lines 3-4)")
    assert second.startswith("Error: Edit 1 of this file failed: ")
    assert table.proposed() == "zero\none\ntwo\n3\nfour\n5\n"
