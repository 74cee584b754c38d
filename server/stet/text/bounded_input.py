"""Decoders for untrusted input, with bounds on the memory and the time that a few bytes can take.

- `ContentDecoder` decodes compressed HTTP bodies in small steps, so that a hostile body takes
  neither memory nor time:

      decoder = ContentDecoder(response.headers.get("content-encoding", ""))
      for piece in decoder.feed(raw):
          ...  # at most PIECE bytes; b"" after a step without output: yield to other tasks
      decoder.finish()

  Decoding gzip within gzip step by step is needed: 4 MB may hold gigabytes that decode to nothing.
- `parse_bounded` reads JSON with a limited number of parts.
- `unescape_entities` replaces HTML's character references. The standard library converts a number
  of any length, which raises `ValueError` from 4,300 digits on; no character needs more than seven.
"""

import html
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zlib import _Decompress


ACCEPTED = "gzip, deflate"
"""The value of a request's `Accept-Encoding` header."""
PIECE = 32_768
"""The maximum number of bytes in the input and the output of one step."""
MAX_CODINGS = 2
MAX_SILENT = 1_000_000
"""The maximum number of consecutive bytes of a body that decode to nothing."""

_MAX_CODING = 40
_GZIP = zlib.MAX_WBITS | 16
_NAMES = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


class InvalidContentCoding(ValueError):
    """A body can't be decoded; the message says why, as a phrase about the body."""


class ContentDecoder:
    """A decoder of one body."""

    def __init__(self, header: str) -> None:
        """Prepare for the codings that a `Content-Encoding` header lists.

        Raises:
            InvalidContentCoding: If a coding is unknown, or there are too many codings.
        """
        named = [name.strip().lower() for name in header.split(",", MAX_CODINGS + 10)]
        codings = [name for name in named if name not in ("", "identity")]
        unknown = [name for name in codings if name not in _NAMES]
        if unknown:
            name = unknown[0][:_MAX_CODING]
            raise InvalidContentCoding(
                f"is compressed as {name!r}, which was not asked for ({ACCEPTED} was)"
            )
        if len(codings) > MAX_CODINGS:
            raise InvalidContentCoding(f"is compressed more than {MAX_CODINGS} times")
        self._layers = [_Layer(_NAMES[name]) for name in reversed(codings)]

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode the next part of the body, and yield the output of each step, which may be empty.

        Raises:
            InvalidContentCoding: If the part is not in the coding, or decodes to nothing for too
                long.
        """
        for at in range(0, len(data), PIECE):
            pieces: Iterable[bytes] = (data[at : at + PIECE],)
            for layer in self._layers:
                pieces = layer.decode(pieces)
            yield from pieces

    def finish(self) -> None:
        """Check that the body has ended where its codings end.

        Raises:
            InvalidContentCoding: If the body was cut off.
        """
        if any(layer.is_open for layer in self._layers):
            raise InvalidContentCoding("is compressed and was cut off")


def decode(header: str, body: bytes, limit: int) -> bytes:
    """Return a whole body decoded, truncated after the byte after `limit`.

    Raises:
        InvalidContentCoding: If `ContentDecoder` raises it.
    """
    decoder, decoded = ContentDecoder(header), bytearray()
    for piece in decoder.feed(body):
        decoded += piece
        if len(decoded) > limit:
            return bytes(decoded[: limit + 1])
    decoder.finish()
    return bytes(decoded)


class _Layer:
    """A decoder of one coding; `is_open` while its data has begun and not ended."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._head = b""
        self._inflater: _Decompress | None = None
        self._has_ended = False
        self._n_silent = 0

    @property
    def is_open(self) -> bool:
        return self._inflater is not None or bool(self._head and not self._has_ended)

    def decode(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield from self._steps(piece) if piece else (b"",)

    def _steps(self, data: bytes) -> Iterator[bytes]:
        data = self._head + data
        self._head = b""
        piece = b""
        while data or len(piece) == PIECE:
            if self._inflater is None:
                if len(data) < 2:
                    self._head = data
                    return
                if self._has_ended and not (self._coding == "gzip" and data[:2] == b"\x1f\x8b"):
                    return  # data after the end is ignored, as browsers do
                self._inflater = zlib.decompressobj(_window(self._coding, data))
            piece, data = self._step(self._inflater, data)
            yield piece

    def _step(self, inflater: "_Decompress", data: bytes) -> tuple[bytes, bytes]:
        """Return the output of one step, and the rest of the data."""
        try:
            piece = inflater.decompress(data, PIECE)
        except zlib.error as error:
            raise InvalidContentCoding(f"is not {self._coding}, as declared") from error
        left = inflater.unconsumed_tail
        if inflater.eof:
            left, self._inflater, self._has_ended = inflater.unused_data, None, True
        self._n_silent = 0 if piece else self._n_silent + len(data) - len(left)
        if self._n_silent > MAX_SILENT:
            raise InvalidContentCoding("decodes to nothing")
        return piece, left


def _window(coding: str, head: bytes) -> int:
    """Return the window size for zlib. Some servers send `deflate` without the zlib header."""
    if coding == "gzip":
        return _GZIP
    has_header = head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:2]) % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS


MAX_PARTS = 300_000
"""The maximum number of objects and lists in one text: each takes up to 90 bytes of memory."""


class JsonTooLarge(ValueError):
    """A JSON text has more parts than any answer has."""


def parse_bounded(text: str | bytes, max_parts: int = MAX_PARTS) -> Any:
    """Return the value of a JSON text; the caller must limit the length of the text.

    Args:
        text: The received text; bytes are decoded as UTF-8.
        max_parts: The maximum number of objects and lists (braces in its strings count too).

    Raises:
        JsonTooLarge: If the text has too many parts.
        ValueError: If the text is not JSON or is nested too deeply.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    n_parts = data.count(b"{") + data.count(b"[")
    if n_parts > max_parts:
        raise JsonTooLarge(f"{n_parts} objects and lists are more than {max_parts}")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


_ENDLESS = re.compile(r"&#(?:[0-9]{100,}+|[xX][0-9a-fA-F]{100,}+);?")


def unescape_entities(text: str) -> str:
    """Return `text` with its references replaced; one of a hundred digits becomes U+FFFD, as any
    number that is too large.
    """
    return html.unescape(_ENDLESS.sub("\ufffd", text) if "&#" in text else text)
