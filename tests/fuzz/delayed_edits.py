"""An editor that handles edits late: its user has meanwhile typed, closed and opened files."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from tests.fuzz.reference import Violation, key_of

LATEST = 60
"""The most messages that the editor sends before it handles an edit."""
GIVEN_UP_SECONDS = 9.0
"""Below the time after which the server considers an editor unresponsive."""
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LateEdit:
    """An edit that waits until the editor handles it.

    Attributes:
        message: The request.
        n_taken: The number of messages that the server had certainly read before the edit.
        due: The number of messages that the editor has sent when it handles the edit.
        since: The arrival time, in seconds of `monotonic`.
    """

    message: Message
    n_taken: int
    due: int
    since: float


class DelayedEdits:
    """The waiting edits; in every other life edits never wait."""

    def __init__(self, seed: int) -> None:
        """Let `seed` decide whether the editor is late, and how late each time."""
        self._dice = random.Random(seed)
        self._is_late = seed % 2 == 1
        self._waiting: list[LateEdit] = []

    def take(self, message: Message, n_sent: int, n_taken: int) -> None:
        """Queue an edit.

        Args:
            message: The request.
            n_sent: The number of messages that the editor has sent.
            n_taken: The number of these messages that the server has certainly read.

        Raises:
            Violation: If another edit of one of its documents is waiting.
        """
        texts = _texts_of(message)
        for other in self._waiting:
            both = texts & _texts_of(other.message)
            if both and monotonic() - other.since < GIVEN_UP_SECONDS:
                raise Violation(f"two edits of {sorted(both)} are on their way at once")
        wait = self._dice.choice((0, 3, LATEST)) if self._is_late else 0
        due = n_sent + self._dice.randrange(wait + 1)
        self._waiting.append(LateEdit(message, n_taken, due, monotonic()))

    def due(self, n_sent: int, *, all_of_them: bool) -> Iterator[LateEdit]:
        """Yield the due edits once, in the order of their arrival.

        Args:
            n_sent: The number of messages that the editor has sent.
            all_of_them: Whether to yield edits that are not due as well.
        """
        while ready := [one for one in self._waiting if all_of_them or one.due <= n_sent]:
            self._waiting.remove(ready[0])
            yield ready[0]


def _texts_of(message: Message) -> set[str]:
    """Return the documents whose text an edit changes, by `key_of`."""
    edit = message["params"]["edit"]
    changed = [
        one["textDocument"]["uri"] for one in edit.get("documentChanges") or () if "edits" in one
    ]
    return {key_of(uri) for uri in (*(edit.get("changes") or ()), *changed)}
