"""The limits of a turn (rounds, tokens, seconds, money), and what its tokens cost."""

from dataclasses import dataclass, field

from stet.llm.model import Usage
from stet.settings.values import AgentSettings, Price

SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Pricing:
    """The price of the tokens of a turn.

    Attributes:
        price: The price per million tokens, in US dollars or in the currency of the user's setting.
        source: `settings`, or `table` and the date of the table; "" if no price is known.
    """

    price: Price = field(default_factory=Price)
    source: str = ""

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of `usage`, or None if no price is known."""
        price = self.price
        if price.input is None or price.output is None:
            return None
        cached = price.input if price.cached_input is None else price.cached_input
        fresh = usage.prompt - usage.cached
        return (fresh * price.input + usage.cached * cached + usage.completion * price.output) / 1e6


def users_pricing(price: Price) -> Pricing:
    """Return the price of the settings, if it has the prices of input and output."""
    is_known = price.input is not None and price.output is not None
    return Pricing(price, SETTINGS) if is_known else Pricing()


def pricing_of(price: Price, provider: str, model: str) -> Pricing:
    """Return the price of the settings; the built-in table supplies what they leave out.

    Args:
        price: The setting `model.price`.
        provider: The name of a provider preset.
        model: The provider's name of the model.
    """
    from stet.llm.providers import listed_price  # late: not needed before the first turn

    users = users_pricing(price)
    listed = None if users.source else listed_price(provider, model)
    if listed is None:
        return users
    table, date = listed
    source = f"table {date}"
    if price.input is not None:  # the table's cached price is a fraction of the table's input price
        return Pricing(Price(price.input, price.cached_input, table.output), source)
    cached = table.cached_input if price.cached_input is None else price.cached_input
    output = table.output if price.output is None else price.output
    return Pricing(Price(table.input, cached, output), source)


MIN_ANSWER_TOKENS = 200
"""A round begins only if at least this many tokens are left for its answer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one turn.

    Attributes:
        rounds: The most rounds with the model.
        tokens: The most tokens of all rounds, input and output.
        seconds: The most seconds, from the first round; enforced by a timer.
        cost: The most cost of all rounds, in US dollars; None for no limit.
        pricing: The price of tokens. Without a known price, `cost` is not enforced.
    """

    rounds: int
    tokens: int
    seconds: float
    cost: float | None = None
    pricing: Pricing = field(default_factory=Pricing)

    @classmethod
    def of(cls, settings: AgentSettings) -> "Limits":
        """Return the user's limits."""
        return cls(
            settings.max_iterations, settings.max_tokens, settings.max_seconds, settings.max_cost
        )

    def exceeded_reason(self, rounds: int, spent: int, prompt: int) -> str:
        """Return why no further round may begin, as a sentence; "" if one may begin.

        Args:
            rounds: The number of rounds so far.
            spent: The tokens of these rounds.
            prompt: The estimated tokens of the next request.
        """
        if rounds >= self.rounds:
            return self.out_of_rounds
        if spent >= self.tokens:
            return f"Stopped after {spent} tokens (agent.maxTokens is {self.tokens})."
        if spent + prompt + MIN_ANSWER_TOKENS <= self.tokens:
            return ""
        if not rounds:
            return (
                f"Not sent: the request would take about {prompt} tokens, and agent.maxTokens is "
                f"{self.tokens}. Reduce the context or raise the limit."
            )
        return (
            f"Stopped after {spent} tokens: the next round would take about {prompt} more "
            f"(agent.maxTokens is {self.tokens})."
        )

    def last_round_reason(self, rounds: int, spent: int, prompt: int) -> str:
        """Return why the round that begins now is the last, as a sentence; "" if it is not."""
        if rounds + 1 >= self.rounds:
            return self.out_of_rounds
        if spent + 2 * (prompt + MIN_ANSWER_TOKENS) <= self.tokens:
            return ""
        return (
            f"Stopped: not enough tokens left for another round (agent.maxTokens is {self.tokens})."
        )

    def max_answer_tokens(self, spent: int, prompt: int) -> int:
        """Return the number of tokens that the next answer may take."""
        return max(MIN_ANSWER_TOKENS, self.tokens - spent - prompt)

    def cost_exceeded_reason(self, used: Usage, latest: Usage | None, prompt: int) -> str:
        """Return why `cost` allows no further round, as a sentence; "" if it allows one.

        Args:
            used: The tokens of all rounds.
            latest: The tokens of the latest round; None before the first one.
            prompt: The estimated tokens of the next request.
        """
        spent, following = self.pricing.cost(used), self._next_cost(latest, prompt)
        if self.cost is None or spent is None or spent + following <= self.cost:
            return ""
        if spent >= self.cost and latest is not None:
            return f"Stopped after ${spent:.4g} ({self._max_cost})."
        if latest is None:
            return (
                f"Not sent: the request would cost about ${following:.4g}, and {self._max_cost}. "
                "Reduce the context or raise the limit."
            )
        return (
            f"Stopped after ${spent:.4g}: the next round would cost about ${following:.4g} more "
            f"({self._max_cost})."
        )

    def cost_last_round_reason(self, used: Usage, latest: Usage | None, prompt: int) -> str:
        """Return why `cost` makes the round that begins now the last, as a sentence, or "".

        The arguments are those of `cost_exceeded_reason`.
        """
        spent, following = self.pricing.cost(used), self._next_cost(latest, prompt)
        if self.cost is None or spent is None or spent + 2 * following <= self.cost:
            return ""
        return (
            "Stopped: not enough budget left for another round (agent.maxCost is "
            f"${self.cost:.4g})."
        )

    def answer_ceiling(self, used: Usage, latest: Usage | None, prompt: int) -> tuple[int, str]:
        """Return how many tokens the next answer may take, and the limit that applies, in words.

        The arguments are those of `cost_exceeded_reason`.
        """
        by_tokens = self.max_answer_tokens(used.total, prompt)
        spent, each = self.pricing.cost(used), self.pricing.cost(Usage(0, 1))
        if self.cost is not None and spent is not None and each:
            left = self.cost - spent - self._next_cost(latest, prompt, answer=0)
            by_cost = max(MIN_ANSWER_TOKENS, int(left / each))
            if by_cost < by_tokens:
                return by_cost, self._max_cost
        return by_tokens, f"agent.maxTokens is {self.tokens}"

    def _next_cost(
        self, latest: Usage | None, prompt: int, answer: int = MIN_ANSWER_TOKENS
    ) -> float:
        """Return the minimum cost of the next round.

        As many tokens are assumed to come from the cache as in the latest round.
        """
        cached = min(prompt, latest.cached) if latest is not None else 0
        return self.pricing.cost(Usage(prompt, answer, cached)) or 0.0

    @property
    def _max_cost(self) -> str:
        """The limit of the cost, in words."""
        return f"agent.maxCost is ${self.cost or 0:.4g}"

    @property
    def out_of_rounds(self) -> str:
        """The sentence for the limit of rounds."""
        return f"Stopped after {self.rounds} rounds (agent.maxIterations)."

    @property
    def out_of_time(self) -> str:
        """The sentence for the limit of seconds."""
        return f"Stopped after {self.seconds:.0f} seconds (agent.maxSeconds)."
