"""What a turn has used is said in a few words."""

import dataclasses

from stet.agent.turn import Ask, Mode, Turn
from stet.context.context_builder import EditorLocation
from stet.llm.model import Usage
from stet.lsp.presentation.turn_view import describe_usage

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
