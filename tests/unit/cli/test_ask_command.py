"""The last line of `stet ask` says which model answered and what it used."""

from typing import Any

import pytest

from stet.cli.ask_command import turn_facts

WHY = "the only key"


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ({"model": "m", "provider": "openai", "why": WHY}, f"m (openai: {WHY})"),
        ({"model": "m", "provider": "openai", "why": None}, "m (openai)"),
        ({"model": "", "provider": "openai", "why": WHY}, f"openai: {WHY}"),
        ({"model": None, "provider": "openai", "why": None}, "openai"),
        ({"model": None, "provider": None, "why": None}, "no model"),
        ({}, "no model"),
    ],
)
def test_turn_facts_leave_out_what_is_unknown(model: dict[str, Any], shown: str) -> None:
    assert turn_facts({}, model) == f"{shown} · 0 tokens in, 0 out"
