"""Embed texts with an OpenAI-compatible endpoint: `POST BASE/embeddings`, many texts at once."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from stet.llm.model_endpoint import ModelEndpoint, Timeouts
from stet.settings.values import SearchSettings
from stet.system.system import System
from stet.text.bounded_input import parse_bounded

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"
SECONDS = 60.0
MAX_TEXTS = 64
"""The most texts in one request."""
_KEY = "OPENAI_API_KEY"
_NONE = "its response is not a vector"
_MAX_BYTES = 16_000_000
"""The limit of an answer: 64 vectors of 8,192 numbers of 20 characters take 11 million bytes."""
_MAX_PARTS = 100_000


class EmbeddingError(Exception):
    """The endpoint returned no vectors; the message says why, and what to do."""


def embedding_target(settings: SearchSettings, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the address and the model that `search.embeddings = "endpoint"` uses."""
    base_url = settings.base_url or environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
    return base_url, settings.model or DEFAULT_MODEL


def embedding_endpoint(settings: SearchSettings, environ: Mapping[str, str]) -> ModelEndpoint:
    """Return the embedding endpoint with the address and model of `embedding_target` and its key.

    Raises:
        EmbeddingError: If a required key is missing.
    """
    base_url, model = embedding_target(settings, environ)
    # The key of the environment belongs to the address of the environment only.
    key_env = settings.api_key_env or ("" if settings.base_url else _KEY)
    key = environ.get(key_env, "").strip() if key_env else ""
    if key_env and not key:
        raise EmbeddingError(
            f"the embedding endpoint requires an API key: set {key_env} in the editor's "
            "environment, or use another variable in search.apiKeyEnv"
        )
    provider = "custom" if settings.base_url else "openai"
    return ModelEndpoint(provider, base_url, model, key, key_env)


async def embed(
    texts: Sequence[str], settings: SearchSettings, system: System
) -> list[list[float]]:
    """Return a vector for each text, in order.

    Raises:
        EmbeddingError: If there are no vectors.
    """
    endpoint = embedding_endpoint(settings, system.environ())
    # The import takes 0.3 s and more.
    transport = await asyncio.to_thread(import_module, "stet.llm.transport")
    openai = transport.openai
    client = transport.sdk_client(endpoint, Timeouts(), _MAX_BYTES)
    options = {"headers": transport.omitted_headers(endpoint)}
    vectors: list[list[float]] = []
    try:
        async with asyncio.timeout(SECONDS):
            for at in range(0, len(texts), MAX_TEXTS):
                some = list(texts[at : at + MAX_TEXTS])
                body = {"model": endpoint.model, "input": some, "encoding_format": "float"}
                raw = await client.post("/embeddings", cast_to=bytes, body=body, options=options)
                vectors += await asyncio.to_thread(_parse_vectors, raw, len(some))
    except TimeoutError as error:
        message = f"{endpoint.host} did not respond within {SECONDS:g} seconds"
        raise EmbeddingError(message) from error
    except openai.APIStatusError as error:
        raise EmbeddingError(endpoint.redact_key(_refusal_message(endpoint, error))) from error
    except (openai.OpenAIError, ValueError) as error:
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
        reason = endpoint.redact_key(str(cause or error))
        raise EmbeddingError(f"{endpoint.host} can't be reached: {reason}") from error
    finally:
        await client.close()
    return vectors


def _parse_vectors(raw: bytes, n_texts: int) -> list[list[float]]:
    """Return the vectors of an answer, in the order of the texts.

    Raises:
        ValueError: If the answer does not fit the number of texts.
    """
    try:
        answer = parse_bounded(raw, _MAX_PARTS)
        by_place = {item["index"]: _vector(item["embedding"]) for item in answer["data"]}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(_NONE) from error
    if by_place.keys() != set(range(n_texts)):
        raise ValueError(f"it returned {len(by_place)} vectors for {n_texts} texts")
    return [by_place[place] for place in range(n_texts)]


def _vector(numbers: Any) -> list[float]:
    if not isinstance(numbers, list):
        raise TypeError(_NONE)
    vector = [float(number) for number in numbers]
    if not vector or not math.isfinite(sum(vector)):
        raise ValueError(_NONE)
    return vector


def _refusal_message(endpoint: ModelEndpoint, error: Any) -> str:
    what = f"{endpoint.host} refused to embed (HTTP {error.status_code})"
    match error.status_code:
        case 401 | 403:
            hint = (
                f"check the key in {endpoint.key_env}"
                if endpoint.key_env
                else ("it requires an API key")
            )
        case 404:
            hint = (
                f"it has no model {endpoint.model!r} or no /embeddings: check search.model and "
                "search.baseUrl"
            )
        case 429:
            hint = "rate limit reached, or no credit left"
        case _:
            hint = str(error.message)[:200]
    return f"{what}: {hint}"
