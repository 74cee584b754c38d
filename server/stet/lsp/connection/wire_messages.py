"""Messages of the base protocol: from a stream of bytes to JSON to the protocol's types, leniently.

`FrameReader` takes header names in any case, with or without a space after the colon, folded, repeated,
of any length; bare line feeds; rubbish between messages. A length that is missing, negative or absurd
costs that one message: the reader continues at the next header.

The converter does not record where in a message it is: its generated code is a third of the size, and
generating it is a tenth of the time to the answer of `initialize`. A message that it refuses is converted
once more by a detailed converter, for the sake of the error.
"""

import logging
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from lsprotocol import converters
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from stet.lsp.lsp_errors import InvalidParams

log = logging.getLogger(__name__)

MAX_BODY = 512 * 1024 * 1024
"""In bytes: no editor sends more, and a length beyond it is taken for a mistake."""
MAX_HEADERS = 32 * 1024
"""In bytes: what is kept while waiting for the blank line that ends the headers."""
MIN_TAIL = 64
"""In bytes: longer than a length header, so that cutting never halves one."""

# Searched, not matched, in the header block: after a wrong length, the rest of a body stands on the
# same line as the next header.
LENGTH = re.compile(rb"content-length[ \t]*:\s*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_BLANK_LINE_BYTES = 4


class FrameReader:
    """Cuts what is fed into bodies and delivers them in order."""

    def __init__(
        self, deliver: Callable[[bytes], bool], ended: Callable[[], None] = lambda: None
    ) -> None:
        """Nothing has come yet.

        Args:
            deliver: Takes a body; returns False if it was no JSON.
            ended: Is called after the last body.
        """
        self._deliver = deliver
        self._ended = ended
        self._is_held = False
        self._is_at_end = False
        self._buffer = bytearray()
        self._needed: int | None = None
        self._length: int | None = None
        self._looked = 0
        """How many bytes of the buffer have been looked through for a blank line in vain."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes, split anywhere."""
        self._buffer += data
        self._deliver_next()

    def end(self) -> None:
        """No more bytes come."""
        self._is_at_end = True
        self._deliver_next()

    def hold(self) -> None:
        """Deliver nothing after the body that is being delivered, until `release`."""
        self._is_held = True

    def release(self) -> None:
        """Go on with what has come meanwhile."""
        self._is_held = False
        self._deliver_next()

    def _deliver_next(self) -> None:
        while not self._is_held and self._step():
            pass
        if self._is_at_end and not self._is_held:
            self._ended()

    def _step(self) -> bool:
        """Take one header block or one body; False when more bytes are needed."""
        if self._needed is None:
            return self._take_headers()
        if len(self._buffer) < self._needed:
            return False
        with memoryview(self._buffer) as view:
            body = view[: self._needed].tobytes()
        del self._buffer[: self._needed]
        self._needed = None
        if not self._deliver(body) and (index := LENGTH.search(body)):
            # JSON has no raw line end inside a string, so this is a header: the length was too
            # large and took part of the next message, which is given back.
            self._buffer[:0] = body[index.start() :]
        return True

    def _take_headers(self) -> bool:
        # Not from the start again: bytes may come one at a time.
        end = BLANK_LINE.search(self._buffer, max(0, self._looked - _BLANK_LINE_BYTES))
        if end is None:
            if len(self._buffer) > MAX_HEADERS:
                self._note_length(len(self._buffer) - MIN_TAIL)
                del self._buffer[:-MIN_TAIL]
            self._looked = len(self._buffer)
            return False
        self._looked = 0
        self._note_length(end.end())
        del self._buffer[: end.end()]
        length, self._length = self._length, None
        if length is None:
            log.warning("a message without a valid Content-Length was skipped")
        elif length > MAX_BODY:
            log.warning("a message of %d bytes was skipped: the limit is %d", length, MAX_BODY)
        else:
            self._needed = length
        return True

    def _note_length(self, end: int) -> None:
        """Remember the last length among the headers that end before `end`."""
        for found in LENGTH.finditer(self._buffer, 0, end):
            self._length = int(found[1])


# What turning JSON into types, or back, can raise for odd input.
MALFORMED = (
    ArithmeticError,
    AttributeError,
    BaseValidationError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def build_converter(*, detailed: bool = False) -> Converter:
    """Return a converter that leaves the parameters of methods outside the protocol as plain JSON.

    pygls makes named tuples of them, renames keys that are no identifiers, and drops `type_name`.

    Args:
        detailed: Whether its errors say where they are.
    """
    converter = converters.get_converter(Converter(detailed_validation=detailed))
    converter.register_structure_hook(
        JsonRPCRequestMessage,
        lambda message, kind: kind(
            id=message["id"],
            method=message["method"],
            jsonrpc=message["jsonrpc"],
            params=message.get("params"),
        ),
    )
    converter.register_structure_hook(
        JsonRPCNotification,
        lambda message, kind: kind(
            method=message["method"], jsonrpc=message["jsonrpc"], params=message.get("params")
        ),
    )
    converter.register_structure_hook(
        JsonRPCResponseMessage,
        lambda message, kind: kind(
            id=message["id"], jsonrpc=message["jsonrpc"], result=message.get("result")
        ),
    )
    return converter


def structured(converter: Converter, what: str, message: dict[str, Any], kind: type) -> Any:
    """`message` as a `kind`; `what` is its name in an error.

    Raises:
        InvalidParams: With the paths of what is wrong.
    """
    try:
        return converter.structure(message, kind)
    except MALFORMED as error:
        raise InvalidParams(f"{what} is malformed: {_reasons(message, kind, error)}") from error


def _reasons(message: dict[str, Any], kind: type, error: Exception) -> str:
    """Return what is wrong with `message` and where; `error` is what is known so far."""
    try:
        _detailed().structure(message, kind)
    except BaseValidationError as found:
        return "; ".join(transform_error(found)[:3])
    except MALFORMED as found:
        return str(found)
    return str(error)


@cache
def _detailed() -> Converter:
    return build_converter(detailed=True)


def as_exception(error: object) -> JsonRpcException:
    """Return the exception for the error part of an answer, whatever its shape."""
    if not isinstance(error, dict):
        return JsonRpcException(str(error))
    code, message = error.get("code"), error.get("message")
    return JsonRpcException(
        str(message or "no reason given"), code if isinstance(code, int) else None
    )


def is_id(value: object) -> bool:
    """Whether `value` may stand as the id of a request."""
    return isinstance(value, str | int) and not isinstance(value, bool)
