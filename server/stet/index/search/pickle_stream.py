"""Values on their way between two processes of ours, on a pipe that nobody else can write into."""

import pickle
from typing import IO, Any

_LENGTH = 8
"""Bytes that tell how many follow."""


def write_value(stream: IO[bytes], value: object) -> None:
    """Send a value; raises BrokenPipeError where nobody reads any more."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "big") + data)
    stream.flush()


def read_value(stream: IO[bytes]) -> Any:
    """The next value; raises EOFError where there is none, or only a part of it."""
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == _LENGTH else b""
    if len(head) < _LENGTH or len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 (see the module)
