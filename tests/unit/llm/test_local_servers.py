"""Local servers are believed only if they say who they are, and never waited for."""

import asyncio
import time

import pytest

from stet.llm.local_servers import (
    LocalServer,
    ServedModel,
    find_local_servers,
    find_served_model,
)
from tests.support.openai_server import OpenAIServer

TAGS = {"models": [{"name": "nomic-embed-text:latest"}, {"name": "qwen3:8b"}]}
MODELS = {
    "data": [
        {"id": "text-embedding-nomic", "type": "embeddings", "state": "loaded"},
        {"id": "phi-4", "type": "llm", "state": "not-loaded", "max_context_length": 16_384},
        {
            "id": "qwen3",
            "type": "llm",
            "state": "loaded",
            "max_context_length": 32_768,
            "loaded_context_length": 8192,
        },
    ]
}


async def test_ollama_and_lm_studio_are_found() -> None:
    async with (
        OpenAIServer(pages={"/": "Ollama is running", "/api/tags": TAGS}) as ollama,
        OpenAIServer(pages={"/api/v0/models": MODELS}) as lm_studio,
    ):
        assert await find_local_servers(ollama.port, lm_studio.port) == (
            LocalServer("ollama", ollama.base_url, ("qwen3:8b",)),
            LocalServer("lmstudio", lm_studio.base_url, ("qwen3", "phi-4"), 8192),
        )


async def test_no_secret_is_sent_to_them() -> None:
    async with OpenAIServer(pages={"/": "Ollama is running", "/api/tags": TAGS}) as ollama:
        await find_local_servers(ollama.port, ollama.port)
        assert {header for asked in ollama.others for header in asked.headers} == {
            "host",
            "accept-encoding",
            "connection",
        }


async def test_other_program_on_the_port_is_ignored() -> None:
    pages = {"/": "It works!", "/api/tags": TAGS, "/api/v0/models": {"data": [{"id": "gpt-9"}]}}
    async with OpenAIServer(pages=pages) as stranger:
        assert await find_local_servers(stranger.port, stranger.port) == ()


async def test_invalid_answer_is_ignored() -> None:
    pages = {"/": "Ollama is running", "/api/tags": [1], "/api/v0/models": "{"}
    async with OpenAIServer(pages=pages) as server:
        found = await find_local_servers(server.port, server.port)
        assert found == (LocalServer("ollama", server.base_url, ()),)


async def test_closed_ports_are_ignored() -> None:
    async with OpenAIServer() as gone:
        port = gone.port
    assert await find_local_servers(port, port) == ()


@pytest.mark.slow
async def test_silent_server_is_not_awaited() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    started = time.perf_counter()
    assert await find_local_servers(port, port) == ()
    assert time.perf_counter() - started < 1
    server.close()


LLAMA = {
    "models": [{"name": "qwen"}],
    "data": [{"id": "/m/qwen.gguf", "meta": {"n_ctx": 8192, "n_params": 1_777_088_000}}],
}
VLLM = {"data": [{"id": "one", "max_model_len": 16_384}, {"id": "two", "max_model_len": "many"}]}


@pytest.mark.parametrize(
    ("listed", "name", "served"),
    [
        (LLAMA, "", ServedModel("/m/qwen.gguf", 8192, 1.78)),
        (LLAMA, "any-alias", ServedModel("/m/qwen.gguf", 8192, 1.78)),
        (VLLM, "", ServedModel("one", 16_384)),
        (VLLM, "two", ServedModel("two")),
        (VLLM, "three", None),
        ({"data": [{"id": 7}, 8], "object": "list"}, "", None),
        ({"data": [{"id": "m", "meta": [1], "context_length": -5}]}, "", ServedModel("m")),
        ("[[[", "", None),
    ],
)
async def test_server_reports_window_and_size(
    listed: object, name: str, served: ServedModel | None
) -> None:
    async with OpenAIServer(pages={"/v1/models": listed}) as server:
        assert await find_served_model(server.base_url, name) == served


async def test_key_of_the_settings_is_sent_to_its_address_only() -> None:
    async with OpenAIServer(pages={"/v1/models": LLAMA}) as server:
        await find_served_model(server.base_url, "", "secret")
        assert await find_served_model(server.base_url, "", "x\r\nEvil: 1") is None
        assert await find_served_model(f"http://192.0.2.1:{server.port}/v1", "", "secret") is None
        assert [asked.headers.get("authorization") for asked in server.others] == ["Bearer secret"]
