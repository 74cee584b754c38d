"""What a turn has used, in a few words for its end."""

from stet.agent.turn import Turn


def describe_usage(turn: Turn) -> str:
    """Rounds, tokens in and out, how much of them the provider had cached, and what it cost.

    A cost is in the currency of `model.price`, which names none; "about" where tokens are estimated.
    """
    usage, n_rounds = turn.usage, len(turn.rounds)
    about = "about " if usage.estimated else ""
    cached = f" ({usage.cached_share:.0%} cached)" if usage.cached else ""
    rounds = f"{n_rounds} round{'s' if n_rounds != 1 else ''}"
    words = f"{rounds}, {about}{usage.prompt:,} tokens in{cached}, {usage.completion:,} out"
    return words if turn.cost is None else f"{words}, cost {about}{turn.cost:.4g}"
