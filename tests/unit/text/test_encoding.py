"""Columns in the editor's units are columns in code points, and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.encoding import Encoding, column_from_units, units_from_column
from tests.support.naive_text import NASTY, naive_offset

nasty = st.lists(st.sampled_from([one for one in NASTY if one[-1] not in "\r\n"]), max_size=60)
ends = st.sampled_from(["", "\n", "\r", "\r\n"])


@pytest.mark.parametrize(
    ("encoding", "columns"),
    [
        (Encoding.UTF8, [0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4]),
        (Encoding.UTF16, [0, 1, 2, 2, 3, 4, 4, 4, 4, 4, 4]),
        (Encoding.UTF32, [0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4]),
    ],
)
def test_units_inside_a_character_are_rounded_down(encoding: Encoding, columns: list[int]) -> None:
    assert [column_from_units("aé😀b\r\n", units, encoding) for units in range(11)] == columns


@pytest.mark.slow
@pytest.mark.parametrize("encoding", Encoding)
@given(pieces=nasty, end=ends, units=st.integers(-2, 200))
@settings(max_examples=100, deadline=None)
def test_column_equals_a_naive_count(
    encoding: Encoding, pieces: list[str], end: str, units: int
) -> None:
    line = "".join(pieces) + end
    assert column_from_units(line, units, encoding) == naive_offset(line, 0, units, encoding.value)


@pytest.mark.parametrize("encoding", Encoding)
@given(pieces=nasty, end=ends)
@settings(max_examples=100, deadline=None)
def test_every_column_survives_the_way_to_the_editor_and_back(
    encoding: Encoding, pieces: list[str], end: str
) -> None:
    text = "".join(pieces)
    columns = range(len(text) + 1)
    units = [units_from_column(text + end, column, encoding) for column in columns]
    assert [column_from_units(text + end, one, encoding) for one in units] == list(columns)


def test_a_column_outside_the_line_counts_as_its_nearest_end() -> None:
    assert [units_from_column("é", column, Encoding.UTF8) for column in (-1, 0, 1, 9)] == [
        0,
        0,
        2,
        2,
    ]
