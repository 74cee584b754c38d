"""Whatever a server sends, compressed or without end, takes little memory and holds nothing up."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib import import_module

import pytest

from stet.bridges.opencode import opencode_schema
from stet.bridges.opencode.opencode_address import OpenCodeAddress, OpenCodeError
from stet.bridges.opencode.opencode_connection import OpenCodeConnection
from stet.llm import transport
from stet.llm.embeddings import EmbeddingError, embed
from stet.llm.failure_mapping import MAX_QUOTE
from stet.llm.model import ModelError, ModelRefused, ModelTimeout, StreamInterrupted
from stet.llm.model_endpoint import ModelEndpoint, Timeouts
from stet.llm.openai_model import OpenAIModel
from stet.llm.transport import ERROR_BYTES, WHOLE_BYTES
from stet.settings.values import SearchSettings
from stet.system.system import System
from stet.text.bounded_input import JsonTooLarge, parse_bounded
from stet.web.search_client import search_web
from stet.web.search_formats import SearchEndpoint
from stet.web.web_address import WebError
from tests.support.bombs import Bomb, bombs
from tests.support.model_requests import QUICK, ModelOutput, model_at
from tests.support.openai_server import End, OpenAIServer, Reply, error, say
from tests.support.web_server import WebReply as Page
from tests.support.web_server import WebServer, found

pytestmark = pytest.mark.slow


MOST_MEMORY = 40_000_000
"""Bytes that an answer may take at its worst: it is decoded, and it is read."""


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as server:
        yield server


@pytest.fixture(autouse=True, scope="module")
def imported() -> None:
    """What is imported for the first answer is not its own."""
    import_module("stet.llm.transport")


def patient(server: OpenAIServer) -> OpenAIModel:
    """A model for a slow machine."""
    return model_at(server, timeouts=Timeouts(10.0, 60.0, 60.0, 60.0))


@asynccontextmanager
async def little_taken() -> AsyncIterator[None]:
    """What is done inside may take `MOST_MEMORY`, and lets others work meanwhile."""
    looks = 0

    async def look() -> None:
        nonlocal looks
        while True:
            looks += 1
            await asyncio.sleep(0)

    looking = asyncio.get_running_loop().create_task(look())
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
    assert peak < MOST_MEMORY
    assert looks > 10


async def failure_of(model: OpenAIModel) -> ModelError:
    """The error of one round."""
    with pytest.raises(ModelError) as caught:
        await ModelOutput().ask(model)
    await model.close()
    return caught.value


@pytest.mark.parametrize(
    "bomb", [*bombs("json"), Bomb("lists", "gzip"), Bomb("objects", "")], ids=str
)
async def test_answer_is_bounded(server: OpenAIServer, bomb: Bomb) -> None:
    server.add(bomb.reply(), bomb.reply())
    async with little_taken():
        failure = await failure_of(patient(server))
    assert isinstance(failure, StreamInterrupted)
    assert f"is longer than {WHOLE_BYTES} bytes" in str(failure)


@pytest.mark.parametrize("bomb", bombs("events"), ids=str)
@pytest.mark.parametrize("kind", ["text/event-stream", "text/plain"])
async def test_event_is_bounded(server: OpenAIServer, bomb: Bomb, kind: str) -> None:
    server.add(*[bomb.reply(content_type=kind)] * 2)
    async with little_taken():
        failure = await failure_of(patient(server))
    assert "one event is longer than" in str(failure)


@pytest.mark.parametrize("kind", ["blank lines", "many events"])
async def test_stream_without_content_is_bounded(
    server: OpenAIServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_QUIET_BYTES", 1_000_000)
    bomb = Bomb(kind, "gzip")
    server.add(*[bomb.reply(content_type="text/event-stream")] * 2)
    async with little_taken():
        failure = await failure_of(patient(server))
    assert "has no content" in str(failure)


async def test_stream_with_much_content_is_bounded(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "STREAM_BYTES", 200_000)
    server.add(*[say("word " * 10_000)] * 2)
    assert "is longer than 200000 bytes" in str(await failure_of(patient(server)))


@pytest.mark.parametrize("bomb", bombs("error"), ids=str)
@pytest.mark.parametrize("status", [400, 307])
async def test_error_is_bounded(server: OpenAIServer, bomb: Bomb, status: int) -> None:
    server.add(bomb.reply(status))
    async with little_taken():
        failure = await failure_of(patient(server))
    assert isinstance(failure, ModelRefused)
    assert len(str(failure)) < 2 * MAX_QUOTE
    assert status == 307 or "out of luck" in str(failure)


async def test_endless_error_reports_its_beginning(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "ERROR_SECONDS", 0.2)
    server.add(Reply(["no such thing "], End.HANG, status=422, content_type="text/plain"))
    assert "(HTTP 422): no such thing" in str(await failure_of(patient(server)))


async def test_an_error_of_any_length_that_is_whole_is_read(server: OpenAIServer) -> None:
    server.add(error(400, "x" * (ERROR_BYTES - 500) + " maximum context length"))
    assert "context window" in str(await failure_of(patient(server)))


async def test_an_answer_as_long_as_answers_get_is_taken(server: OpenAIServer) -> None:
    long = "\u65e5" * (WHOLE_BYTES // 7)  # six bytes each in JSON
    whole = {"choices": [{"message": {"content": long}, "finish_reason": "stop"}]}
    server.add(Reply(body=whole), say("word " * 50_000))
    model = patient(server)
    assert (await ModelOutput().ask(model)).text == long
    assert len((await ModelOutput().ask(model)).text) > 200_000
    await model.close()


async def models_list(server: WebServer) -> None:
    endpoint = ModelEndpoint("openai-compatible", server.url("/v1"), "")
    model = OpenAIModel(endpoint, System(), retry=QUICK)
    with pytest.raises(ModelError):
        await ModelOutput().ask(model)
    await model.close()


async def embeddings(server: WebServer) -> None:
    settings = SearchSettings("endpoint", model="m", base_url=server.url("/v1"))
    with pytest.raises(EmbeddingError):
        await embed(["text"], settings, System())


async def search_api(server: WebServer) -> None:
    endpoint = SearchEndpoint("serper", server.url(""), "k", "SERPER_API_KEY")
    with pytest.raises(WebError):
        await search_web(endpoint, "query", 3)


async def opencode(server: WebServer) -> None:
    connection = OpenCodeConnection(
        OpenCodeAddress(server.url("").rstrip("/"), "u", "", "PASSWORD", is_loopback=True)
    )
    with pytest.raises(OpenCodeError):
        await connection.request("GET", "/session", opencode_schema.SESSIONS)
    await connection.close()


ASKED: dict[str, Callable[[WebServer], Awaitable[None]]] = {
    "/v1/models": models_list,
    "/v1/embeddings": embeddings,
    "/search": search_api,
    "/global/health": opencode,
    "/session": opencode,
}


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("bomb", bombs("objects"), ids=str)
async def test_other_requests_are_bounded(path: str, status: int, bomb: Bomb) -> None:
    headers = {"content-type": "application/json", **bomb.headers}
    page = Page(status, headers, [bomb.body], length=-1)
    healthy = found({"healthy": True, "version": "1.0"})
    async with WebServer({"/global/health": healthy, path: page}) as server, little_taken():
        await ASKED[path](server)


@pytest.mark.parametrize("path", ASKED)
async def test_answer_of_many_parts_is_bounded(path: str) -> None:
    body = b"[" + b"{}," * 600_000 + b"{}]"
    page = Page(headers={"content-type": "application/json"}, body=[body])
    healthy = found({"healthy": True, "version": "1.0"})
    async with WebServer({"/global/health": healthy, path: page}) as server, little_taken():
        await ASKED[path](server)


async def test_endless_list_of_models_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "LIST_SECONDS", 0.3)
    page = Page(headers={}, body=[b" "], length=-1, endless=True, pause=0.01)
    async with WebServer({"/v1/models": page}) as server:
        model = OpenAIModel(ModelEndpoint("openai-compatible", server.url("/v1"), ""), System())
        with pytest.raises(ModelTimeout, match="did not list its models"):
            await ModelOutput().ask(model)
        await model.close()


def test_json_of_many_parts_is_not_read() -> None:
    assert parse_bounded(b'{"a": [1, {}]}') == {"a": [1, {}]}
    for text in ("{}," * 500_000, b"[" * 500_000):
        with pytest.raises(JsonTooLarge):
            parse_bounded(text)
    with pytest.raises(ValueError, match="nested"):
        parse_bounded("[" * 200_000)
