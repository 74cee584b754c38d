"""Read what a GGUF file says of itself: family, size, context, chat template.

A file may come from anywhere: sizes and counts are checked before they are used, and only the
header is read, up to a bound. The format is described in the repository ggml-org/ggml
(`docs/gguf.md`).
"""

import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

HEADER_SIZES = (8_000_000, 32_000_000, 128_000_000)
"""How many bytes of a file are read, one after the other, until its header is complete."""
MAX_KEYS = 10_000
MAX_TENSORS = 100_000
MAX_ELEMENTS = 5_000_000
"""The most elements of all lists; a vocabulary has at most some hundred thousand."""
MAX_TEXT = 1_000_000
"""The most bytes of a text that is kept."""
MAX_DIMENSION = 2**40
_SIMPLE = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""The types of values that have a fixed size, as `struct` names them."""
_TEXT, _LIST = 8, 9


class NotGguf(ValueError):
    """A file is not a GGUF file that can be read; the message is a phrase about the file."""


class _HeaderCut(Exception):
    """The header is longer than what was read of the file."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a file says of itself; numbers that it does not state are 0.

    Attributes:
        architecture: The family, such as `qwen2`.
        kind: What the file is, such as `model` or `adapter`; "" if it does not say so.
        name: The name of the model.
        context_length: The longest context in training, in tokens.
        n_parameters: The number of parameters, counted from the tensors.
        cache_bytes: The bytes of memory that a token of context takes.
        has_chat_template: Whether it has a template, as models that answer questions do.
        calls_tools: Whether the template has a place for tools.
        n_files: The number of files that the model is split into.
    """

    architecture: str
    kind: str
    name: str
    context_length: int
    n_parameters: int
    cache_bytes: int
    has_chat_template: bool
    calls_tools: bool
    n_files: int


def read_gguf_header(path: Path) -> GgufHeader:
    """Read the header of a file. It blocks, for about 0.2 s.

    Raises:
        NotGguf: If the file is not GGUF, or its header is damaged.
        OSError: If it can't be read.
    """
    for size in HEADER_SIZES:
        with path.open("rb") as file:
            data = file.read(size)
        try:
            return _parse(data)
        except _HeaderCut:
            if len(data) < size:
                raise NotGguf("its header is cut off") from None
    raise NotGguf("its header is too long")


def _parse(data: bytes) -> GgufHeader:
    reader = _HeaderReader(data)
    if reader.take(4) != b"GGUF":
        raise NotGguf("it is not a GGUF file")
    if reader.number("I") not in {2, 3}:
        raise NotGguf("its version of GGUF is unknown")
    n_tensors, n_keys = reader.count("Q", MAX_TENSORS), reader.count("Q", MAX_KEYS)
    values: dict[str, Any] = {}
    for _ in range(n_keys):
        key = reader.text()
        values[key] = reader.value(reader.number("I"))
    n_parameters = sum(reader.tensor() for _ in range(n_tensors))
    return _header(values, n_parameters)


def _header(values: dict[str, Any], n_parameters: int) -> GgufHeader:
    architecture = _word(values, "general.architecture")

    def number(key: str) -> int:
        return _number(values, f"{architecture}.{key}")

    n_heads = number("attention.head_count")
    head_size = number("attention.key_length") or number("embedding_length") // max(1, n_heads)
    n_cached = number("attention.head_count_kv") or n_heads
    # Keys and values, two bytes each.
    cache_bytes = 4 * number("block_count") * n_cached * head_size
    template = values.get("tokenizer.chat_template")
    template = template if isinstance(template, str) else ""
    return GgufHeader(
        architecture=architecture,
        kind=_word(values, "general.type"),
        name=_word(values, "general.name"),
        context_length=number("context_length"),
        n_parameters=n_parameters,
        cache_bytes=cache_bytes,
        has_chat_template=bool(template.strip()),
        calls_tools="tools" in template,
        n_files=_number(values, "split.count"),
    )


def _word(values: dict[str, Any], key: str) -> str:
    """Return a short text; "" if the value is not a text."""
    value = values.get(key)
    return value[:200] if isinstance(value, str) else ""


def _number(values: dict[str, Any], key: str) -> int:
    """Return a whole number, or the largest of a list of such; 0 if the value is neither."""
    value = values.get(key)
    if isinstance(value, list):
        value = max(value, default=0)
    return value if type(value) is int and 0 <= value < MAX_DIMENSION else 0


class _HeaderReader:
    """Reads one value after the other, and never beyond the data."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._n_elements = 0

    def take(self, n_bytes: int) -> bytes:
        """Return the next bytes.

        Raises:
            _HeaderCut: If there are fewer.
        """
        end = self._at + n_bytes
        if end > len(self._data):
            raise _HeaderCut
        piece = self._data[self._at : end]
        self._at = end
        return piece

    def number(self, kind: str) -> Any:
        """Return the next number of a kind of `struct`."""
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def count(self, kind: str, most: int) -> int:
        """Return the next number.

        Raises:
            NotGguf: If it is larger than `most`.
        """
        found: int = self.number(kind)
        if found > most:
            raise NotGguf(f"its header counts {found:,} parts")
        return found

    def text(self) -> str:
        """Return the next text; what is too long to be kept is skipped and "" is returned."""
        n_bytes: int = self.number("Q")
        if n_bytes > HEADER_SIZES[-1]:
            raise NotGguf("a text in its header is too long")
        piece = self.take(n_bytes)
        return piece.decode("utf-8", "replace") if n_bytes <= MAX_TEXT else ""

    def value(self, kind: int) -> Any:
        """Return the next value of a kind; of a long list or a list of texts only that it is one.

        Raises:
            NotGguf: If the kind is unknown.
        """
        if kind in _SIMPLE:
            return self.number(_SIMPLE[kind])
        if kind == _TEXT:
            return self.text()
        if kind != _LIST:
            raise NotGguf(f"its header has a value of the unknown type {kind}")
        of, n_elements = self.number("I"), self.count("Q", MAX_ELEMENTS)
        self._n_elements += n_elements
        if self._n_elements > MAX_ELEMENTS:
            raise NotGguf("its header has too many parts")
        return self._list(of, n_elements)

    def _list(self, kind: int, n_elements: int) -> list[int] | None:
        if kind in _SIMPLE:
            form = f"<{n_elements}{_SIMPLE[kind]}"
            piece = self.take(struct.calcsize(form))
            is_short = n_elements <= MAX_KEYS and _SIMPLE[kind] in "BbHhIiQq"
            return list(struct.unpack(form, piece)) if is_short else None
        if kind != _TEXT:  # no program writes lists of lists
            raise NotGguf("its header has a list of lists")
        for _ in range(n_elements):
            n_bytes: int = self.number("Q")
            self.skip(n_bytes)
        return None

    def skip(self, n_bytes: int) -> None:
        """Go on after the next bytes.

        Raises:
            _HeaderCut: If there are fewer.
        """
        self._at += n_bytes
        if self._at > len(self._data):
            raise _HeaderCut

    def tensor(self) -> int:
        """Return the number of values of the next tensor.

        Raises:
            NotGguf: If it has more than four dimensions, or an impossible one.
        """
        self.text()
        n_dimensions = self.count("I", 4)
        sizes = [self.count("Q", MAX_DIMENSION) for _ in range(n_dimensions)]
        self.take(12)  # its type and its place
        return prod(sizes)
