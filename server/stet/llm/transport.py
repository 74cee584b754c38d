"""The openai package, and the only module that imports it: one streamed request at a time.

Importing this module takes 0.3 s and more, so it is imported late, in a worker thread. The SDK
builds the request, signs it and keeps the connections. The events are read by `completion_stream`,
because the SDK treats a stream that breaks off, or a web page, as a complete answer.

The client bounds the size of answers, also of compressed ones: the SDK reads errors and lists as a
whole, and 4 MB of gzip can be 4 GB of memory. An answer is decoded in pieces as it arrives, other
work of the event loop continues meanwhile, and an answer that grows too large is abandoned.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx2
import openai

from stet.llm import failure_mapping as faults
from stet.llm.completion_stream import EventDecoder, EventTooLong, ServerEvent
from stet.llm.model_endpoint import ModelEndpoint, Timeouts
from stet.llm.retry import AttemptFailure, RetryMode, retry_after
from stet.text.bounded_input import ACCEPTED, ContentDecoder, InvalidContentCoding, parse_bounded

ERROR_BYTES = 64_000
"""Decoded bytes of an error that are read; the rest is left out."""
ERROR_SECONDS = 5.0
"""The longest time for reading an error's body; the part that has arrived by then is used."""
WHOLE_BYTES = 2_000_000
"""The most decoded bytes of an answer that is no stream; 64,000 tokens take a quarter."""
STREAM_BYTES = 128_000_000
"""The most decoded bytes of a stream of events; providers use up to 500 for a token."""

_DECODED = {"content-encoding", "content-length", "transfer-encoding"}


class BadBody(httpx2.TransportError):
    """An answer is larger than any answer needs to be, or can't be decoded."""


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """The SDK's HTTP client with limits on the size of answers.

    Args:
        whole_bytes: The most decoded bytes of an answer that is no stream.
        options: The options of `httpx2.AsyncClient`.
    """

    def __init__(self, *, whole_bytes: int = WHOLE_BYTES, **options: Any) -> None:
        super().__init__(**options)
        self._whole_bytes = whole_bytes

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request; see `httpx2.AsyncClient.send`.

        Raises:
            BadBody: If the answer is too long or can't be decoded; an error's body is cut instead.
                A stream raises it while it is read.
        """
        # The codings that the SDK's client decodes depend on the installed packages.
        request.headers["accept-encoding"] = ACCEPTED
        response = await super().send(request, stream=True, **options)
        kind = response.headers.get("content-type", "").lower()
        is_stream = stream and "json" not in kind and "html" not in kind
        most = STREAM_BYTES if is_stream else self._whole_bytes
        is_error = response.status_code >= 300
        body = (
            _BoundedErrorBody(response, ERROR_BYTES) if is_error else _BoundedBody(response, most)
        )
        headers = [
            (key, value) for key, value in response.headers.multi_items() if key not in _DECODED
        ]
        bounded = httpx2.Response(
            response.status_code,
            headers=headers,
            stream=body,
            request=response.request,
            extensions=response.extensions,
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
        most: The most decoded bytes of the body.
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
        """Yield the decoded body as it arrives.

        Raises:
            BadBody: If the body can't be decoded.
        """
        try:
            decoder = ContentDecoder(self._response.headers.get("content-encoding", ""))
            async for raw in self._response.aiter_raw():
                for piece in decoder.feed(raw):
                    if piece:
                        yield piece
                    # Decoded pieces arrive without a wait: let other tasks run.
                    await asyncio.sleep(0)
            decoder.finish()
        except InvalidContentCoding as error:
            raise BadBody(f"it {error}") from error

    async def aclose(self) -> None:
        """Close the connection, or return it to the pool."""
        await self._response.aclose()


class _BoundedErrorBody(_BoundedBody):
    """The beginning of an error's body: it contains the important part."""

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
                yield f"(rest unreadable: {error})".encode()
                return
            yield piece[:left]
            left -= len(piece)


ChunkSink = Callable[[Mapping[str, Any]], bool]
"""A function that accepts a decoded chunk and returns whether the chunk had content. A chunk
without content does not end the silence.
"""

_FAULTS = (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL)
CHAT_COMPLETIONS = "/chat/completions"
_DONE = "[DONE]"
_SSE = "text/event-stream"
DRAIN_SECONDS = 0.2
"""The longest wait for the end of a body whose answer is whole."""

LIST_SECONDS = 10.0
"""The longest time in which a server must list its models."""

MAX_NAME = 300
"""The most characters of a model's name, which may be a path on a local server."""

MAX_QUIET_EVENTS = 10_000
MAX_QUIET_BYTES = 8_000_000
"""The most bytes without content: servers send a comment every few seconds while a model thinks."""

# These libraries log whole requests at debug level, with prompts that must not be in the log.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Transport:
    """The connections to one endpoint. The constructor may block: it reads certificates."""

    def __init__(
        self, endpoint: ModelEndpoint, timeouts: Timeouts, now: Callable[[], float]
    ) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._now = now
        self._client = sdk_client(endpoint, timeouts)
        headers = omitted_headers(endpoint)
        if not endpoint.keep_alive:
            headers["Connection"] = "close"
        self._options: openai.RequestOptions = {"headers": headers}

    async def stream(
        self,
        body: Mapping[str, Any],
        take: ChunkSink,
        patience: float | None = None,
        path: str = CHAT_COMPLETIONS,
    ) -> bool:
        """Send a request and pass on the answer's chunks. Return whether its end mark arrived.

        Args:
            body: The request.
            take: Receives the chunks; an exception of `take` ends the request.
            patience: See `Request.patience`.
            path: The path below the base URL, or a whole URL.

        Raises:
            AttemptFailure: If the request failed in any way.
        """
        watch = _StreamWatch(self._timeouts, patience, take)
        try:
            async with watch.clock:
                return await self._request(body, watch, path)
        except TimeoutError as exc:
            raise watch.failure(self._endpoint) from exc
        except _FAULTS as exc:
            raise self._failure(exc, answered=watch.answered) from exc

    async def first_model(self) -> str:
        """Return the first model that the server lists, or "" if the server lists none.

        Raises:
            AttemptFailure: If the server could not be asked.
        """
        try:
            async with asyncio.timeout(LIST_SECONDS):
                raw = await self._client.get("/models", cast_to=bytes, options=self._options)
        except TimeoutError as exc:
            what = "did not list its models within"
            raise faults.timeout_failure(self._endpoint, what, LIST_SECONDS) from exc
        except _FAULTS as exc:
            raise self._failure(exc, answered=False) from exc
        return _first_name(raw)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _request(self, body: Mapping[str, Any], watch: "_StreamWatch", path: str) -> bool:
        stream = await self._client.post(
            path,
            cast_to=object,
            body=body,
            options=self._options,
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        try:
            kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind in {"text/html", "application/xhtml+xml"}:
                raise faults.not_a_model_failure(self._endpoint, kind)
            if kind.endswith("json"):
                # A server that does not stream answers with one object, delimited by its length.
                raw = await stream.response.aread()
                self._dispatch("", raw.decode("utf-8-sig", "replace"), watch)
                return True
            return await self._events(stream.response, watch, kind)
        finally:
            await stream.close()

    async def _events(self, response: httpx2.Response, watch: "_StreamWatch", kind: str) -> bool:
        decoder = EventDecoder()
        pieces = response.aiter_bytes()
        try:
            async for piece in pieces:
                if self._dispatch_all(decoder.feed(piece), watch):
                    await _drain(pieces)
                    return True
                if watch.is_too_long(len(piece)):
                    how = "has no content"
                    raise faults.interrupted_failure(self._endpoint, how)
        except EventTooLong as exc:
            raise faults.interrupted_failure(self._endpoint, f"is invalid: {exc}") from exc
        last = decoder.flush()
        if not watch.has_events and not last and kind != _SSE:
            raise faults.not_a_model_failure(self._endpoint, kind)
        return self._dispatch_all(last, watch)

    def _dispatch_all(self, events: Sequence[ServerEvent], watch: "_StreamWatch") -> bool:
        """Pass on events up to the end mark. Return whether the end mark was among them."""
        for event in events:
            if event.data.startswith(_DONE):
                return True
            self._dispatch(event.name, event.data, watch)
        return False

    def _dispatch(self, name: str, data: str, watch: "_StreamWatch") -> None:
        try:
            chunk = parse_bounded(data)
        except ValueError as exc:
            raise faults.interrupted_failure(self._endpoint, "is invalid JSON") from exc
        if not isinstance(chunk, Mapping):
            raise faults.interrupted_failure(self._endpoint, "has an unknown format")
        if name == "error" or chunk.get("error"):
            raise faults.stream_failure(self._endpoint, chunk)
        watch.handle(chunk)

    def _failure(self, exc: Exception, *, answered: bool) -> AttemptFailure:
        """Return the failure for one of `_FAULTS`; `answered` is whether content arrived before."""
        if isinstance(exc, openai.APIStatusError):
            wait = retry_after(exc.response.headers, self._now())
            content = exc.body if exc.body is not None else exc.response.text
            return faults.status_failure(self._endpoint, exc.status_code, content, wait)
        cause = exc if isinstance(exc, BadBody) else exc.__cause__ or exc
        reason = str(cause) or type(cause).__name__
        if isinstance(cause, BadBody):
            return faults.interrupted_failure(self._endpoint, f"is invalid: {reason}")
        if answered:
            return faults.interrupted_failure(self._endpoint, f"was cut off ({reason})")
        return faults.unreachable_failure(self._endpoint, reason)


def _first_name(raw: bytes) -> str:
    """Return the first model of a list as received, or "" if the list names none."""
    try:
        listed = parse_bounded(raw)
    except ValueError:
        return ""
    models = listed.get("data") if isinstance(listed, Mapping) else None
    first = models[0] if isinstance(models, list) and models else None
    name = first.get("id") if isinstance(first, Mapping) else None
    return name if isinstance(name, str) and len(name) <= MAX_NAME else ""


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the rest of a body after the end mark, so that the connection can be used again."""
    with suppress(TimeoutError, httpx2.HTTPError):  # the connection is closed instead
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in pieces:
                pass


class _StreamWatch:
    """A watch that passes on the chunks of a stream and limits its silence.

    Three clocks are one deadline: the first word, the silence after it, the whole.

    Args:
        timeouts: The longest tolerated silence.
        patience: See `Request.patience`.
        take: Receives the chunks.

    Attributes:
        clock: The time-out that ends the stream.
        answered: Whether any content arrived.
        has_events: Whether there was an event at all.
    """

    def __init__(self, timeouts: Timeouts, patience: float | None, take: ChunkSink) -> None:
        bound = timeouts.total if patience is None else patience
        self._timeouts = replace(
            timeouts, first=min(timeouts.first, bound), idle=min(timeouts.idle, bound)
        )
        # A caller with less patience than the time-outs has no time for another attempt.
        self._again = RetryMode.ONCE if self._timeouts.idle == timeouts.idle else RetryMode.NEVER
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + timeouts.total
        self._take = take
        self._n_events = 0
        self._n_bytes = 0
        self.clock = asyncio.timeout_at(min(self._end, self._loop.time() + self._timeouts.first))
        self.answered = False
        self.has_events = False

    def handle(self, chunk: Mapping[str, Any]) -> None:
        """Pass on a chunk. Extend the deadline if the chunk has content."""
        self.has_events = True
        self._n_events += 1
        if self._take(chunk):
            self._n_events = self._n_bytes = 0
            self.answered = True
            self.clock.reschedule(min(self._end, self._loop.time() + self._timeouts.idle))

    def is_too_long(self, n_bytes: int) -> bool:
        """Count further bytes. Return whether too many arrived without content."""
        self._n_bytes += n_bytes
        return self._n_events > MAX_QUIET_EVENTS or self._n_bytes > MAX_QUIET_BYTES

    def failure(self, endpoint: ModelEndpoint) -> AttemptFailure:
        """Return the failure for the clock that ran out."""
        again = RetryMode.NEVER
        if self.clock.when() == self._end:
            what, seconds = "did not finish its answer within", self._timeouts.total
        elif self.answered:
            what, seconds, again = "stopped responding for", self._timeouts.idle, self._again
        else:
            what, seconds = "did not respond within", self._timeouts.first
        return faults.timeout_failure(endpoint, what, seconds, again)


def sdk_client(
    endpoint: ModelEndpoint, timeouts: Timeouts, whole_bytes: int = WHOLE_BYTES
) -> openai.AsyncOpenAI:
    """Return the SDK's client.

    Every option is set, so that the SDK reads nothing from the environment. An answer that is not a
    stream may have `whole_bytes`, decoded.
    """
    timeout = httpx2.Timeout(None, connect=timeouts.connect, pool=timeouts.connect)
    http = BoundedClient(
        whole_bytes=whole_bytes,
        timeout=timeout,
        # A proxy from the environment does not reach the ports of this machine.
        trust_env=not endpoint.is_loopback,
        # The user has chosen the server that gets their text; it must not redirect to another.
        follow_redirects=False,
    )
    options: dict[str, Any] = {
        "api_key": endpoint.api_key or "none",
        "max_retries": 0,
        "timeout": timeout,
        "http_client": http,
    }
    if endpoint.provider == "azure":
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.base_url, api_version=endpoint.api_version, **options
        )
    return openai.AsyncOpenAI(base_url=endpoint.base_url, **options)


def omitted_headers(endpoint: ModelEndpoint) -> dict[str, str | openai.Omit]:
    """Return headers to omit: the SDK would send them to any server, from the environment."""
    headers: dict[str, str | openai.Omit] = {}
    if endpoint.provider not in {"openai", "azure"}:
        headers |= {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    if not endpoint.api_key:
        headers["Authorization"] = openai.Omit()
    return headers
