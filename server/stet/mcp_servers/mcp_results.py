"""The results of calls as text for a model: limited, with what is no text in a sentence."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stet.text.escape import escape, escape_line

MAX_TEXT = 18_000
"""The most characters of a result."""
MAX_BLOCKS = 200
"""The most parts of a result."""
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class McpResult:
    """The result of a call.

    Attributes:
        text: The text by the server, with control characters shown.
        n_left_out: The number of characters that are left out at the end.
        is_error: Whether the server calls it an error.
    """

    text: str
    n_left_out: int
    is_error: bool


def read_result(result: Mapping[str, Any]) -> McpResult:
    """Return the result of a call from an answer of any form."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    parts = [_describe_block(block) for block in blocks[:MAX_BLOCKS]]
    if len(blocks) > MAX_BLOCKS:
        parts.append(f"({len(blocks) - MAX_BLOCKS} more parts are left out)")
    parts += _structured_parts(result.get("structuredContent"), parts)
    text = "\n".join(parts)
    shown = escape(text[:MAX_TEXT])
    return McpResult(shown, max(0, len(text) - MAX_TEXT), result.get("isError") is True)


def _describe_block(block: object) -> str:
    """Return a part of a result as text."""
    if not isinstance(block, Mapping):
        return "(a part that is not of the protocol)"
    kind, text = block.get("type"), block.get("text")
    if kind == "text" and isinstance(text, str):
        return text
    if kind in ("image", "audio"):
        data = block.get("data")
        size = len(data) * 3 // 4 if isinstance(data, str) else 0
        return f"({kind} of type {_short(block.get('mimeType'))}, {size} bytes: not shown)"
    if kind == "resource_link":
        return f"(link to {_short(block.get('uri'))}: {_short(block.get('name'))})"
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, Mapping):
        uri, text = _short(resource.get("uri")), resource.get("text")
        return (
            f"{uri}\n{text}" if isinstance(text, str) else f"(binary content of {uri}: not shown)"
        )
    return f"(a part of the kind {_short(kind)}: not shown)"


def _structured_parts(structured: object, parts: list[str]) -> Iterator[str]:
    """Yield structured content as JSON, unless a part has the same content."""
    if structured is None:
        return
    for part in parts:
        try:
            if json.loads(part) == structured:
                return
        except (ValueError, RecursionError):
            continue
    yield json.dumps(structured, ensure_ascii=False)


def _short(value: object) -> str:
    return escape_line(value[:_MAX_SHOWN]) if isinstance(value, str) else "unknown"
