import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.lsp.connection.stdio import FrameReader
from tests.support.growth import grows_evenly
from tests.support.raw_peer import frame

BODIES = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=40)), min_size=1)
HEADERS = st.sampled_from(
    [
        "Content-Length: {}\r\n\r\n",
        "content-length:{}\n\n",
        "X: y\r\nContent-Length: {}\r\n\r\n",
        "Content-Length: {}\r\nX: " + "y" * 40_000 + "\r\n\r\n",
        "no length here\r\n\r\nContent-Length: {}\r\n\r\n",
    ]
)


def read(data: bytes, cuts: list[int]) -> list[bytes]:
    """What is delivered when `data` arrives cut at these places."""
    delivered: list[bytes] = []

    def deliver(body: bytes) -> bool:
        delivered.append(body)
        try:
            json.loads(body)
        except ValueError:
            return False
        return True

    reader = FrameReader(deliver)
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in pairwise(places):
        reader.feed(data[start:end])
    return delivered


@pytest.mark.slow
@given(BODIES, HEADERS, st.lists(st.integers(min_value=0), max_size=20))
def test_bodies_arrive_whole_and_in_order_however_the_bytes_are_cut(
    bodies: list[dict[str, str]], header: str, cuts: list[int]
) -> None:
    encoded = [json.dumps(body).encode() for body in bodies]
    assert read(b"".join(frame(body, header) for body in encoded), cuts) == encoded


def test_messages_received_while_reading_is_paused_are_delivered_before_the_end() -> None:
    delivered: list[bytes] = []

    def deliver(body: bytes) -> bool:
        delivered.append(body)
        if body == b"1":
            reader.hold()
        return True

    reader = FrameReader(deliver, lambda: delivered.append(b"end"))
    reader.feed(frame(b"1") + frame(b"2") + frame(b"1")[:5])
    reader.feed(frame(b"1")[5:] + frame(b"3"))
    reader.end()
    assert delivered == [b"1"]
    reader.release()
    assert delivered == [b"1", b"2", b"1"]
    reader.release()
    assert delivered == [b"1", b"2", b"1", b"3", b"end"]


@given(st.binary(max_size=200), st.lists(st.integers(min_value=0), max_size=5))
def test_a_good_message_is_read_after_any_rubbish_and_a_blank_line(
    rubbish: bytes, cuts: list[int]
) -> None:
    assert read(rubbish + b"\r\n\r\n" + frame("{}") * 3, cuts)[-1] == b"{}"


@given(st.integers(min_value=1, max_value=200))
def test_a_length_that_is_too_large_does_not_swallow_what_follows(excess: int) -> None:
    wrong = b"Content-Length: %d\r\n\r\n{}" % (2 + excess)
    assert read(wrong + frame('{"next": 1}') + frame("{}") * 20, [])[-20:] == [b"{}"] * 20


@pytest.mark.parametrize(
    "text",
    [
        lambda n: "x" * n,
        lambda n: "x: y\r\n" * (n // 6),
        lambda n: "Content-Length: 1\n" * (n // 18),
    ],
    ids=["one line", "many headers", "many lengths"],
)
def test_headers_that_come_a_byte_at_a_time_take_no_longer_than_they_are_long(
    text: Callable[[int], str],
) -> None:
    def feed(headers: str) -> None:
        reader = FrameReader(lambda _: True)
        for byte in headers.encode():
            reader.feed(bytes((byte,)))

    # Below the limit of headers, after which they are cut anyway.
    assert grows_evenly(feed, text, 8_000)
