"""The known providers from `providers.toml`, and the prices of their models."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

from stet.settings.values import Price


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """One provider.

    Attributes:
        name: The name in the setting `model.provider`.
        base_url: The address of its OpenAI-compatible API; "" if the user must give it.
        key_envs: The environment variables of its key, the first that is set; empty: no key is
            needed.
        model: The default model; "": the first that the server lists.
        tools: Whether its models call tools: all of them, or depending on the model.
        base_url_env: The environment variable of the address in its own SDK; "": there is none.
        families: Prefixes of the names of its own models.
        max_tokens_field: The provider's name for the limit on an answer.
        hint: Advice if the server does not answer.
        prices_date: The date of the published prices, ISO 8601.
        prices: The prices by the name of the model, without a version.
    """

    name: str
    base_url: str
    key_envs: tuple[str, ...] = ()
    model: str = ""
    tools: Literal["native", "auto"] = "native"
    base_url_env: str = ""
    families: tuple[str, ...] = ()
    max_tokens_field: str = "max_tokens"
    hint: str = ""
    prices_date: str = ""
    prices: Mapping[str, Price] = field(default_factory=dict)


def _provider(name: str, fields: Mapping[str, Any]) -> ProviderSpec:
    """Return the provider that a table of `providers.toml` describes."""
    values: dict[str, Any] = {
        key: tuple(one) if isinstance(one, list) else one for key, one in fields.items()
    }
    prices = {model: Price(**price) for model, price in values.pop("prices", {}).items()}
    return ProviderSpec(name, **values, prices=prices)


_TABLES = tomllib.loads((files("stet.llm") / "providers.toml").read_text(encoding="utf-8"))
PROVIDERS = {name: _provider(name, fields) for name, fields in _TABLES.items()}
"""The providers by name, in the order in which `auto` tries keys and servers."""

HOSTED = tuple(preset for preset in PROVIDERS.values() if preset.key_envs)
LOCAL_SERVERS = tuple(preset for preset in PROVIDERS.values() if not preset.key_envs)

COMPATIBLE = ProviderSpec("openai-compatible", "", tools="auto")
"""A server at an address given by the user, not of a provider above."""

_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)")
"""The suffix of a version in the name of a model."""
_FREE = frozenset({"local", *(preset.name for preset in LOCAL_SERVERS)})


def listed_price(provider: str, model: str) -> tuple[Price, str] | None:
    """Return a model's price in the provider's list and the list's date (ISO 8601), or None.

    The longest listed name counts that equals the model's name, with or without a version
    (`gpt-5-mini-2025-08-07`): `gpt-5-pro` is another model than `gpt-5`.

    Args:
        provider: The name of a preset.
        model: The provider's name for the model.
    """
    preset = PROVIDERS.get(provider, COMPATIBLE)
    name = model.lower().removeprefix("models/")
    fitting = [price for price in preset.prices if _is_version(name, price)]
    return (preset.prices[max(fitting, key=len)], preset.prices_date) if fitting else None


def is_free(provider: str) -> bool:
    """Return whether a provider's models run on the user's machine, so that tokens cost nothing."""
    return provider in _FREE


def _is_version(name: str, listed: str) -> bool:
    """Return whether `name` is the listed model, or a version of it."""
    rest = name.removeprefix(listed) if name.startswith(listed) else None
    return rest is not None and (not rest or _SNAPSHOT.fullmatch(rest) is not None)
