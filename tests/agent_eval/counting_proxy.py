"""A proxy between an agent and the model server: it counts, records, and sets the temperature.

async with CountingProxy(upstream) as proxy:
    proxy.begin()                       # a task begins
    ...                                 # an agent asks at proxy.base_url
    exchanges = proxy.exchanges         # what it has asked
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx2

from tests.support.http_server import HttpRequest, HttpServer, read_request, response_head

TEMPERATURE = 0.0
SEED = 1
_SAMPLING = ("top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "n")
"""What an agent may not choose: all arms sample alike."""
_NEVER = httpx2.Timeout(None)
_COUNTING_SECONDS = 30.0


@dataclass(slots=True)
class Exchange:
    """One request to the model, and its answer.

    Attributes:
        request: The body that the agent sent.
        text: The answer's text, as far as it came.
        calls: The answer's tool calls: names with arguments, as text.
        prompt_tokens: The tokens of the prompt, also those that the server still knew.
        cached_tokens: Those that the server still knew.
        completion_tokens: The tokens of the answer.
        status: The HTTP status; 0 until the server answers.
        error: What the server said instead of an answer, or "".
        is_whole: Whether the answer came to its end.
    """

    request: Mapping[str, Any]
    text: str = ""
    calls: dict[int, list[str]] = field(default_factory=dict)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    status: int = 0
    error: str = ""
    is_whole: bool = False

    def take(self, body: Mapping[str, Any]) -> None:
        """Take in a whole answer, or a chunk of one that is streamed."""
        for choice in body.get("choices") or ():
            message = choice.get("delta") or choice.get("message") or {}
            self.text += message.get("content") or ""
            self.completion_tokens += 1
            for n, call in enumerate(message.get("tool_calls") or ()):
                function = call.get("function") or {}
                pieces = self.calls.setdefault(call.get("index", n), ["", ""])
                pieces[0] += function.get("name") or ""
                pieces[1] += function.get("arguments") or ""
        if usage := body.get("usage"):
            details = usage.get("prompt_tokens_details") or {}
            self.prompt_tokens = int(usage.get("prompt_tokens") or 0)
            self.cached_tokens = int(details.get("cached_tokens") or 0)
            self.completion_tokens = int(usage.get("completion_tokens") or 0)


class CountingProxy(HttpServer):
    """An OpenAI-compatible server on loopback that asks another one.

    Args:
        upstream: The address of the model server, without a path.

    Attributes:
        exchanges: The requests to `/chat/completions` since `begin`, oldest first.
    """

    def __init__(self, upstream: str) -> None:
        super().__init__()
        self.exchanges: list[Exchange] = []
        self._stack = AsyncExitStack()
        self._client = httpx2.AsyncClient(base_url=upstream, trust_env=False, timeout=_NEVER)

    @property
    def base_url(self) -> str:
        """Return the base URL that an agent is given."""
        return self.url("/v1")

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._client)
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, exc, tb)
        await self._stack.aclose()

    def begin(self) -> None:
        """Forget what was counted."""
        self.exchanges = []

    async def is_upstream_alive(self) -> bool:
        """Tell whether the model server still answers."""
        try:
            response = await self._client.get("/health", timeout=_COUNTING_SECONDS)
        except httpx2.HTTPError:
            return False
        return response.status_code == 200

    async def count_unfinished(self) -> None:
        """Count the prompts of the answers that did not come to their end, which have no usage."""
        for exchange in self.exchanges:
            if not exchange.prompt_tokens and exchange.status in (0, 200):
                exchange.prompt_tokens = await self._prompt_tokens(exchange.request)

    async def _prompt_tokens(self, request: Mapping[str, Any]) -> int:
        sent = {key: request[key] for key in ("messages", "tools") if key in request}
        applied = await self._post("/apply-template", sent)
        counted = await self._post(
            "/tokenize", {"content": applied.get("prompt", ""), "parse_special": True}
        )
        return len(counted.get("tokens", ()))

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer of llama.cpp to a request of ours; nothing where it has no such path."""
        response = await self._client.post(path, json=body, timeout=_COUNTING_SECONDS)
        return dict(response.json()) if response.status_code == 200 else {}

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; close the request upstream as soon as the client has left."""
        if (asked := await read_request(reader)) is None:
            return
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(self._answer(asked, writer))
            leaving = group.create_task(reader.read(1))
            await asyncio.wait([answering, leaving], return_when=asyncio.FIRST_COMPLETED)
            answering.cancel()
            leaving.cancel()

    async def _answer(self, asked: HttpRequest, writer: asyncio.StreamWriter) -> None:
        if not asked.path.partition("?")[0].endswith("/chat/completions"):
            response = await self._client.request(asked.method, asked.path, json=asked.body)
            await _write(writer, response.status_code, response.content)
            return
        exchange = Exchange(asked.body)
        self.exchanges.append(exchange)
        sent = _with_sampling(asked.body)
        async with self._client.stream("POST", asked.path, json=sent) as response:
            exchange.status = response.status_code
            if response.status_code == 200 and sent.get("stream"):
                await _forward_stream(response, writer, exchange)
            else:
                body = await response.aread()
                await _write(writer, response.status_code, body)
                if response.status_code == 200:
                    exchange.take(json.loads(body))
                else:
                    exchange.error = body.decode(errors="replace")
        exchange.is_whole = True


def _with_sampling(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with the temperature and the seed of all arms, whose usage is reported."""
    sent = {key: value for key, value in body.items() if key not in _SAMPLING}
    sent |= {"temperature": TEMPERATURE, "seed": SEED}
    if sent.get("stream"):
        sent["stream_options"] = {"include_usage": True}
    return sent


async def _forward_stream(
    response: httpx2.Response, writer: asyncio.StreamWriter, exchange: Exchange
) -> None:
    """Send each line of a stream on, and take in its chunks."""
    headers = {"content-type": "text/event-stream", "connection": "close"}
    writer.write(response_head(200, headers))
    async for line in response.aiter_lines():
        writer.write(f"{line}\n".encode())
        await writer.drain()
        data = line.removeprefix("data:").strip()
        if line.startswith("data:") and data != "[DONE]":
            exchange.take(json.loads(data))


async def _write(writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
    }
    writer.write(response_head(status, headers) + body)
    await writer.drain()
