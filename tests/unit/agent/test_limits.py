"""The caps of a turn: what is left, and what is said when nothing is."""

import pytest

from stet.agent.limits import LEAST_ANSWER, Limits

LIMITS = Limits(rounds=5, tokens=10_000, seconds=60)


@pytest.mark.parametrize(
    ("rounds", "spent", "prompt", "words"),
    [
        (0, 0, 100, ""),
        (4, 9_000, 1_000 - LEAST_ANSWER, ""),
        (5, 0, 100, "Stopped after 5 rounds (agent.maxIterations)."),
        (1, 10_000, 100, "Stopped after 10000 tokens (agent.maxTokens is 10000)."),
        (1, 9_000, 900, "the next round would take about 900 more"),
        (0, 0, 9_999, "Nothing was sent: the question would take about 9999 tokens"),
    ],
)
def test_a_round_begins_only_if_there_is_something_left_for_it(
    rounds: int, spent: int, prompt: int, words: str
) -> None:
    why = LIMITS.over(rounds, spent, prompt)
    assert words in why
    assert bool(words) == bool(why)


@pytest.mark.parametrize(
    ("rounds", "spent", "prompt", "words"),
    [
        (0, 0, 4_000, ""),
        (3, 5_000, 1_000, ""),
        (4, 0, 100, "5 rounds"),
        (0, 0, 5_000, "agent.maxTokens (10000)"),
        (2, 6_000, 2_000, "agent.maxTokens (10000)"),
    ],
)
def test_a_round_is_the_last_if_there_will_be_nothing_left_for_another(
    rounds: int, spent: int, prompt: int, words: str
) -> None:
    why = LIMITS.last(rounds, spent, prompt)
    assert words in why
    assert bool(words) == bool(why)


def test_an_answer_may_take_what_is_left_and_at_least_a_little() -> None:
    assert LIMITS.answer(2_000, 3_000) == 5_000
    assert LIMITS.answer(9_000, 900) == LEAST_ANSWER
    assert LIMITS.out_of_time.startswith("Stopped after 60 seconds (agent.maxSeconds).")
