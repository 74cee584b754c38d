"""An editor that looks at edits late: its user has typed on by then, and closed and opened files."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from tests.fuzz.reference import Violation, key_of

LATEST = 60
"""The most messages that it sends before it looks at an edit."""
GIVEN_UP_SECONDS = 9.0
"""Long before the server takes an editor for one that does not answer."""
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LateEdit:
    """An edit that waits until the editor looks at it.

    Attributes:
        message: The request.
        n_taken: How many of the editor's messages the server had certainly read when it came.
        due: How many messages the editor has sent when it looks at it.
        since: When it came, in seconds of `monotonic`.
    """

    message: Message
    n_taken: int
    due: int
    since: float


class DelayedEdits:
    """Edits that wait until they are looked at; in every other life there are none."""

    def __init__(self, seed: int) -> None:
        """`seed` decides whether the editor is late, and how much each time."""
        self._dice = random.Random(seed)
        self._is_late = seed % 2 == 1
        self._waiting: list[LateEdit] = []

    def take(self, message: Message, n_sent: int, n_taken: int) -> None:
        """Let an edit wait.

        Args:
            message: The request.
            n_sent: How many messages the editor has sent.
            n_taken: How many of them the server has certainly read.

        Raises:
            Violation: If another edit of one of its documents waits already.
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
        """Give the edits whose time has come, each once, in the order in which they came.

        Args:
            n_sent: How many messages the editor has sent.
            all_of_them: Whether those count too whose time has not come.
        """
        while ready := [one for one in self._waiting if all_of_them or one.due <= n_sent]:
            self._waiting.remove(ready[0])
            yield ready[0]


def _texts_of(message: Message) -> set[str]:
    """The documents whose text an edit changes, by `key_of`."""
    edit = message["params"]["edit"]
    changed = [
        one["textDocument"]["uri"] for one in edit.get("documentChanges") or () if "edits" in one
    ]
    return {key_of(uri) for uri in (*(edit.get("changes") or ()), *changed)}
