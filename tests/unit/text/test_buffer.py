"""The buffer agrees with a naive text store, and its changes can be replayed."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.encoding import Encoding
from stet.text.position import Position, Range
from tests.support.naive_text import (
    NASTY,
    naive_lines,
    naive_splice,
    nasty_edit,
    nasty_text,
    whole,
)

nasty = st.lists(st.sampled_from(NASTY), max_size=12).map("".join).map(whole)


def change(start: tuple[int, int], end: tuple[int, int], text: str) -> TextChange:
    return TextChange(Range(Position(*start), Position(*end)), text)


def replayed(text: str, done: TextChange) -> str:
    """`text` after a change, by offsets."""
    document = TextDocument("", text)
    starts = [start for start, _, _ in naive_lines(text)]
    start = starts[done.range.start.line] + done.range.start.character
    end = starts[done.range.end.line] + done.range.end.character
    return document.text[:start] + done.text + document.text[end:]


@pytest.mark.slow
@pytest.mark.parametrize("encoding", Encoding)
def test_34_000_random_edits_agree_with_a_naive_store(encoding: Encoding) -> None:
    rng = random.Random(encoding.value)
    text = nasty_text(rng, 20)
    buffer = TextBuffer(text)
    for _ in range(34_000):
        if len(text) > 60:
            text = nasty_text(rng, 6)
            buffer = TextBuffer(text)
        edit = nasty_edit(rng, len(buffer.lines))
        before, text = text, naive_splice(text, edit, encoding.value)
        done = buffer.splice(*edit, encoding)
        assert (buffer.text, replayed(before, done)) == (text, text), (before, edit)
        assert list(buffer.lines) == [line + end for _, line, end in naive_lines(text)]


@pytest.mark.parametrize(
    ("before", "edit", "after", "done"),
    [
        ("abc\ndef\n", (1, 1, 1, 2, "X"), "abc\ndXf\n", change((1, 1), (1, 2), "X")),
        ("abc", (0, 1, 0, 9999, "Z"), "aZ", change((0, 1), (0, 3), "Z")),
        ("abc\r\nd", (0, 9, 0, 9, "!"), "abc!\r\nd", change((0, 3), (0, 3), "!")),
        ("abc", (0, 2, 0, 1, ""), "ac", change((0, 1), (0, 2), "")),
        ("abc", (-3, 2, 0, 1, ""), "bc", change((0, 0), (0, 1), "")),
        ("a\n", (7, 0, 7, 0, "b"), "a\nb", change((1, 0), (1, 0), "b")),
        ("a\x0cb\nsecond\n", (1, 0, 1, 6, "X"), "a\x0cb\nX\n", change((1, 0), (1, 6), "X")),
        ("", (0, 0, 0, 0, "a\n"), "a\n", change((0, 0), (0, 0), "a\n")),
    ],
)
def test_places_outside_the_text_are_clamped(
    before: str, edit: tuple[int, int, int, int, str], after: str, done: TextChange
) -> None:
    buffer = TextBuffer(before)
    assert (buffer.splice(*edit, Encoding.UTF16), buffer.text) == (done, after)


def test_a_line_end_that_comes_in_two_edits_is_one_line_end() -> None:
    buffer = TextBuffer("ab")
    buffer.splice(0, 1, 0, 1, "\r", Encoding.UTF16)
    assert list(buffer.lines) == ["a\r", "b"]
    done = buffer.splice(1, 0, 1, 0, "\n", Encoding.UTF16)
    assert list(buffer.lines) == ["a\r\n", "b"]
    assert done == change((0, 1), (1, 0), "\r\n")


def test_a_carriage_return_typed_before_a_line_feed_joins_it() -> None:
    buffer = TextBuffer("a\nb")
    assert buffer.splice(0, 1, 0, 1, "\r", Encoding.UTF16) == change((0, 1), (1, 0), "\r\n")
    assert list(buffer.lines) == ["a\r\n", "b"]


def test_deleting_what_is_between_a_return_and_a_line_feed_joins_them() -> None:
    buffer = TextBuffer("a\rx\nb")
    assert buffer.splice(1, 0, 1, 1, "", Encoding.UTF16) == change((0, 1), (2, 0), "\r\n")
    assert list(buffer.lines) == ["a\r\n", "b"]


def test_a_range_of_an_open_text_can_be_read() -> None:
    buffer = TextBuffer("ab\ncd\r\nef")
    assert buffer.text_in(Range(Position(0, 1), Position(2, 1))) == "b\ncd\r\ne"
    assert buffer.text_in(Range(Position(1, 1), Position(1, 99))) == "d"
    assert buffer.text_in(Range(Position(2, 0), Position(0, 0))) == ""


def test_a_million_lines_and_one_long_line_take_an_edit() -> None:
    buffer = TextBuffer("x\n" * 1_000_000)
    buffer.splice(999_999, 1, 999_999, 1, "y", Encoding.UTF16)
    assert buffer.lines[999_999] == "xy\n"
    long = TextBuffer("é" * 5_000_000)
    long.splice(0, 4_000_000, 0, 4_000_002, "", Encoding.UTF8)
    assert len(long.text) == 4_999_999


@given(before=nasty, after=nasty)
@settings(max_examples=150, deadline=None)
def test_a_full_sync_is_reported_as_changes_that_lead_there(before: str, after: str) -> None:
    buffer = TextBuffer(before)
    changes = buffer.replace_all(after)
    other = TextBuffer(before)
    assert tuple(other.apply(one) for one in changes) == changes
    assert (other.text, buffer.text, list(buffer.lines)) == (after, after, list(other.lines))
