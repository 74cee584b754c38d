"""Whatever is read as settings, what comes of it is valid: values drawn at random."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from stet.settings.values import PresetSettings
from tests.support.all_settings import ALL
from tests.support.settings_parsing import ParsedSettings, parse_settings

# A busy machine is no reason to fail.
FEW = hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SECTIONS = st.sampled_from(["stet", *ALL, "price", "web", "unknown"])
KEYS = (
    SECTIONS
    | st.sampled_from(
        [key for section in ALL.values() if isinstance(section, dict) for key in section]
    )
    | st.text()
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.just(10**4000)
    | st.just("\udc80"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@FEW
@given(JSON)
def test_any_json_gives_valid_settings(value: object) -> None:
    assert_valid(parse_settings(value))


@pytest.mark.slow
@FEW
@given(st.dictionaries(SECTIONS, st.dictionaries(KEYS, JSON, max_size=4), max_size=3))
def test_any_values_of_known_keys_give_valid_settings(value: object) -> None:
    assert_valid(parse_settings(value))


def assert_valid(parsed: ParsedSettings) -> None:
    """Settings that go through JSON and come back the same, and readable messages."""
    again = parse_settings(as_json(parsed.settings))
    assert again.settings == parsed.settings
    # An address that can't be followed is reported and kept.
    assert {problem.key.rpartition(".")[2] for problem in again.problems} <= {"baseUrl"}
    assert all(str(problem).encode() for problem in parsed.problems)


def as_json(value: Any) -> Any:
    """What a user writes to set a value."""
    if isinstance(value, tuple):
        if any(isinstance(item, PresetSettings) for item in value):
            return {item.name: as_json(item) for item in value}
        return [as_json(item) for item in value]
    if not is_dataclass(value):
        return value
    items = [one for one in fields(value) if not {"ours", "key"} & {*one.metadata}]
    given = {one.name: as_json(getattr(value, one.name)) for one in items}
    return {camel(name): item for name, item in given.items() if item is not None}


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
