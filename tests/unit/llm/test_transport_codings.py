"""Models, lists of models, search APIs, embeddings and pages that send compressed answers."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Awaitable, Callable
from importlib import import_module

import pytest

from stet.bridges.opencode import opencode_schema
from stet.bridges.opencode.opencode_address import OpenCodeAddress
from stet.bridges.opencode.opencode_connection import OpenCodeConnection
from stet.llm.embeddings import embed
from stet.llm.local_servers import find_local_servers
from stet.llm.model import ModelError
from stet.llm.model_endpoint import ModelEndpoint
from stet.llm.openai_model import OpenAIModel
from stet.settings.values import SearchSettings
from stet.system.system import System
from stet.text.bounded_input import ACCEPTED, MAX_SILENT
from stet.web import web_address as address
from stet.web.fetch import Fetcher, read_page
from stet.web.search_client import search_web
from stet.web.search_formats import SearchEndpoint
from tests.support.model_requests import QUICK, ModelOutput
from tests.support.web_server import WebReply, WebServer

pytestmark = pytest.mark.slow


CHUNK = {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}
HEALTHY = WebReply(
    headers={"content-type": "application/json"}, body=[b'{"healthy": true, "version": "1.0"}']
)


@pytest.fixture(autouse=True, scope="module")
def imported() -> None:
    """What is imported for the first answer takes no test's time."""
    import_module("stet.llm.transport")


async def model(server: WebServer) -> object:
    """One round, of a model that the server has to name."""
    asked = OpenAIModel(
        ModelEndpoint("openai-compatible", server.url("/v1"), ""), System(), retry=QUICK
    )
    try:
        return (await ModelOutput().ask(asked)).text
    finally:
        await asked.close()


async def embeddings(server: WebServer) -> object:
    """One embedding."""
    settings = SearchSettings("endpoint", model="m", base_url=server.url("/v1"))
    return len(await embed(["text"], settings, System()))


async def search_api(server: WebServer) -> object:
    """A search of the web."""
    endpoint = SearchEndpoint("serper", server.url(""), "a-key", "SERPER_API_KEY")
    return [hit.url for hit in (await search_web(endpoint, "query", 3)).hits]


async def opencode(server: WebServer) -> object:
    """The sessions of an OpenCode server."""
    connection = OpenCodeConnection(
        OpenCodeAddress(server.url("").rstrip("/"), "u", "", "PASSWORD", is_loopback=True)
    )
    try:
        sessions = await connection.request("GET", "/session", opencode_schema.SESSIONS)
        return len(sessions)
    finally:
        await connection.close()


async def web_page(server: WebServer) -> object:
    """A page of the web."""

    async def anything(_there: address.WebAddress, _from: address.WebAddress | None) -> None:
        """Whatever it is, it may be read."""

    fetched = await Fetcher(("127.0.0.1",)).fetch(address.parse_url(server.url("/page")), anything)
    return (await read_page(fetched, System())).text


Ask = Callable[[WebServer], Awaitable[object]]
JSON, EVENTS, TEXT = "application/json", "text/event-stream", "text/plain"
ASKED: dict[str, tuple[str, Ask, str, bytes, object]] = {
    "models": ("/v1/models", model, JSON, b'{"data": [{"id": "m"}]}', "Hello"),
    "events": (
        "/v1/chat/completions",
        model,
        EVENTS,
        f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n".encode(),
        "Hello",
    ),
    "answer": (
        "/v1/chat/completions",
        model,
        JSON,
        b'{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}',
        "Hello",
    ),
    "embeddings": (
        "/v1/embeddings",
        embeddings,
        JSON,
        b'{"data": [{"index": 0, "embedding": [1.0, 0.5]}]}',
        1,
    ),
    "search": (
        "/search",
        search_api,
        JSON,
        b'{"organic": [{"link": "https://a.example/", "title": "A", "snippet": ""}]}',
        ["https://a.example/"],
    ),
    "opencode": ("/session", opencode, JSON, b"[]", 0),
    "page": ("/page", web_page, TEXT, b"Hello", "Hello"),
}


def whole(body: bytes) -> bytes:
    """As it is."""
    return body


def raw_deflate(body: bytes) -> bytes:
    """Compressed without the header of zlib, as some servers do."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def nothing_twice(_body: bytes) -> bytes:
    """A gzip of a gzip of blocks that hold nothing: 100 kB that would keep a decoder busy."""
    packer = zlib.compressobj(9, wbits=31)
    head = packer.compress(b" ") + packer.flush(zlib.Z_SYNC_FLUSH)
    return gzip.compress(head + b"\0\0\0\xff\xff" * (MAX_SILENT // 2))


READABLE: dict[str, Callable[[bytes], bytes]] = {
    "identity": whole,
    "gzip": gzip.compress,
    "GZIP, identity": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, identity": raw_deflate,
    "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
}
UNREADABLE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "br": (whole, "compressed as 'br', which was not asked for"),
    "zstd": (whole, "compressed as 'zstd', which was not asked for"),
    "gzip, br": (whole, "compressed as '(gzip, )?br'"),
    "gzip, gzip, gzip": (whole, "compressed (more than 2 times|as 'gzip, gzip, gzip')"),
    "gzip": (whole, "not gzip, as declared"),
    "x-gzip": (lambda body: gzip.compress(body)[:15], "was cut off"),
    "gzip, x-gzip": (nothing_twice, "decodes to nothing|compressed as 'gzip, x-gzip'"),
}


def serve(name: str, coding: str, encode: Callable[[bytes], bytes], status: int = 200) -> WebServer:
    """A server whose answer to one thing is encoded, and to what comes before it is not."""
    path, _, kind, body, _ = ASKED[name]
    pages = {
        path: WebReply(status, {"content-type": kind, "content-encoding": coding}, [encode(body)])
    }
    for before, (other, _, its_kind, its_body, _) in ASKED.items():
        if before in {"models", "events"} and other not in pages:
            pages[other] = WebReply(headers={"content-type": its_kind}, body=[its_body])
    return WebServer({"/global/health": HEALTHY, **pages})


@pytest.mark.parametrize("coding", READABLE)
@pytest.mark.parametrize("name", ASKED)
async def test_requested_encoding_is_decoded(name: str, coding: str) -> None:
    _, ask, _, _, expected = ASKED[name]
    if name == "page" and ("deflate" in coding or coding.count("gzip") > 1):
        return  # not asked for: see below
    async with serve(name, coding, READABLE[coding]) as server:
        assert await ask(server) == expected
    asked = {one.headers["accept-encoding"] for one in server.asked}
    assert asked == {"gzip" if name == "page" else ACCEPTED}


@pytest.mark.parametrize("coding", UNREADABLE)
@pytest.mark.parametrize("name", ASKED)
async def test_undecodable_answer_is_reported(name: str, coding: str) -> None:
    encode, message = UNREADABLE[coding]
    async with serve(name, coding, encode) as server:
        with pytest.raises(Exception, match=message):
            await ASKED[name][1](server)


@pytest.mark.parametrize("coding", UNREADABLE)
@pytest.mark.parametrize("name", ["models", "events"])
async def test_undecodable_error_is_reported(name: str, coding: str) -> None:
    async with serve(name, coding, UNREADABLE[coding][0], status=400) as server:
        with pytest.raises(ModelError, match="HTTP 400"):
            await model(server)


@pytest.mark.parametrize("coding", [*READABLE, *UNREADABLE])
async def test_local_server_with_an_undecodable_answer_is_ignored(coding: str) -> None:
    encode = READABLE.get(coding) or UNREADABLE[coding][0]
    headers = {"content-type": JSON, "content-encoding": coding}
    tags = WebReply(headers=headers, body=[encode(b'{"models": [{"name": "qwen"}]}')])
    root = WebReply(headers={"content-type": TEXT}, body=[b"Ollama is running"])
    async with WebServer({"/": root, "/api/tags": tags}) as server:
        [found] = await asyncio.wait_for(find_local_servers(server.port, server.port), 30)
    assert found.models in {("qwen",), ()}
    assert all(one.headers["accept-encoding"] == "identity" for one in server.asked)
