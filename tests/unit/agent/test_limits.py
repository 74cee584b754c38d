"""The caps of a turn: what is left, and what is said when nothing is."""

import pytest

from stet.agent.limits import MIN_ANSWER_TOKENS, Limits, Pricing
from stet.llm.model import Usage
from stet.settings.values import Price

LIMITS = Limits(rounds=5, tokens=10_000, seconds=60)
DOLLAR = Pricing(Price(10, 1, 100), "settings")
"""A dollar for 100,000 tokens of input, or a million cached ones, or 10,000 of output."""
ANSWER = MIN_ANSWER_TOKENS / 10_000
"""Dollars of the least answer."""


@pytest.mark.parametrize(
    ("rounds", "spent", "prompt", "words"),
    [
        (0, 0, 100, ""),
        (4, 9_000, 1_000 - MIN_ANSWER_TOKENS, ""),
        (5, 0, 100, "Stopped after 5 rounds (agent.maxIterations)."),
        (1, 10_000, 100, "Stopped after 10000 tokens (agent.maxTokens is 10000)."),
        (1, 9_000, 900, "the next round would take about 900 more"),
        (0, 0, 9_999, "Not sent: the request would take about 9999 tokens"),
    ],
)
def test_round_starts_only_with_tokens_left(
    rounds: int, spent: int, prompt: int, words: str
) -> None:
    why = LIMITS.exceeded_reason(rounds, spent, prompt)
    assert words in why
    assert bool(words) == bool(why)


@pytest.mark.parametrize(
    ("rounds", "spent", "prompt", "words"),
    [
        (0, 0, 4_000, ""),
        (3, 5_000, 1_000, ""),
        (4, 0, 100, "5 rounds"),
        (0, 0, 5_000, "agent.maxTokens is 10000"),
        (2, 6_000, 2_000, "agent.maxTokens is 10000"),
    ],
)
def test_round_is_the_last_if_no_tokens_remain_for_another(
    rounds: int, spent: int, prompt: int, words: str
) -> None:
    why = LIMITS.last_round_reason(rounds, spent, prompt)
    assert words in why
    assert bool(words) == bool(why)


def test_answer_limit_is_the_rest_of_the_tokens_with_a_minimum() -> None:
    assert LIMITS.max_answer_tokens(2_000, 3_000) == 5_000
    assert LIMITS.max_answer_tokens(9_000, 900) == MIN_ANSWER_TOKENS
    assert LIMITS.out_of_time.startswith("Stopped after 60 seconds (agent.maxSeconds).")


def priced(cost: float | None, pricing: Pricing = DOLLAR) -> Limits:
    """Limits that money reaches first."""
    return Limits(rounds=5, tokens=10_000_000, seconds=60, cost=cost, pricing=pricing)


@pytest.mark.parametrize(
    ("cost", "used", "prompt", "words"),
    [
        (None, Usage(10**9, 10**9), 10**6, ""),
        (0.1 + ANSWER, None, 10_000, ""),
        (0.1, None, 10_000, "Not sent: the request would cost about $0.12"),
        (1, Usage(100_000, 0), 1, "Stopped after $1 (agent.maxCost is $1)."),
        (1, Usage(0, 12_345), 1, "Stopped after $1.234 (agent.maxCost is $1)."),
        (1, Usage(50_000, 0), 50_000, "the next round would cost about $0.52 more"),
        (1, Usage(50_000, 0, cached=50_000), 50_000, ""),
        (0.1, Usage(50_000, 0, cached=50_000), 50_000, "would cost about $0.07 more"),
    ],
)
def test_round_starts_only_with_money_left(
    cost: float | None, used: Usage | None, prompt: int, words: str
) -> None:
    why = priced(cost).cost_exceeded_reason(used or Usage(), used, prompt)
    assert words in why
    assert bool(words) == bool(why)


@pytest.mark.parametrize(
    "limits",
    [priced(0, Pricing()), priced(0, Pricing(Price(0, 0, 0), "settings"))],
    ids=["no price", "free"],
)
def test_cost_limit_has_no_effect_on_a_free_model(limits: Limits) -> None:
    used = Usage(1000, 1000)
    assert (
        limits.cost_exceeded_reason(used, used, 1000)
        == limits.cost_last_round_reason(used, used, 1000)
        == ""
    )
    assert limits.answer_ceiling(used, used, 1000)[1] == "agent.maxTokens is 10000000"


def test_round_is_the_last_if_no_money_remains_for_another() -> None:
    used = Usage(50_000, 0)
    assert priced(1).cost_last_round_reason(used, used, 20_000) == ""
    assert "agent.maxCost is $1" in priced(1).cost_last_round_reason(used, used, 24_000)


def test_answer_limit_is_what_the_rest_of_the_money_pays() -> None:
    used = Usage(50_000, 0)
    assert priced(1).answer_ceiling(used, used, 10_000) == (4_000, "agent.maxCost is $1")
    assert priced(1).answer_ceiling(used, used, 50_000)[0] == MIN_ANSWER_TOKENS
    assert priced(10**6).answer_ceiling(Usage(), None, 0) == (
        10_000_000,
        "agent.maxTokens is 10000000",
    )
