"""Pieces of the server that can be removed or reversed, to prove that the fuzzer notices."""

from collections.abc import Callable, Iterable
from typing import Any


def broken(name: str) -> None:
    """Remove a piece of this process by its name."""
    BROKEN[name]()


def _past_the_line() -> None:
    """Map a column after the end of a line to the next line."""
    from stet.text import buffer, encoding

    right = encoding.column_from_units

    def wrong(line: str, units: int, kind: Any) -> int:
        return right(line, units, kind) if units < 40 else len(line)

    changed: Any = buffer
    changed.column_from_units = wrong


def _no_answer() -> None:
    """Leave a refused request without an answer."""
    from stet.lsp.connection.protocol import StetProtocol

    right = StetProtocol._refuse
    changed: Any = StetProtocol

    def wrong(self: StetProtocol, message: object, error: Any) -> None:
        if error.code != -32601:
            right(self, message, error)

    changed._refuse = wrong


def _unasked() -> None:
    """Accept a pending hunk as soon as it is listed."""
    from stet.lsp.commands import review_commands as review

    changed: Any = review
    right: Any = review.proposals

    def wrong(state: Any, given: tuple[object, ...]) -> Any:
        shown = right(state, given)
        if any(hunk["state"] == "pending" for hunk in shown):
            _ = review.accept(state, ({"all": True},))
        return shown

    changed.proposals = wrong


def _fault() -> None:
    """Raise an exception in a background task."""
    from stet.lsp.preset_controller import PresetController

    def wrong(self: PresetController, uri: str) -> None:
        raise KeyError(uri)

    changed: Any = PresetController
    changed.deleted = wrong


def _noisy() -> None:
    """Print text between the messages."""
    from stet.lsp.connection.protocol import StetProtocol

    right = StetProtocol._write
    changed: Any = StetProtocol

    def wrong(self: StetProtocol, body: str) -> None:
        right(self, body)
        if '"error"' in body and self.writer is not None:
            self.writer.write(b"refused\n")

    changed._write = wrong


def _never_forgets() -> None:
    """Store every message forever."""
    from stet.lsp.connection.protocol import StetProtocol

    right = StetProtocol.receive
    changed: Any = StetProtocol
    kept: list[bytearray] = []

    def wrong(self: StetProtocol, body: bytes) -> bool:
        kept.append(bytearray(2000))
        return right(self, body)

    changed.receive = wrong


def _raw_calls() -> None:
    """Send a model's calls back to its provider unchanged."""
    from stet.llm import api_format as wire
    from stet.llm.model import Message

    changed: Any = wire

    def wrong(messages: Iterable[Message], model: str) -> list[Message]:
        return list(messages)

    changed.pair_calls, changed.valid_name = wrong, str


def _lossy() -> None:
    """Drop a write that the disk has refused once."""
    from stet.storage.state_store import StateStore
    from stet.storage.write_batch import WriteBatch

    right = StateStore._write
    changed: Any = StateStore

    def wrong(self: StateStore) -> None:
        right(self)
        if self._failures.reason:
            self._batch = WriteBatch()

    changed._write = wrong


BROKEN: dict[str, Callable[[], None]] = {
    "past the line": _past_the_line,
    "no answer": _no_answer,
    "unasked": _unasked,
    "fault": _fault,
    "noisy": _noisy,
    "forgetful": _never_forgets,
    "raw calls": _raw_calls,
    "lossy": _lossy,
}
