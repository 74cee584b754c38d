"""The changes one open document has taken, so that what refers to an older text can follow."""

from collections import deque
from itertools import islice

from stet.text.change import TextChange

MAX_CHANGES = 10_000
"""How many changes of a document are remembered."""
MAX_CHARACTERS = 8_000_000
"""How much inserted text the remembered changes may hold together, in code points."""


class DocumentHistory:
    """The latest changes of a document, oldest forgotten first.

    Attributes:
        revision: Rises by one with each change. It starts above every revision an earlier life of
            the document had, so that a revision never means two texts.
    """

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self._changes: deque[TextChange] = deque()
        self._n_characters = 0

    def append(self, change: TextChange) -> None:
        """Remember `change`."""
        changes = self._changes
        changes.append(change)
        self.revision += 1
        self._n_characters += len(change.text)
        while len(changes) > MAX_CHANGES or self._n_characters > MAX_CHARACTERS:
            self._n_characters -= len(changes.popleft().text)

    def since(self, revision: int) -> tuple[TextChange, ...] | None:
        """The changes after `revision`, oldest first; None where they are no longer known."""
        n_changes = self.revision - revision
        if not 0 <= n_changes <= len(self._changes):
            return None
        return tuple(islice(self._changes, len(self._changes) - n_changes, None))

    def remembered(self) -> tuple[TextChange, ...]:
        """All changes that are still known, oldest first."""
        return tuple(self._changes)
