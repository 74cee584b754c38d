"""The servers of models on this machine: found on their ports, and asked what they serve.

Servers are asked over loopback, in plain HTTP. Ollama and LM Studio have known ports and answers.
Ports 8000 and 8080 are never asked unless the user's settings name them: any program may answer
there. No secret is sent but the key that the settings send to that address.
"""

import asyncio
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard
from urllib.parse import urlsplit

from stet.llm.model_endpoint import LOOPBACK, hostname_of
from stet.text.bounded_input import parse_bounded

PROBE_SECONDS = 0.3
ASK_SECONDS = 2.0
"""The longest wait for a server that the settings name: it may be busy."""
MAX_ANSWER_BYTES = 1_000_000
MAX_PARTS = 50_000
OLLAMA_PORT = 11434
LM_STUDIO_PORT = 1234
_PLAIN = re.compile(r"[\x21-\x7e]+")
"""Text that can neither end a header nor begin another one."""
_HEADERS = "Accept-Encoding: identity\r\nConnection: close\r\n"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that runs on this machine.

    Attributes:
        provider: The name of the preset.
        base_url: The base URL of the server.
        models: The server's chat models, the preferred one first.
        context_tokens: The context window of the first model, or None if it is not known.
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
    """Find Ollama, which identifies itself at its root and lists its models at `/api/tags`."""
    root, tags = await asyncio.gather(_get_body(port, "/"), _get_body(port, "/api/tags"))
    if root is None or root.strip() != b"Ollama is running":
        return None
    names = [str(entry["name"]) for entry in _entries(tags, "models") if "name" in entry]
    chat = tuple(name for name in names if "embed" not in name)
    return LocalServer("ollama", f"http://127.0.0.1:{port}/v1", chat)


async def _lm_studio(port: int) -> LocalServer | None:
    """Find LM Studio: only it has `/api/v0/models`, where each model has a type and a state."""
    listed = await _get_body(port, "/api/v0/models")
    entries = [one for one in _entries(listed, "data") if "id" in one and "state" in one]
    if not entries:
        return None
    chat = [one for one in entries if one.get("type") in {"llm", "vlm"}]
    chat.sort(key=lambda one: one["state"] != "loaded")
    first = chat[0] if chat else {}
    limit = first.get("loaded_context_length") or first.get("max_context_length")
    names = tuple(str(one["id"]) for one in chat)
    context_tokens = limit if isinstance(limit, int) else None
    return LocalServer("lmstudio", f"http://127.0.0.1:{port}/v1", names, context_tokens)


def _entries(body: bytes | None, key: str) -> list[dict[str, Any]]:
    """Return the objects in the list at `key` of a JSON object. Return an empty list if the value
    has another form.
    """
    try:
        data = parse_bounded(body or b"", MAX_PARTS)
    except ValueError:
        return []
    entries = data.get(key) if isinstance(data, dict) else None
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server serves, as the server reports it.

    Attributes:
        name: The server's name for the model.
        context_tokens: The context window with which it is loaded, or None if it is not reported.
        parameters: The number of parameters in billions, or None if it is not reported.
    """

    name: str
    context_tokens: int | None = None
    parameters: float | None = None


async def find_served_model(base_url: str, name: str, key: str = "") -> ServedModel | None:
    """Return what a server on this machine reports of a model, within `ASK_SECONDS`.

    Args:
        base_url: The address before `/models`; only plain HTTP over loopback is asked.
        name: The name of the model; "" for the first of the list.
        key: The key that the user's settings send to this address, or "".

    Returns:
        The model; None if the server reports nothing usable, or several models without this name.
    """
    parts = urlsplit(base_url)
    if parts.scheme != "http" or hostname_of(base_url) not in LOOPBACK:
        return None
    path = f"{parts.path.rstrip('/')}/models"
    if not _PLAIN.fullmatch(path) or not (not key or _PLAIN.fullmatch(key)):
        return None
    body = await _get_body(parts.port or 80, path, seconds=ASK_SECONDS, key=key)
    entries = [one for one in _entries(body, "data") if isinstance(one.get("id"), str)]
    named = [one for one in entries if one["id"] == name]
    # A server of one model answers for it under any name.
    found = named or (entries if not name or len(entries) == 1 else [])
    return _served_model(found[0]) if found else None


def _served_model(entry: dict[str, Any]) -> ServedModel:
    """Return the model of an entry of `/models`, in the forms of llama.cpp, vLLM and others."""
    meta = entry["meta"] if isinstance(entry.get("meta"), dict) else {}
    windows = (meta.get("n_ctx"), entry.get("max_model_len"), entry.get("context_length"))
    window = next((one for one in windows if _is_count(one)), None)
    n_parameters = meta.get("n_params")
    return ServedModel(
        entry["id"], window, round(n_parameters / 1e9, 2) if _is_count(n_parameters) else None
    )


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


async def _get_body(
    port: int, path: str, *, seconds: float = PROBE_SECONDS, key: str = ""
) -> bytes | None:
    """Return the body of a successful GET on loopback, or None. Take at most `seconds`."""
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    headers = f"Host: 127.0.0.1:{port}\r\n{authorization}{_HEADERS}"
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                # HTTP/1.0, so that the answer ends with the connection and is not chunked.
                head = f"GET {path} HTTP/1.0\r\n{headers}\r\n"
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
    while len(answer) < MAX_ANSWER_BYTES and (piece := await reader.read(65536)):
        answer += piece
    return answer
