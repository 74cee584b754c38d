"""Server-sent events, as far as model servers use them (WHATWG HTML, "Interpreting an event stream").

Bytes in, in any slicing; whole events out. Line ends are LF, CR LF or CR; comments, `id` and `retry`
are passed over; a byte order mark at the start is dropped.
"""

import re
from dataclasses import dataclass

MAX_EVENT_BYTES = 2_000_000
"""No sane piece of an answer is larger; without a cap a hostile server fills the memory."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class EventTooLong(ValueError):
    """One event grew beyond `MAX_EVENT_BYTES`."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name ("" for the usual ones) and its data."""

    name: str
    data: str


class EventDecoder:
    """Puts events together from pieces of bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = ""
        self._data: list[bytes] = []
        self._n_bytes = 0
        self._at_start = True

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """The events that `piece` completes.

        Raises:
            EventTooLong: If one is larger than any answer's would be.
        """
        self._rest += piece
        if self._n_bytes + len(self._rest) > MAX_EVENT_BYTES:
            raise EventTooLong(f"one event is longer than {MAX_EVENT_BYTES} bytes")
        if not _LINE_END.search(piece):
            return []
        return self._collect(self._lines())

    def flush(self) -> list[ServerEvent]:
        """What the stream's end completes: servers leave out the last blank line."""
        last = bytes(self._rest).removesuffix(b"\r")
        self._rest.clear()
        return self._collect([last, b""])

    def _lines(self) -> list[bytes]:
        """Whole lines; a CR at the very end waits, as an LF may follow."""
        held = self._rest[-1:] == b"\r"
        text = bytes(self._rest[:-1] if held else self._rest)
        *lines, rest = _LINE_END.split(text)
        self._rest = bytearray(rest + b"\r" if held else rest)
        return lines

    def _collect(self, lines: list[bytes]) -> list[ServerEvent]:
        events = []
        for line in lines:
            if line:
                self._field(line)
            elif self._data:
                data = b"\n".join(self._data).decode("utf-8", "replace")
                events.append(ServerEvent(self._name, data))
                self._reset()
            else:
                self._reset()
        return events

    def _reset(self) -> None:
        self._name, self._data, self._n_bytes = "", [], 0

    def _field(self, line: bytes) -> None:
        if self._at_start:
            line, self._at_start = line.removeprefix(_BOM), False
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"data":
            self._data.append(value)
            self._n_bytes += len(value) + 1  # empty lines fill the memory too
        elif key == b"event":
            self._name = value.decode("utf-8", "replace")
