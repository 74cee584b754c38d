"""Write a GGUF file with the shape of a model and random weights, to measure how fast it runs.

Weights of zero would be too fast: llama.cpp looks the scale of a block up in a table, and scales
that are all the same are always in the processor's cache. With them SmolLM2-135M seemed half as
fast again as it is. So blocks are random, and their scales vary as those of a trained model.
"""

import os
import struct
from collections.abc import Mapping
from pathlib import Path
from statistics import NormalDist
from typing import BinaryIO

from stet.llm.weights.model_shape import F32, ModelShape, Quantization

PIECE = 4096
"""The number of random blocks that are made of each kind; they are repeated."""
_SPREAD = 0.5
"""The standard deviation of the binary logarithm of a scale."""
_ALIGNMENT = 32
"""Tensors begin at multiples of this number of bytes."""
_CONTEXT = 8192
_TEXT, _LIST, _FLOAT, _WHOLE = 8, 9, 6, 4


def write_random_weights(path: Path, shape: ModelShape) -> None:
    """Write a file that llama.cpp can run, whose answers mean nothing. It blocks.

    Args:
        path: The file.
        shape: The shape of the model.

    Raises:
        OSError: If the disk can't be written.
    """
    tensors = list(shape.tensors())
    values = _values(shape)
    header = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(values))]
    header += [_text(key) + value for key, value in values.items()]
    begin = 0
    for tensor in tensors:
        n_sizes = len(tensor.sizes)
        header.append(_text(tensor.name) + struct.pack(f"<I{n_sizes}Q", n_sizes, *tensor.sizes))
        header.append(struct.pack("<IQ", tensor.quantization.code, begin))
        begin += _aligned(tensor.n_bytes)
    pieces: dict[Quantization, bytes] = {}
    with path.open("wb") as file:
        file.write(b"".join(header))
        file.seek(_aligned(file.tell()))
        for tensor in tensors:
            end = file.tell() + _aligned(tensor.n_bytes)
            # Of embeddings that are not the output, only a row is read at a time.
            if tensor.name != "token_embd.weight" or shape.output is None:
                kind = tensor.quantization
                if kind not in pieces:
                    pieces[kind] = _random_blocks(kind)
                _repeat(file, pieces[kind], tensor.n_bytes)
            file.seek(end)
        file.truncate()


def _repeat(file: BinaryIO, piece: bytes, n_bytes: int) -> None:
    """Write a piece again and again, until so many bytes are written."""
    n_whole, rest = divmod(n_bytes, len(piece))
    file.writelines(piece for _ in range(n_whole))
    file.write(piece[:rest])


def _random_blocks(kind: Quantization) -> bytes:
    """Return random blocks whose scales are as different as those of a trained model."""
    if kind == F32:
        return struct.pack("<f", 1.0) * PIECE
    blocks = bytearray(os.urandom(kind.n_bytes * PIECE))
    spread = NormalDist(0, _SPREAD)
    for at, usual in kind.scales:
        for number, found in enumerate(struct.unpack(f"<{PIECE}H", os.urandom(2 * PIECE))):
            scale = usual * 2 ** spread.inv_cdf((found + 0.5) / 2**16)
            struct.pack_into("<e", blocks, at + number * kind.n_bytes, scale)
    return bytes(blocks)


def _values(shape: ModelShape) -> Mapping[str, bytes]:
    """Return the metadata, each as its type and its value.

    The vocabulary has the right size and words that mean nothing.
    """
    name = shape.architecture
    words = b"".join(_text(f"t{number}") for number in range(shape.n_tokens))
    return {
        "general.architecture": _word(name),
        "general.type": _word("model"),
        f"{name}.block_count": _whole(shape.n_layers),
        f"{name}.context_length": _whole(_CONTEXT),
        f"{name}.embedding_length": _whole(shape.width),
        f"{name}.feed_forward_length": _whole(shape.inner_width),
        f"{name}.attention.head_count": _whole(shape.n_heads),
        f"{name}.attention.head_count_kv": _whole(shape.n_cached_heads),
        f"{name}.attention.layer_norm_rms_epsilon": struct.pack("<If", _FLOAT, 1e-6),
        "tokenizer.ggml.model": _word("gpt2"),
        "tokenizer.ggml.pre": _word("default"),
        "tokenizer.ggml.tokens": struct.pack("<IIQ", _LIST, _TEXT, shape.n_tokens) + words,
        "tokenizer.ggml.merges": struct.pack("<IIQ", _LIST, _TEXT, 1) + _text("t 0"),
        "tokenizer.ggml.bos_token_id": _whole(0),
        "tokenizer.ggml.eos_token_id": _whole(0),
    }


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _word(text: str) -> bytes:
    return struct.pack("<I", _TEXT) + _text(text)


def _whole(number: int) -> bytes:
    return struct.pack("<II", _WHOLE, number)


def _aligned(n_bytes: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-n_bytes // _ALIGNMENT) * _ALIGNMENT
