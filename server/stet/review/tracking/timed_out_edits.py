"""Edits that were given up while their text had not come back, and that may still come.

A late edit is told by the whole text: by places alone it can't be where the lines beside it are alike,
or where it comes together with the next one in a single difference.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from stet.text.buffer import TextBuffer
from stet.text.change import TextChange
from stet.text.document import TextDocument

MAX_EDITS = 3
"""How many of a document are waited for; the oldest is given up for good."""


@dataclass(frozen=True, slots=True)
class TimedOutEdits:
    """What may still come of a document, as long as it reads as it does.

    Attributes:
        document: The text that has none of the edits.
        edits: Their hunks, the edit that was sent first first.
    """

    document: TextDocument
    edits: tuple[tuple[str, ...], ...]

    def combinations_with(self, sent: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the hunks that may arrive at once: all hunks of some edits. `sent` is the edit
        still in flight.
        """
        every = (*self.edits, *([tuple(sent)] if sent else []))
        for n_edits in range(1, len(every) + 1):
            for some in combinations(every, n_edits):
                yield tuple(hunk for edit in some for hunk in edit)

    def without(self, sent: Collection[str]) -> "TimedOutEdits | None":
        """Return the edits that are left when an edit of `sent` is sent anew."""
        left = tuple(edit for edit in self.edits if not set(edit) & set(sent))
        return TimedOutEdits(self.document, left) if left else None

    def texts_after(self, changes: Sequence[TextChange]) -> Iterator[str]:
        """Yield the text after each of the next `changes`."""
        buffer = TextBuffer(self.document.text)
        for change in changes:
            _ = buffer.apply(change)
            yield buffer.text


def add_timed_out(
    timed_out: TimedOutEdits | None, document: TextDocument, hunks: Collection[str]
) -> TimedOutEdits | None:
    """Return the edits that may still arrive once `hunks` have timed out too. `document` is the
    current text, without `hunks`.
    """
    earlier = () if timed_out is None else timed_out.edits
    edits = (*earlier, tuple(hunks)) if hunks else earlier
    return TimedOutEdits(document, edits[-MAX_EDITS:]) if edits else None
