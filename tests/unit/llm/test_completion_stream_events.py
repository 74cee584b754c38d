"""Server-sent events, however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.llm import completion_stream
from stet.llm.completion_stream import EventDecoder, EventTooLong, ServerEvent

STREAM = (
    b"\xef\xbb\xbfdata: one\n\n"
    b": a comment\r\n\r\n"
    b"event: error\rdata:two\r\rdata: th\r\ndata: ree\r\n\r\n"
    b"id: 7\nretry: 10\n\ndata\n\n"
    b"data: na\xc3\xafve \xf0\x9f\x99\x82\n\ndata: [DONE]"
)
EVENTS = [
    ServerEvent("", "one"),
    ServerEvent("error", "two"),
    ServerEvent("", "th\nree"),
    ServerEvent("", ""),
    ServerEvent("", "naïve 🙂"),
    ServerEvent("", "[DONE]"),
]


def decode(pieces: list[bytes]) -> list[ServerEvent]:
    decoder = EventDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.flush()


def test_a_stream_in_one_piece() -> None:
    assert decode([STREAM]) == EVENTS


def test_a_stream_byte_by_byte() -> None:
    assert decode([STREAM[n : n + 1] for n in range(len(STREAM))]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_a_stream_cut_anywhere(places: list[int]) -> None:
    cuts = sorted({0, *places, len(STREAM)})
    pieces = [STREAM[a:b] for a, b in pairwise(cuts)]
    assert decode(pieces) == EVENTS


def test_nothing_is_left_to_flush_after_a_whole_event() -> None:
    assert decode([b"data: x\n\n"]) == [ServerEvent("", "x")]


@pytest.mark.parametrize(
    "stream", [b"x" * 30, b"data: " + b"x" * 9 + b"\n" + b"data: " + b"x" * 12]
)
def test_an_event_that_grows_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, stream: bytes
) -> None:
    monkeypatch.setattr(completion_stream, "MAX_EVENT_BYTES", 20)
    with pytest.raises(EventTooLong):
        decode([stream[n : n + 1] for n in range(len(stream))])
