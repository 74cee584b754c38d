"""The openai package, and the only module that imports it: one streamed request at a time.

Importing this module takes 0.3 s and more, so that it is done in a worker thread, late. The SDK
builds the request, signs it and keeps the connections; the events are read by our own decoder, as
the SDK takes a stream that breaks off, or a web page, for a complete answer.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx2
import openai

from stet.llm import faults
from stet.llm.endpoint import Endpoint, Timeouts
from stet.llm.retry import Again, Failure, retry_after
from stet.llm.sse import EventDecoder, EventTooLong, ServerEvent

Take = Callable[[Mapping[str, Any]], bool]
"""Takes a decoded chunk; answers whether it said anything (else it does not count as a sign of life)."""

_DONE = "[DONE]"
_SSE = "text/event-stream"
DRAIN_SECONDS = 0.2
"""How long a connection is kept waiting for the end of a body whose answer is whole."""

LIST_SECONDS = 10.0
"""How long a server may take to list its models."""

_MAX_WHOLE_BYTES = 16_000_000

# They log whole requests at debug level: prompts and addresses that do not belong in our log.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Transport:
    """Connections to one endpoint. Building one may block (certificates are read)."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts, now: Callable[[], float]) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._now = now
        self._client = sdk_client(endpoint, timeouts)
        self._headers = left_out(endpoint)
        if not endpoint.keep_alive:
            self._headers["Connection"] = "close"

    async def stream(
        self, body: Mapping[str, Any], take: Take, patience: float | None = None
    ) -> bool:
        """Send a request and hand over the answer's chunks; whether its end mark was seen.

        Args:
            body: The request.
            take: Takes the chunks; what it raises ends the request.
            patience: See `Request.patience`.

        Raises:
            Failure: However it failed.
        """
        watch = _Watch(self._timeouts, patience)
        try:
            async with asyncio.timeout_at(watch.deadline) as clock:
                watch.clock = clock
                return await self._request(body, watch.wrap(take))
        except TimeoutError as exc:
            raise watch.failure(self._endpoint) from exc
        except Failure:
            raise
        except openai.APIStatusError as exc:
            wait = retry_after(exc.response.headers, self._now())
            content = exc.body if exc.body is not None else exc.response.text
            raise faults.status_failure(self._endpoint, exc.status_code, content, wait) from exc
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL) as exc:
            raise self._connection_failure(exc, answered=watch.answered) from exc

    async def first_model(self) -> str:
        """The first model the server lists, or "" if it lists none.

        Raises:
            Failure: If it could not be asked.
        """
        try:
            listed = await self._client.get(
                "/models",
                cast_to=object,
                options={"timeout": LIST_SECONDS, "headers": self._headers},
            )
        except openai.APIStatusError as exc:
            raise faults.status_failure(self._endpoint, exc.status_code, exc.body) from exc
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as exc:
            raise self._connection_failure(exc, answered=False) from exc
        models = listed.get("data") if isinstance(listed, Mapping) else None
        first = models[0] if isinstance(models, list) and models else None
        return str(first["id"]) if isinstance(first, Mapping) and "id" in first else ""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _request(self, body: Mapping[str, Any], take: Take) -> bool:
        stream = await self._client.post(
            "/chat/completions",
            cast_to=object,
            body=body,
            options={"headers": self._headers},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        try:
            kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind in {"text/html", "application/xhtml+xml"}:
                raise faults.not_a_model(self._endpoint, kind)
            if kind.endswith("json"):
                return await self._whole(stream.response, take)
            return await self._events(stream.response, take, kind)
        finally:
            await stream.close()

    async def _events(self, response: httpx2.Response, take: Take, kind: str) -> bool:
        decoder = EventDecoder()
        n_events = 0
        pieces = response.aiter_bytes()
        try:
            async for piece in pieces:
                events = decoder.feed(piece)
                n_events += len(events)
                if self._hand_over_all(events, take):
                    await _drain(pieces)
                    return True
        except EventTooLong as exc:
            raise faults.cut(self._endpoint, f"is no answer: {exc}", "") from exc
        last = decoder.flush()
        if not n_events and not last and kind != _SSE:
            raise faults.not_a_model(self._endpoint, kind)
        return self._hand_over_all(last, take)

    def _hand_over_all(self, events: Sequence[ServerEvent], take: Take) -> bool:
        """Hand over events up to the end mark; whether it was among them."""
        for event in events:
            if event.data.startswith(_DONE):
                return True
            self._hand_over(event.name, event.data, take)
        return False

    def _hand_over(self, name: str, data: str, take: Take) -> None:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as exc:
            raise faults.cut(self._endpoint, "came as broken JSON", "") from exc
        if not isinstance(chunk, Mapping):
            raise faults.cut(self._endpoint, "came in a form that is no answer", "")
        if name == "error" or chunk.get("error"):
            raise faults.stream_failure(self._endpoint, chunk)
        take(chunk)

    async def _whole(self, response: httpx2.Response, take: Take) -> bool:
        """A server that does not stream: its answer is one JSON object, whole by its length."""
        raw = await response.aread()
        if len(raw) > _MAX_WHOLE_BYTES:
            raise faults.cut(self._endpoint, f"is longer than {_MAX_WHOLE_BYTES} bytes", "")
        self._hand_over("", raw.decode("utf-8-sig", "replace"), take)
        return True

    def _connection_failure(self, exc: Exception, *, answered: bool) -> Failure:
        cause = exc.__cause__ or exc
        reason = str(cause) or type(cause).__name__
        if answered:
            return faults.cut(self._endpoint, f"broke off ({reason})", "")
        return faults.unreachable(self._endpoint, reason)


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the rest of a body that has said its last, so that the connection can be used again."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in pieces:
                pass
    except (TimeoutError, httpx2.HTTPError):
        return  # the connection is closed instead


class _Watch:
    """Three clocks in one deadline: the first word, the silence after it, the whole."""

    def __init__(self, timeouts: Timeouts, patience: float | None) -> None:
        bound = timeouts.total if patience is None else patience
        self._timeouts = replace(
            timeouts, first=min(timeouts.first, bound), idle=min(timeouts.idle, bound)
        )
        # Whoever is less patient than the time-outs has no time for another try.
        self._again = Again.ONCE if self._timeouts.idle == timeouts.idle else Again.NEVER
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + timeouts.total
        self.deadline = min(self._end, self._loop.time() + self._timeouts.first)
        self.clock: asyncio.Timeout | None = None
        self.answered = False

    def wrap(self, take: Take) -> Take:
        """`take`, which pushes the deadline on whenever something was said."""

        def taken(chunk: Mapping[str, Any]) -> bool:
            said = take(chunk)
            if said and self.clock is not None:
                self.answered = True
                self.deadline = min(self._end, self._loop.time() + self._timeouts.idle)
                self.clock.reschedule(self.deadline)
            return said

        return taken

    def failure(self, endpoint: Endpoint) -> Failure:
        """Which of the three ran out."""
        if self.deadline >= self._end:
            return faults.timed_out(
                endpoint, "did not end its answer within", self._timeouts.total, Again.NEVER
            )
        if self.answered:
            return faults.timed_out(
                endpoint, "fell silent in its answer for", self._timeouts.idle, self._again
            )
        return faults.timed_out(endpoint, "said nothing within", self._timeouts.first, Again.NEVER)


def sdk_client(endpoint: Endpoint, timeouts: Timeouts) -> openai.AsyncOpenAI:
    """The SDK's client, given everything, so that it takes nothing from the environment."""
    timeout = httpx2.Timeout(None, connect=timeouts.connect, pool=timeouts.connect)
    http = openai.DefaultAsyncHttpxClient(
        timeout=timeout,
        # A proxy of the environment does not reach this machine's own ports.
        trust_env=not endpoint.is_loopback,
        # The user has named who is sent their text; who answers there names nobody else.
        follow_redirects=False,
    )
    key = endpoint.api_key or "none"
    if endpoint.provider == "azure":
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.base_url,
            api_version=endpoint.api_version,
            api_key=key,
            max_retries=0,
            timeout=timeout,
            http_client=http,
        )
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=key,
        max_retries=0,
        timeout=timeout,
        http_client=http,
    )


def left_out(endpoint: Endpoint) -> dict[str, str | openai.Omit]:
    """Headers the SDK would send of its own accord, from the environment, to anybody."""
    headers: dict[str, str | openai.Omit] = {}
    if endpoint.provider not in {"openai", "azure"}:
        headers |= {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    if not endpoint.api_key:
        headers["Authorization"] = openai.Omit()
    return headers
