"""The answers that the server owes the editor, according to JSON-RPC."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.fuzz.connection import Message
from tests.fuzz.reference import Violation

CODES = {-32700, -32600, -32601, -32602, -32803, -32801, -32800, -32002}
"""Error codes that a server may return; an internal error (-32603) is a fault."""
Then = Callable[[Any], None]


class Answers:
    """The outstanding answers, and the callbacks for them.

    Attributes:
        owed: The number of outstanding answers by id, as JSON.
        n_sent: The number of messages sent.
        n_taken: The number of messages sent up to the last answered one.
    """

    def __init__(self) -> None:
        self.owed: Counter[str] = Counter()
        self.n_sent = 0
        self.n_taken = 0
        self._then: dict[str, list[tuple[int, Then | None]]] = {}

    def n_owed(self) -> int:
        """Return the number of outstanding answers."""
        return self.owed.total()

    def sent(self, message: object, then: Then | None = None) -> None:
        """Record a sent message, and derive the answer that it requires."""
        self.n_sent += 1
        if isinstance(message, dict):
            self._note(message, then)
        else:
            self._owe(None, then)

    def sent_bytes(self, owes_null: int) -> None:
        """Record sent bytes, for which the server owes `owes_null` answers with the id null."""
        self.n_sent += 1
        for _ in range(owes_null):
            self._owe(None, None)

    def take(self, message: Message) -> None:
        """Check an answer: it must be outstanding, and no internal error."""
        key = json.dumps(message.get("id", "none"))
        if not self.owed[key]:
            raise Violation(f"nobody is owed this answer: {str(message)[:500]}")
        self.owed[key] -= 1
        thens = self._then[key]
        n_sent, then = thens.pop(0)
        self.n_taken = max(self.n_taken, n_sent)
        if not thens:
            del self._then[key], self.owed[key]
        if ("error" in message) == ("result" in message):
            raise Violation(f"an answer is a result or an error: {str(message)[:500]}")
        error = message.get("error")
        if error is not None and (error["code"] not in CODES or not error["message"]):
            raise Violation(f"the server answers with a fault of its own: {error}")
        if then is not None and error is None:
            then(message["result"])

    def _note(self, message: Message, then: Then | None) -> None:
        """Record the answer that a message requires according to JSON-RPC."""
        has_method, has_id = "method" in message, "id" in message
        if not has_method and message.keys() & {"result", "error"} and _is_id(message.get("id")):
            if message.get("jsonrpc") != "2.0":
                self._owe(None, then)
            return
        if has_method and not has_id:
            return
        is_request = has_method and _is_id(message["id"])
        self._owe(message["id"] if is_request else None, then)

    def _owe(self, msg_id: object, then: Then | None) -> None:
        key = json.dumps(msg_id)
        self.owed[key] += 1
        self._then.setdefault(key, []).append((self.n_sent, then))


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
