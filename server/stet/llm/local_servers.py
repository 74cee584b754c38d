"""Which local model servers run: asked over loopback, and believed only if they say who they are.

Ollama and LM Studio have ports and answers of their own. Ports 8000 and 8080 are never asked: what
answers there may be anybody's. No secret is sent.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from stet.text.bounded_input import parse_bounded

PROBE_SECONDS = 0.3
MAX_ANSWER_BYTES = 1_000_000
MAX_PARTS = 50_000
OLLAMA_PORT = 11434
LM_STUDIO_PORT = 1234
_HEADERS = "Accept-Encoding: identity\r\nConnection: close\r\n"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that runs on this machine.

    Attributes:
        provider: Its preset.
        base_url: Where it was found.
        models: The chat models it has, the one to take first.
        context_tokens: Of the first, or None where it did not say.
    """

    provider: Literal["ollama", "lmstudio"]
    base_url: str
    models: tuple[str, ...]
    context_tokens: int | None = None


async def find_local_servers(
    ollama_port: int = OLLAMA_PORT, lm_studio_port: int = LM_STUDIO_PORT
) -> tuple[LocalServer, ...]:
    """Return the servers that identify themselves within `PROBE_SECONDS`, Ollama first."""
    found = await asyncio.gather(_ollama(ollama_port), _lm_studio(lm_studio_port))
    return tuple(server for server in found if server is not None)


async def _ollama(port: int) -> LocalServer | None:
    """Ollama says so at its root, and lists its models at `/api/tags`, newest first."""
    root, tags = await asyncio.gather(_get(port, "/"), _get(port, "/api/tags"))
    if root is None or root.strip() != b"Ollama is running":
        return None
    names = [str(entry["name"]) for entry in _entries(tags, "models") if "name" in entry]
    chat = tuple(name for name in names if "embed" not in name)
    return LocalServer("ollama", f"http://127.0.0.1:{port}/v1", chat)


async def _lm_studio(port: int) -> LocalServer | None:
    """Only LM Studio has `/api/v0/models`, where each model has a type and a state."""
    listed = await _get(port, "/api/v0/models")
    entries = [one for one in _entries(listed, "data") if "id" in one and "state" in one]
    if not entries:
        return None
    chat = [one for one in entries if one.get("type") in {"llm", "vlm"}]
    chat.sort(key=lambda one: one["state"] != "loaded")
    limit = None
    if chat:
        limit = chat[0].get("loaded_context_length") or chat[0].get("max_context_length")
    return LocalServer(
        "lmstudio",
        f"http://127.0.0.1:{port}/v1",
        tuple(str(one["id"]) for one in chat),
        limit if isinstance(limit, int) else None,
    )


def _entries(body: bytes | None, key: str) -> list[dict[str, Any]]:
    """Return the objects in the list at `key` of a JSON object. Return an empty list if the value
    has another form.
    """
    try:
        data = parse_bounded(body or b"", MAX_PARTS)
    except ValueError:
        return []
    entries = data.get(key) if isinstance(data, dict) else None
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict)]


async def _get(port: int, path: str) -> bytes | None:
    """Return the body of a successful GET on loopback, or None. Take at most `PROBE_SECONDS`."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                # HTTP/1.0, so that the answer ends with the connection and is not chunked.
                head = f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{_HEADERS}\r\n"
                writer.write(head.encode())
                answer = await _read_all(reader)
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return None
    first, _, body = answer.partition(b"\r\n\r\n")
    status = first.split(b"\r\n", 1)[0].split(b" ")
    return body if len(status) > 1 and status[1] == b"200" else None


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    answer = b""
    while len(answer) < MAX_ANSWER_BYTES:
        piece = await reader.read(65536)
        if not piece:
            break
        answer += piece
    return answer
