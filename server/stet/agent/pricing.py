"""What a turn's tokens cost, and where the price is from."""

from dataclasses import dataclass, field

from stet.llm.model import Usage
from stet.settings.values import Price

SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Pricing:
    """The price that a turn is billed at.

    Attributes:
        price: Per million tokens, in US dollars or whatever the user gave it in.
        source: `settings`, or `table` and the date of the table; "" where no price is known.
    """

    price: Price = field(default_factory=Price)
    source: str = ""

    def cost(self, usage: Usage) -> float | None:
        """Return what `usage` costs, or None where no price is known."""
        price = self.price
        if price.input is None or price.output is None:
            return None
        cached = price.input if price.cached_input is None else price.cached_input
        fresh = usage.prompt - usage.cached
        return (fresh * price.input + usage.cached * cached + usage.completion * price.output) / 1e6


def users_pricing(price: Price) -> Pricing:
    """Return the price of the settings, if it says what input and output cost."""
    is_known = price.input is not None and price.output is not None
    return Pricing(price, SETTINGS) if is_known else Pricing()


def pricing_of(price: Price, provider: str, model: str) -> Pricing:
    """Return the price of the settings or, for what they leave open, of the built-in table.

    Args:
        price: `model.price`.
        provider: The name of a preset.
        model: As the provider calls it.
    """
    from stet.llm.providers import listed_price  # late: the first turn looks, the start need not

    users = users_pricing(price)
    listed = None if users.source else listed_price(provider, model)
    if listed is None:
        return users
    table = listed.price
    source = f"table {listed.date}"
    if price.input is not None:  # the table's price of cached input is a part of its own input's
        return Pricing(Price(price.input, price.cached_input, table.output), source)
    cached = table.cached_input if price.cached_input is None else price.cached_input
    output = table.output if price.output is None else price.output
    return Pricing(Price(table.input, cached, output), source)
