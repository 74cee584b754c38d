"""Frozen lines stay what they were while the text goes on, and a very long document is one like any
other.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.encoding import Encoding
from stet.text.large_document import LargeDocument
from stet.text.position import Position, Range
from tests.support.naive_text import nasty_text


@pytest.mark.parametrize("seed", range(8))
def test_what_was_frozen_stays_through_any_edits(seed: int) -> None:
    rng = random.Random(seed)
    buffer = TextBuffer(nasty_text(rng, 40))
    frozen = []
    for _ in range(400):
        if rng.random() < 0.2:
            frozen.append((buffer.freeze(), tuple(buffer.lines)))
            frozen = frozen[-4:]
        if rng.random() < 0.05:
            _ = buffer.replace_all(nasty_text(rng, 30))
        else:
            first, last = sorted(rng.randrange(len(buffer.lines) + 1) for _ in range(2))
            start, end = rng.randrange(5), rng.randrange(5)
            text = nasty_text(rng, rng.randrange(4))
            _ = buffer.splice(first, start, last, end, text, Encoding.UTF16)
        for lines, expected in frozen:
            assert len(lines) == len(expected)
            assert tuple(lines) == expected
            low, high = sorted(rng.randrange(len(expected) + 1) for _ in range(2))
            assert lines[low:high] == expected[low:high]
            assert lines[-1] == expected[-1]
            assert lines[::2] == expected[::2]


def test_lines_that_nobody_holds_cost_a_keystroke_nothing() -> None:
    buffer = TextBuffer("a\nb\n")
    held = buffer.freeze()
    for _ in range(5):
        assert len(buffer.freeze()) == 3
    assert len(buffer._frozen) <= 2
    _ = buffer.splice(0, 0, 0, 0, "x", Encoding.UTF16)
    assert len(buffer._frozen) == 1
    with pytest.raises(IndexError):
        _ = held[3]


texts = st.text(st.sampled_from("a\u00e9\U0001f600 \n\r"), max_size=30)
places = st.builds(Position, st.integers(-1, 9), st.integers(-1, 9))


@given(texts, places, places, st.integers(0, 40))
def test_a_large_document_answers_as_any_other(
    text: str, one: Position, other: Position, n: int
) -> None:
    plain = TextDocument("file:///a.py", text, 1, "python", 7)
    large = LargeDocument("file:///a.py", TextBuffer(text).freeze(), 1, "python", 7)
    start, end = sorted((one, other))
    assert large.text_in(Range(start, end)) == plain.text_in(Range(start, end))
    assert large.head(n) == plain.head(n)
    assert (large.n_lines, large.end) == (plain.n_lines, plain.end)
    assert large.lines_with("a") == tuple(plain.lines_with("a"))
    assert large.offset_at(one) == plain.offset_at(one)
    assert large.position_at(n) == plain.position_at(n)
    assert large.text == text
    assert large == LargeDocument("file:///a.py", (), 1, "python", 7)
    assert large != LargeDocument("file:///a.py", large.lines, 2, "python", 8)
