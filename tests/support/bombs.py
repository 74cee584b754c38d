"""Bodies of a few megabytes that decompress to gigabytes, and bodies without end."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tests.support.openai_server import End, Reply

_STEP = 64_000_000
_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
HEADS = {
    "json": (b'{"choices": [{"message": {"content": "', b"A"),
    "lists": (b'{"data": [', b"[],"),
    "objects": (b'{"data": [', b"{},"),
    "events": (b"data: ", b"A"),
    "blank lines": (b": ", b"\n"),
    "many events": (b"", b"data: {}\n\n"),
    "error": (b'{"error": {"message": "out of luck"}, "more": "', b"A"),
}
"""The beginning of a body, and the part that is repeated."""


@dataclass(frozen=True)
class Bomb:
    """One body.

    Attributes:
        kind: A key of `HEADS`.
        coding: `gzip`, `deflate`, or both separated by `, `; empty: none.
        n_bytes: The decoded length in bytes.
    """

    kind: str
    coding: str
    n_bytes: int = 1_000_000_000

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers that announce the compression."""
        return {"content-encoding": self.coding} if self.coding else {}

    @property
    def body(self) -> bytes:
        """Return the encoded body; an uncompressed body is at most 10 MB long."""
        head, again = HEADS[self.kind]
        if not self.coding:
            return head + again * (min(self.n_bytes, 10_000_000) // len(again))
        return _packed(head, again, self.coding, self.n_bytes)

    def reply(self, status: int = 200, content_type: str = "application/json") -> Reply:
        """Return the body as a provider's answer."""
        body = self.body
        pieces = [body[at : at + 65_536] for at in range(0, len(body), 65_536)]
        return Reply(
            pieces, End.EOF, status=status, headers=self.headers, content_type=content_type
        )


@cache
def _packed(head: bytes, again: bytes, coding: str, n_bytes: int) -> bytes:
    first, _, second = coding.partition(", ")
    packer = zlib.compressobj(9, wbits=_WINDOWS[first])
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    # Every step is the same, so it is made once: no checksum is ever reached.
    step = packer.compress(again * (_STEP // len(again))) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = start + step * (n_bytes // _STEP)
    if not second:
        return packed
    outer = zlib.compressobj(9, wbits=_WINDOWS[second])
    return outer.compress(packed) + outer.flush()


def bombs(*kinds: str) -> list[Bomb]:
    """Make bodies of these kinds in each coding."""
    return [Bomb(kind, coding) for kind in kinds for coding in (*_WINDOWS, "gzip, gzip", "")]
