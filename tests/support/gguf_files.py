"""GGUF files as a test describes them."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
QWEN = {
    "general.architecture": "qwen2",
    "general.type": "model",
    "general.name": "Tiny Qwen",
    "general.file_type": 15,
    "qwen2.context_length": 32_768,
    "qwen2.block_count": 28,
    "qwen2.embedding_length": 1536,
    "qwen2.attention.head_count": 12,
    "qwen2.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "b", "<|im_end|>"],
    "tokenizer.ggml.scores": [0.5, 0.25, 0.0],
    "tokenizer.chat_template": TEMPLATE,
}
"""The keys of a model that answers questions."""


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    """Return the type and the value, as a program that converts models writes them."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        kind = 8 if isinstance(value[0], str) else 6 if isinstance(value[0], float) else 4
        return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(map(_scalar, value))
    kinds = {str: 8, bool: 7, int: 4, float: 6}
    return struct.pack("<I", kinds[type(value)]) + _scalar(value)


def _scalar(value: str | float) -> bytes:
    if isinstance(value, str):
        return text(value)
    return struct.pack({bool: "<?", int: "<I", float: "<f"}[type(value)], value)


def gguf(
    values: Mapping[str, Any] = QWEN,
    tensors: Sequence[Sequence[int]] = ((1536, 1000), (1536,)),
    *,
    head: bytes = b"GGUF\x03\0\0\0",
    counts: tuple[int, int] | None = None,
) -> bytes:
    """Return the header of a file.

    Args:
        values: The metadata; bytes stand for a type and a value as they are.
        tensors: The dimensions of each tensor.
        head: The magic and the version.
        counts: The numbers of tensors and keys; by default the right ones.
    """
    counts = counts or (len(tensors), len(values))
    pairs = b"".join(text(key) + _value(value) for key, value in values.items())
    infos = b"".join(
        text(f"t{number}") + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, 0, 0)
        for number, sizes in enumerate(tensors)
    )
    return head + struct.pack("<QQ", *counts) + pairs + infos


def write_gguf(path: Path, values: Mapping[str, Any] = QWEN, **parts: Any) -> Path:
    """Write a file with this header and some bytes after it; return its path."""
    path.write_bytes(gguf(values, **parts) + bytes(1000))
    return path
