"""Compressed bodies are decoded in small steps, whatever they hold."""

import gzip
import time
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.bounded_input import MAX_SILENT, PIECE, ContentDecoder, InvalidContentCoding, decode

CODINGS = ("gzip", "deflate", "raw deflate")


def encode(body: bytes, coding: str) -> bytes:
    """Compress a body once, or more often where there is a comma."""
    for name in coding.split(", "):
        window = {"gzip": 31, "deflate": 15, "raw deflate": -15}[name]
        packer = zlib.compressobj(wbits=window)
        body = packer.compress(body) + packer.flush()
    return body


@given(
    body=st.one_of(st.binary(max_size=300), st.integers(0, 300_000).map(lambda n: b"ab" * n)),
    codings=st.lists(st.sampled_from(CODINGS), max_size=2).map(", ".join),
    cuts=st.lists(st.integers(0, 1000)),
)
def test_a_body_is_what_was_compressed_however_it_comes(
    body: bytes, codings: str, cuts: list[int]
) -> None:
    packed = encode(body, codings) if codings else body
    decoder = ContentDecoder(codings.replace("raw ", "").upper())
    places = sorted({0, len(packed), *(cut for cut in cuts if cut < len(packed))})
    pieces = [one for a, b in pairwise(places) for one in decoder.feed(packed[a:b])]
    if len(places) > 1:
        decoder.finish()
    assert b"".join(pieces) == body
    assert max(map(len, pieces), default=0) <= PIECE


def test_gzip_members_are_one_body_and_trailing_garbage_is_ignored() -> None:
    parts = gzip.compress(b"one ") + gzip.compress(b"two")
    assert decode("gzip", parts, 100) == b"one two"
    assert decode("gzip", parts + b"\0\0\0", 100) == b"one two"
    assert decode("deflate", zlib.compress(b"one") + b"x", 100) == b"one"
    assert decode("identity, x-gzip,", gzip.compress(b"one"), 100) == b"one"
    assert decode("", b"one", 100) == b"one"


@pytest.mark.parametrize(
    ("header", "body", "message"),
    [
        ("br", b"x", "is compressed as 'br', which was not asked for"),
        ("gzip, zstd", b"x", "is compressed as 'zstd'"),
        ("x" * 50_000, b"x", "is compressed as 'x{40}'"),
        ("gzip, gzip, gzip", b"x", "is compressed more than 2 times"),
        ("gzip," * 50_000, b"x", "is compressed"),
        ("gzip", b"plain text", "is not gzip, as declared"),
        ("deflate", b"\xff\xff\xff\xff", "is not deflate"),
        ("gzip", gzip.compress(b"some text" * 99, mtime=0)[:-9], "was cut off"),
        ("gzip", b"\x1f", "was cut off"),
    ],
)
def test_undecodable_body_is_reported_with_a_reason(header: str, body: bytes, message: str) -> None:
    with pytest.raises(InvalidContentCoding, match=message):
        decode(header, body, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, deflate", "deflate, gzip"])
def test_a_bomb_is_decoded_no_further_than_the_limit(coding: str) -> None:
    bomb = encode(b"0" * 50_000_000, coding)
    assert decode(coding, bomb, 1000) == b"0" * 1001


@pytest.mark.parametrize("coding", ["gzip", "gzip, gzip"])
def test_what_decodes_to_nothing_is_given_up_in_short_steps(coding: str) -> None:
    packer = zlib.compressobj(9, wbits=31)
    nothing = packer.compress(b"x") + packer.flush(zlib.Z_SYNC_FLUSH)
    nothing += b"\0\0\0\xff\xff" * (MAX_SILENT * 10 // 5)
    if coding != "gzip":
        nothing = encode(nothing, "gzip")
    times = [time.process_time()]

    def decode_all() -> None:
        times.extend(time.process_time() for _ in ContentDecoder(coding).feed(nothing))

    with pytest.raises(InvalidContentCoding, match="decodes to nothing"):
        decode_all()
    assert max(after - before for before, after in pairwise(times)) < 0.05
