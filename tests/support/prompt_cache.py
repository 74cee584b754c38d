"""The part of a request that a provider's prompt cache still has when the next one comes."""

import json
from typing import Any


def cached_bytes(body: dict[str, Any]) -> bytes:
    """Return the bytes that determine a provider's cache: the tools, then the messages."""
    parts = [body.get("tools", []), *body["messages"]]
    return "\n".join(json.dumps(part, ensure_ascii=False) for part in parts).encode()


def cached_share(before: dict[str, Any], after: dict[str, Any]) -> float:
    """Return the part of a request's bytes, from 0 to 1, that the next request begins with."""
    first, second = cached_bytes(before), cached_bytes(after)
    pairs = enumerate(zip(first, second, strict=False))
    same = next((n for n, (one, other) in pairs if one != other), min(len(first), len(second)))
    return same / len(first)
