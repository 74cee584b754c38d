"""Bodies of a few megabytes that are gigabytes once decompressed, and bodies without end."""

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
"""How a body begins, and what comes again and again."""


@dataclass(frozen=True)
class Bomb:
    """One body.

    Attributes:
        kind: Of `HEADS`.
        coding: `gzip`, `deflate`, or both with `, ` between; empty: none.
        n_bytes: Decoded.
    """

    kind: str
    coding: str
    n_bytes: int = 1_000_000_000

    @property
    def headers(self) -> Mapping[str, str]:
        """What tells that it is compressed."""
        return {"content-encoding": self.coding} if self.coding else {}

    @property
    def body(self) -> bytes:
        """As it is sent; an uncompressed one is no longer than 10 MB."""
        head, again = HEADS[self.kind]
        if not self.coding:
            return head + again * (min(self.n_bytes, 10_000_000) // len(again))
        return _packed(head, again, self.coding, self.n_bytes)

    def reply(self, status: int = 200, content_type: str = "application/json") -> Reply:
        """As a provider's answer."""
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
    # The same from any place, so it is made once: no checksum is ever reached.
    step = packer.compress(again * (_STEP // len(again))) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = start + step * (n_bytes // _STEP)
    if not second:
        return packed
    outer = zlib.compressobj(9, wbits=_WINDOWS[second])
    return outer.compress(packed) + outer.flush()


def bombs(*kinds: str) -> list[Bomb]:
    """Bodies of these kinds in each coding."""
    return [Bomb(kind, coding) for kind in kinds for coding in (*_WINDOWS, "gzip, gzip", "")]
