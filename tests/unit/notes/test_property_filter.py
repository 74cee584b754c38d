"""When a property meets a condition."""

import pytest

from stet.notes.note_properties import read_properties
from stet.notes.property_filter import PropertyFilter, parse_moment

FRONT = """---
rating: 4
price: 10.5
code: "007"
due: 2026-05-10
at: 2026-05-10T12:00:00+02:00
status: In Progress
people: [Ann, "[[Bob|Bobby]]"]
link: [[Alpha]]
open: true
nothing:
map: {a: 1, b: two}
---
"""
PROPERTIES = read_properties(FRONT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rating", "4"),
        ("rating", "4.0"),
        ("rating", ">3"),
        ("rating", ">= 4"),
        ("rating", "<10"),
        ("rating", "!=5"),
        ("price", ">9"),
        ("code", "7"),
        ("due", "2026-05-10"),
        ("due", ">=2026-05"),
        ("due", "2026"),
        ("due", "<2026-05-11"),
        ("due", ">2026-05-09T23:00:00"),
        ("at", "2026-05-10T10:00:00Z"),
        ("status", "in progress"),
        ("status", "=In Progress"),
        ("status", ">archived"),
        ("people", "ann"),
        ("people", "Bob"),
        ("people", "!=Eve"),
        ("link", "Alpha"),
        ("open", "true"),
        ("nothing", ""),
        ("map", "two"),
    ],
)
def test_a_condition_is_met(name: str, value: str) -> None:
    assert PropertyFilter.parse(value).matches(PROPERTIES[name])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rating", "44"),
        ("rating", ">4"),
        ("rating", ">high"),
        ("price", "<=9"),
        ("due", "2026-05-11"),
        ("due", ">2026-05"),
        ("due", "<tomorrow"),
        ("status", "progress"),
        ("status", ">3"),
        ("people", "!=Ann"),
        ("people", "Bobby"),
        ("nothing", "null"),
        ("nothing", ">0"),
        ("rating", "nan"),
    ],
)
def test_a_condition_is_not_met(name: str, value: str) -> None:
    assert not PropertyFilter.parse(value).matches(PROPERTIES[name])


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "20260101", "2026", "2026-05-10x"])
def test_invalid_date_is_none(text: str) -> None:
    assert parse_moment(text) is None


@pytest.mark.parametrize(
    ("written", "operator", "text"),
    [
        ("  >=  4 \n", ">=", "4"),
        ("= In Progress ", "", "In Progress"),
        ("a\n b", "", "a\n b"),
        ("\t", "", ""),
        ("!= = 1", "!=", "= 1"),
    ],
)
def test_a_condition_is_an_operator_and_a_text_without_the_space_round_them(
    written: str, operator: str, text: str
) -> None:
    assert PropertyFilter.parse(written) == PropertyFilter(operator, text)
