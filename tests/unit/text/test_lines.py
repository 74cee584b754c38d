"""Lines end at CRLF, LF and CR, and at nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.lines import (
    dominant_line_end,
    end_of,
    line_end,
    split_lines,
    split_plain,
    strip_ends,
    without_end,
)
from stet.text.position import Position
from tests.support.naive_text import NASTY, naive_lines

nasty = st.lists(st.sampled_from(NASTY), max_size=20).map("".join)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a\n", ""]),
        ("a\r\nb\rc\nd", ["a\r\n", "b\r", "c\n", "d"]),
        ("\n\r", ["\n", "\r", ""]),
        ("\r\r\n", ["\r", "\r\n", ""]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\x00", ["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\x00"]),
        ("\ufeffa\n\ud83d", ["\ufeffa\n", "\ud83d"]),
    ],
)
def test_a_text_is_split_at_its_line_ends_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(text=nasty)
@settings(max_examples=200, deadline=None)
def test_any_text_is_split_as_a_naive_splitter_does(text: str) -> None:
    lines = split_lines(text)
    assert [(without_end(line), line_end(line)) for line in lines] == [
        (line, end) for _, line, end in naive_lines(text)
    ]
    assert strip_ends(lines) == [line for _, line, _ in naive_lines(text)]
    assert end_of(Position(0, 0), text) == Position(len(lines) - 1, len(lines[-1]))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "last"])
def test_a_very_long_text_is_split_as_a_short_one_is(end: str, last: str) -> None:
    lines = [f"{'x' * (n % 97)} {n}{end}" for n in range(30_000)]
    lines.insert(900, f"{'long ' * 300_000}{end}")
    text = "".join(lines) + last
    assert split_lines(text) == [*lines, last]
    assert split_plain(text) == text.split("\n")


def test_the_line_end_used_most_wins_and_lf_where_there_is_none() -> None:
    texts = ("", "a", "a\r\nb\r\nc\n", "a\rb\rc\n", "a\r\nb\n")
    assert [dominant_line_end(text) for text in texts] == ["\n", "\n", "\r\n", "\r", "\n"]


def test_end_of_an_inserted_text_is_counted_from_its_start() -> None:
    assert end_of(Position(3, 5), "ab") == Position(3, 7)
    assert end_of(Position(3, 5), "ab\r\ncde") == Position(4, 3)
