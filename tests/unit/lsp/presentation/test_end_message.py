"""The message at the end of a turn is one line: what was done, and what it used."""

import dataclasses
from typing import Any

import pytest

from stet.agent.turn import Ask, Mode, Turn, TurnState
from stet.context.context_builder import EditorLocation
from stet.llm.model import Usage
from stet.lsp.presentation.end_message import ROOM, describe_usage, end_message, short_message
from stet.review.proposal import HunkKind
from stet.tools.tool_errors import FailedEdit
from tests.support.hunks import make_hunk

ASK = Ask(prompt="Do it", mode=Mode.AGENT, place=EditorLocation(None), chat="main")
TURN = Turn(id="t1", ask=ASK, rounds=(Usage(12_000, 300, cached=9_000), Usage(500, 45)))


def test_tokens_of_all_rounds_and_what_was_cached() -> None:
    assert describe_usage(TURN) == "2 rounds, 12,500 tokens in (72% cached), 345 out"


def test_the_cost_where_the_price_is_known() -> None:
    assert describe_usage(dataclasses.replace(TURN, cost=0.012345)).endswith(
        "345 out, cost 0.01235"
    )


def test_estimated_usage_is_marked() -> None:
    turn = dataclasses.replace(TURN, rounds=(Usage(10, 5, estimated=True),), cost=0.5)
    assert describe_usage(turn) == "1 round, about 10 tokens in, 5 out, cost about 0.5"


def test_the_cached_share_is_a_part_of_the_input() -> None:
    assert (Usage(3, 1, cached=1).cached_share, Usage().cached_share) == (0.333, 0.0)


def test_describe_usage_gives_no_power_of_ten() -> None:
    turn = dataclasses.replace(TURN, cost=0.000_02)
    assert describe_usage(turn).endswith("345 out, cost less than 0.0001")


def message_of(turn: Turn, *, has_proposed: bool = False, has_chat: bool = True) -> str:
    """Return the message at the end of a turn without hunks."""
    return end_message(
        dataclasses.replace(turn, rounds=()), (), (), has_proposed=has_proposed, has_chat=has_chat
    )


LONG = "Overview:\n\n- one\n- two\n- three"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (LONG, "Overview. The answer is in the chat."),
        (f"# Plan\n\n{LONG}", "Plan. The answer is in the chat."),
        (f"It works! And {'more ' * 80}", "It works! The answer is in the chat."),
        ("word " * 90, f"{'word ' * 22}word… The answer is in the chat."),
        (f"```python\n{LONG}", "The answer is in the chat."),
        ("One.\nTwo.", "One. Two."),
    ],
)
def test_end_message_is_one_line_without_the_whole_answer(answer: str, message: str) -> None:
    turn = dataclasses.replace(TURN, answer=answer).ended(TurnState.COMPLETED)
    assert message_of(turn) == message


def test_end_message_is_the_whole_answer_if_there_is_no_chat() -> None:
    turn = dataclasses.replace(TURN, answer=LONG).ended(TurnState.COMPLETED)
    assert message_of(turn, has_chat=False) == LONG


def test_end_message_of_a_limit_gives_its_reason() -> None:
    turn = dataclasses.replace(TURN, answer=LONG).ended(TurnState.LIMITED, error="Stopped early.")
    assert message_of(turn) == "Stopped early. The answer is in the chat."


def test_end_message_consists_of_sentences() -> None:
    turn = dataclasses.replace(
        TURN,
        notes=("@x.txt: There is no file 'x.txt'.", "The conversation was compacted"),
        failed=(FailedEdit("a.py", "", "not found"),),
    ).ended(TurnState.COMPLETED, summary="Made it short")
    assert message_of(turn) == (
        "Made it short. Nothing was proposed: 1 edit could not be applied to a.py. "
        "@x.txt: There is no file 'x.txt'. The conversation was compacted."
    )


def test_replaced_hunks_are_named_with_the_way_back() -> None:
    def message(*uris: str) -> str:
        replaced = [
            make_hunk(nth, HunkKind.REPLACE, old="a\n", new="b\n", uri=uri)
            for nth, uri in enumerate(uris, 1)
        ]
        turn = dataclasses.replace(TURN, summary="Done.", rounds=())
        return end_message(turn, (), replaced, has_proposed=True, has_chat=True)

    one, other = "file:///ws/my%20cart.py", "file:///ws/shop.py"
    way = "with Stet: Restore."
    assert message(one) == f"Done. Replaced 1 earlier hunk in my cart.py; restore it {way}"
    assert message(one, one) == f"Done. Replaced 2 earlier hunks in my cart.py; restore them {way}"
    assert message(one, other) == f"Done. Replaced 2 earlier hunks in 2 files; restore them {way}"


@pytest.mark.parametrize(
    ("turn", "n_hunks", "message"),
    [
        ({"summary": "Named it."}, 1, "Named it. 1 hunk to review."),
        (
            {"summary": "Renamed each use of the old name in all four files of the package"},
            30,
            "Renamed each use of the old name in… 30 hunks to review. See the chat.",
        ),
        (
            {"summary": "Tidied.", "failed": (FailedEdit("a.py", "L1", "no such line"),)},
            2,
            "Tidied. 2 hunks to review. 1 edit failed. See the chat.",
        ),
        ({"answer": "It blows.", "summary": "It blows."}, 0, "It blows."),
        (
            {"answer": f"It {'really ' * 20}blows.", "summary": "It blows."},
            0,
            "It really really really really really really… The answer is in the chat.",
        ),
        (
            {"notes": ("The file is large.",), "summary": "Done"},
            0,
            "Done. The answer is in the chat.",
        ),
        (
            {
                "state": TurnState.FAILED,
                "summary": "No model is available. Install one, or use a key",
            },
            0,
            "No model is available. Install one, or use a key",
        ),
    ],
)
def test_a_message_that_an_editor_would_cut_is_short(
    turn: dict[str, Any], n_hunks: int, message: str
) -> None:
    hunks = [make_hunk(n, HunkKind.REPLACE, old="a\n", new="b\n") for n in range(n_hunks)]
    ended = dataclasses.replace(TURN, **{"state": TurnState.COMPLETED, "rounds": (), **turn})
    assert short_message(ended, hunks, (), has_proposed=bool(hunks)) == message
    assert len(message) <= ROOM
