"""A client whose answers have a bounded size, whatever was made of them by a compression.

The SDK reads errors and lists as a whole before anybody can look at them: 4 MB of gzip are 4 GB of
memory. Here an answer is decoded in pieces while it comes, other work of the event loop goes on in
between, and one that grows too large is given up.

Import it late, in a worker thread: it brings the SDK.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai

from stet.text.bounded_input import ACCEPTED, ContentDecoder, InvalidContentCoding

ERROR_BYTES = 64_000
"""Decoded bytes of an error that are read; the rest is left out."""
ERROR_SECONDS = 5.0
"""How long the body of an error may take; what has come by then is all of it."""
WHOLE_BYTES = 2_000_000
"""Decoded bytes of an answer that is no stream; 64,000 tokens take a quarter."""
STREAM_BYTES = 128_000_000
"""Decoded bytes of a stream of events; providers use up to 500 for a token."""

_DECODED = {"content-encoding", "content-length", "transfer-encoding"}


class BadBody(httpx2.TransportError):
    """An answer is larger than any answer needs to be, or can't be decoded."""


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """The SDK's client with bounds.

    Args:
        whole_bytes: Decoded bytes that an answer may have which is no stream.
        options: As for `httpx2.AsyncClient`.
    """

    def __init__(self, *, whole_bytes: int = WHOLE_BYTES, **options: Any) -> None:
        super().__init__(**options)
        self._whole_bytes = whole_bytes

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request; see `httpx2.AsyncClient.send`.

        Raises:
            BadBody: If the answer is too long or can't be decoded; an error is cut instead. That of a
                stream is raised where it is read.
        """
        # Not what the SDK's client would decode by itself: that depends on what else is installed.
        request.headers["accept-encoding"] = ACCEPTED
        came = await super().send(request, stream=True, **options)
        kind = came.headers.get("content-type", "").lower()
        is_stream = stream and "json" not in kind and "html" not in kind
        most = STREAM_BYTES if is_stream else self._whole_bytes
        body = _BoundedErrorBody(came) if came.status_code >= 300 else _BoundedBody(came, most)
        headers = [(key, value) for key, value in came.headers.multi_items() if key not in _DECODED]
        bounded = httpx2.Response(
            came.status_code,
            headers=headers,
            stream=body,
            request=came.request,
            extensions=came.extensions,
        )
        if not stream:
            try:
                await bounded.aread()
            finally:
                await bounded.aclose()
        return bounded


class _BoundedBody(httpx2.AsyncByteStream):
    """The body of an answer, decoded, in small pieces.

    Args:
        response: The answer, not read yet.
        most: Decoded bytes it may have.
    """

    def __init__(self, response: httpx2.Response, most: int) -> None:
        self._response = response
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        n_bytes = 0
        async for piece in self._pieces():
            n_bytes += len(piece)
            if n_bytes > self._most:
                raise BadBody(f"it is longer than {self._most} bytes")
            yield piece

    async def _pieces(self) -> AsyncIterator[bytes]:
        """Yield the decoded body as it comes.

        Raises:
            BadBody: If it can't be decoded.
        """
        try:
            decoder = ContentDecoder(self._response.headers.get("content-encoding", ""))
            async for raw in self._response.aiter_raw():
                for piece in decoder.feed(raw):
                    if piece:
                        yield piece
                    # What is decoded comes at once: without this, nothing else is done meanwhile.
                    await asyncio.sleep(0)
            decoder.finish()
        except InvalidContentCoding as error:
            raise BadBody(f"it {error}") from error

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._response.aclose()


class _BoundedErrorBody(_BoundedBody):
    """The beginning of an error's body: what matters stands there."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response, ERROR_BYTES)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        end = asyncio.get_running_loop().time() + ERROR_SECONDS
        left = self._most
        pieces = self._pieces()
        while left > 0:
            try:
                async with asyncio.timeout_at(end):
                    piece = await anext(pieces)
            except (StopAsyncIteration, TimeoutError):
                return
            except BadBody as error:
                yield f"(the rest of this error can't be read: {error})".encode()
                return
            yield piece[:left]
            left -= len(piece)
