"""The known providers: address, names of the key's variables, default model, and list prices.

A default model is the provider's own name for a mid-priced model that calls tools. Names change, so
the message of a 404 says to set `model.name`.

Prices are in US dollars per million tokens, with their date. `model.price` overrides them. Only
models with a certain price are listed; an alias that its provider moves from model to model
(`gemini-flash-latest`) is not listed. Providers with prices that depend on the hour, the region or
the server of a request (DeepSeek, Azure, OpenRouter) are not listed either. If a provider charges
more for a longer prompt, the price is that of up to 200,000 tokens; if there is no price of cached
input, cached input counts as input.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from stet.settings.values import Price

OPENAI_CAP = "max_completion_tokens"
"""What OpenAI calls the cap on an answer today; the others kept its first name."""


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


def _hosted(
    name: str,
    base_url: str,
    model: str,
    families: tuple[str, ...] = (),
    tools: Literal["native", "auto"] = "native",
) -> ProviderSpec:
    """Return a provider whose key is in the variable NAME_API_KEY.

    That is ANTHROPIC_API_KEY, DEEPSEEK_API_KEY, FIREWORKS_API_KEY, GROQ_API_KEY, MISTRAL_API_KEY,
    OPENROUTER_API_KEY, TOGETHER_API_KEY or XAI_API_KEY.
    """
    return ProviderSpec(name, base_url, (f"{name.upper()}_API_KEY",), model, tools, "", families)


def _local(name: str, port: int, how: str) -> ProviderSpec:
    """Return a server on this machine. `how` says how it is started."""
    hint = f"Start it {how}."
    return ProviderSpec(name, f"http://127.0.0.1:{port}/v1", tools="auto", hint=hint)


_ALL = (
    ProviderSpec(
        "openai",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "gpt-5-mini",
        base_url_env="OPENAI_BASE_URL",
        families=("gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"),
        max_tokens_field=OPENAI_CAP,
    ),
    _hosted("anthropic", "https://api.anthropic.com/v1", "claude-sonnet-4-5", ("claude-",)),
    ProviderSpec(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-flash-latest",
        families=("gemini-",),
    ),
    _hosted("openrouter", "https://openrouter.ai/api/v1", "openrouter/auto", tools="auto"),
    _hosted("groq", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b", tools="auto"),
    _hosted(
        "mistral",
        "https://api.mistral.ai/v1",
        "mistral-medium-latest",
        ("mistral-", "codestral-", "devstral-", "magistral-", "ministral-"),
    ),
    _hosted("deepseek", "https://api.deepseek.com/v1", "deepseek-chat", ("deepseek-",)),
    _hosted("xai", "https://api.x.ai/v1", "grok-4", ("grok-",)),
    _hosted("together", "https://api.together.xyz/v1", "openai/gpt-oss-120b", tools="auto"),
    _hosted(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "accounts/fireworks/models/gpt-oss-120b",
        tools="auto",
    ),
    ProviderSpec(
        "azure",
        "",
        ("AZURE_OPENAI_API_KEY",),
        base_url_env="AZURE_OPENAI_ENDPOINT",
        max_tokens_field=OPENAI_CAP,
    ),
    _local("ollama", 11434, "with `ollama serve`"),
    _local("lmstudio", 1234, "in LM Studio (Developer) or with `lms server start`"),
    _local("llamacpp", 8080, "with `llama-server --jinja -m MODEL.gguf`"),
    _local("vllm", 8000, "with `vllm serve MODEL`"),
)

COMPATIBLE = ProviderSpec("openai-compatible", "", tools="auto")
"""A server at an address given by the user, not of a provider above."""

PROVIDERS = {preset.name: preset for preset in _ALL}
"""By name, in the order in which `auto` looks for keys and servers."""

HOSTED = tuple(preset for preset in _ALL if preset.key_envs)
LOCAL_SERVERS = tuple(preset for preset in _ALL if not preset.key_envs)


_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)")
"""What follows the name of a model in the names of its versions."""
_FREE = frozenset({"local", *(preset.name for preset in LOCAL_SERVERS)})


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of one provider.

    Attributes:
        date: When they were published so, ISO 8601.
        prices: By the name of the model, without a version.
    """

    date: str
    prices: Mapping[str, Price]


_OPUS, _OPUS_4 = Price(5, 0.5, 25), Price(15, 1.5, 75)
_SONNET, _HAIKU = Price(3, 0.3, 15), Price(1, 0.1, 5)
_GPT_OSS_120B = {"openai/gpt-oss-120b": Price(0.15, None, 0.6)}

PRICE_LISTS = {
    # https://developers.openai.com/api/docs/pricing
    "openai": PriceList(
        "2026-06-20",
        {
            "gpt-5.5": Price(5, 0.5, 30),
            "gpt-5.4": Price(2.5, 0.25, 15),
            "gpt-5.4-mini": Price(0.75, 0.075, 4.5),
            "gpt-5.4-nano": Price(0.2, 0.02, 1.25),
            "gpt-5.2": Price(1.75, 0.175, 14),
            "gpt-5.1": Price(1.25, 0.125, 10),
            "gpt-5": Price(1.25, 0.125, 10),
            "gpt-5-mini": Price(0.25, 0.025, 2),
            "gpt-5-nano": Price(0.05, 0.005, 0.4),
            "gpt-4.1": Price(2, 0.5, 8),
            "gpt-4.1-mini": Price(0.4, 0.1, 1.6),
            "gpt-4.1-nano": Price(0.1, 0.025, 0.4),
            "gpt-4o": Price(2.5, 1.25, 10),
            "gpt-4o-mini": Price(0.15, 0.075, 0.6),
        },
    ),
    # https://platform.claude.com/docs/en/about-claude/pricing
    "anthropic": PriceList(
        "2026-10-10",
        {
            "claude-opus-5": _OPUS,
            "claude-opus-4-8": _OPUS,
            "claude-opus-4-7": _OPUS,
            "claude-opus-4-6": _OPUS,
            "claude-opus-4-5": _OPUS,
            "claude-opus-4-1": _OPUS_4,
            "claude-opus-4-0": _OPUS_4,
            "claude-opus-4": _OPUS_4,
            "claude-sonnet-5": Price(2, 0.2, 10),
            "claude-sonnet-4-6": _SONNET,
            "claude-sonnet-4-5": _SONNET,
            "claude-sonnet-4-0": _SONNET,
            "claude-sonnet-4": _SONNET,
            "claude-haiku-4-5": _HAIKU,
            "claude-3-5-haiku": Price(0.8, 0.08, 4),
        },
    ),
    # https://ai.google.dev/gemini-api/docs/pricing
    "gemini": PriceList(
        "2026-10-07",
        {
            "gemini-3.5-flash": Price(1.5, None, 9),
            "gemini-3.5-flash-lite": Price(0.3, None, 2.5),
            "gemini-2.5-pro": Price(1.25, None, 10),
            "gemini-2.5-flash": Price(0.3, None, 2.5),
            "gemini-2.5-flash-lite": Price(0.1, None, 0.4),
        },
    ),
    # https://mistral.ai/pricing
    "mistral": PriceList(
        "2026-05-22",
        {
            "mistral-medium-3-5": Price(1.5, None, 7.5),
            "mistral-medium-3.5": Price(1.5, None, 7.5),
            "mistral-medium-latest": Price(1.5, None, 7.5),
            "codestral-latest": Price(0.3, None, 0.9),
        },
    ),
    # https://console.groq.com/docs/models
    "groq": PriceList("2026-05-19", _GPT_OSS_120B),
    # https://docs.together.ai/docs/serverless-models
    "together": PriceList("2026-05-19", _GPT_OSS_120B),
}
"""By the name of the preset."""


def listed_price(provider: str, model: str) -> tuple[Price, str] | None:
    """Return the price that a provider's list says of a model and the list's date (ISO 8601), or None
    if it says nothing.

    The longest listed name counts that the model's name is, or begins with before a version
    (`gpt-5-mini-2025-08-07`): `gpt-5-pro` is another model than `gpt-5`.

    Args:
        provider: The name of a preset.
        model: As the provider calls it.
    """
    found = PRICE_LISTS.get(provider)
    if found is None:
        return None
    name = model.lower().removeprefix("models/")
    fitting = [price for price in found.prices if _is_version(name, price)]
    return (found.prices[max(fitting, key=len)], found.date) if fitting else None


def is_free(provider: str) -> bool:
    """Whether a provider's models run on a machine of the user's, and so cost nothing a token."""
    return provider in _FREE


def _is_version(name: str, listed: str) -> bool:
    """Whether `name` is the listed model, or a version of it."""
    rest = name.removeprefix(listed) if name.startswith(listed) else None
    return rest is not None and (not rest or _SNAPSHOT.fullmatch(rest) is not None)
