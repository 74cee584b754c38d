"""The built-in prices: which model has which, and that no model is billed as another."""

import datetime
import json
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter

from stet.agent.limits import Pricing, pricing_of
from stet.llm.model import Usage
from stet.llm.providers import (
    HOSTED,
    LOCAL_SERVERS,
    PROVIDERS,
    ProviderSpec,
    is_free,
    listed_price,
)
from stet.settings.values import Price, Provider

MINI = Price(0.25, 0.025, 2)


@pytest.mark.parametrize(
    ("provider", "model", "price"),
    [
        ("openai", "gpt-5-mini", MINI),
        ("openai", "gpt-5-mini-2025-08-07", MINI),
        ("openai", "GPT-5-Mini", MINI),
        ("openai", "gpt-5-2025-08-07", Price(1.25, 0.125, 10)),
        ("openai", "gpt-5-pro", None),
        ("openai", "gpt-5.9", None),
        ("openai", "gpt-5-miniature", None),
        ("openai", "", None),
        ("openrouter", "gpt-5-mini", None),
        ("openai-compatible", "gpt-5-mini", None),
        ("azure", "gpt-5-mini", None),
        ("anthropic", "claude-sonnet-4-5", Price(3, 0.3, 15)),
        ("anthropic", "claude-opus-4-20250514", Price(15, 1.5, 75)),
        ("anthropic", "claude-opus-4-5-20251101", Price(5, 0.5, 25)),
        ("anthropic", "claude-opus-4-99", None),
        ("gemini", "models/gemini-2.5-flash-001", Price(0.3, None, 2.5)),
        ("gemini", "gemini-2.5-flash-lite", Price(0.1, None, 0.4)),
        ("gemini", "gemini-2.5-flash-image", None),
        ("groq", "openai/gpt-oss-120b", Price(0.15, None, 0.6)),
        ("ollama", "qwen3", None),
    ],
)
def test_the_price_of_a_model(provider: str, model: str, price: Price | None) -> None:
    found = listed_price(provider, model)
    assert (found[0] if found else None) == price


def test_every_list_is_of_a_preset_and_has_a_date_and_prices() -> None:
    listed = [preset for preset in PROVIDERS.values() if preset.prices or preset.prices_date]
    assert listed
    assert all(preset in HOSTED for preset in listed)
    for found in listed:
        assert datetime.date.fromisoformat(found.prices_date) <= datetime.date(2026, 11, 25)
        for name, price in found.prices.items():
            assert name == name.lower()
            assert price.input is not None
            assert price.output is not None
            assert 0 < price.input < price.output
            assert price.cached_input is None or 0 < price.cached_input < price.input


def test_only_what_runs_on_the_users_machine_is_free() -> None:
    assert all(is_free(preset.name) for preset in LOCAL_SERVERS)
    assert is_free("local")
    assert not any(is_free(preset.name) for preset in HOSTED)
    assert not is_free("openai-compatible")


@pytest.mark.parametrize(
    ("users", "pricing"),
    [
        (Price(), Pricing(MINI, "table 2026-06-20")),
        (Price(7, None, 9), Pricing(Price(7, None, 9), "settings")),
        (Price(0, 0, 0), Pricing(Price(0, 0, 0), "settings")),
        (Price(7), Pricing(Price(7, None, 2), "table 2026-06-20")),
        (Price(None, 0.01), Pricing(Price(0.25, 0.01, 2), "table 2026-06-20")),
        (Price(None, None, 9), Pricing(Price(0.25, 0.025, 9), "table 2026-06-20")),
    ],
)
def test_the_settings_override_the_table(users: Price, pricing: Pricing) -> None:
    assert pricing_of(users, "openai", "gpt-5-mini") == pricing


def test_a_model_without_a_price_has_no_cost() -> None:
    unknown = pricing_of(Price(1), "openai-compatible", "mine")
    assert unknown == Pricing()
    assert unknown.cost(Usage(1000, 1000)) is None


def test_the_reference_names_the_variable_of_every_key() -> None:
    reference = (Path(__file__).parents[3] / "docs" / "reference.md").read_text()
    names = [name for preset in HOSTED for name in preset.key_envs]
    assert [name for name in names if f"`{name}`" not in reference] == []


def test_each_provider_is_a_setting_and_each_setting_a_provider() -> None:
    assert {*PROVIDERS, "auto", "local"} == set(get_args(Provider))


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_field_of_a_provider_is_of_its_type(name: str) -> None:
    checker = TypeAdapter(ProviderSpec)
    checker.validate_json(json.dumps(asdict(PROVIDERS[name])), strict=True)
