"""Accepted hunks that the user has undone in the editor, and may redo there.

They wait again, each with a live anchor of its own. The anchor that told of the undo is followed on, and
tells where the text of a redo stands. That it is one the whole text tells: a line that is moved elsewhere
reads like the redo of its deletion.
"""

from collections.abc import Iterable, Sequence

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.batch_shift import apply_to_settled
from stet.review.tracking.text_states import TextStates
from stet.text.change import LineChange
from stet.text.lines import split_lines


class UndoneInEditor:
    """Part of a `TrackedDocument`; owned and changed with it.

    Attributes:
        due: The hunks that have been undone by the changes that are being followed.
        texts: The texts that the editor's undo and redo may lead back to.
        given_up: Those that were to be undone by an edit of ours, which has not come yet: should it
            come after all, they are undone for good.
    """

    def __init__(self) -> None:
        """Nothing is undone yet."""
        self.due: list[str] = []
        self.given_up: set[str] = set()
        self.texts = TextStates()
        self._anchors: dict[str, Anchor] = {}
        self._texts: dict[str, frozenset[tuple[int, int]]] = {}

    def __contains__(self, hunk: str) -> bool:
        return hunk in self._anchors

    def add(self, anchor: Anchor, texts: Iterable[str]) -> None:
        """Follow the anchor of a hunk that waits again; `texts` are those that a redo of it leads to."""
        self._anchors[anchor.hunk] = anchor
        self._texts[anchor.hunk] = frozenset((len(split_lines(text)), hash(text)) for text in texts)

    def is_redone(self, hunk: str, lines: Sequence[str]) -> bool:
        """Return whether a text is what the redo of a hunk leads to."""
        texts, n_lines = self._texts.get(hunk, frozenset()), len(lines)
        # Most texts are told apart by their length.
        return any(one == n_lines for one, _ in texts) and (n_lines, hash("".join(lines))) in texts

    def forget(self, hunk: str) -> None:
        """Forget a hunk that was decided or does not exist any more."""
        self._anchors.pop(hunk, None)
        self._texts.pop(hunk, None)

    def clear(self) -> None:
        """Something else is written: the editor has nothing to redo then."""
        self._anchors.clear()
        self._texts.clear()

    def apply_changes(self, effects: Sequence[LineChange], lines: Sequence[str]) -> list[Anchor]:
        """Move the anchors; return those whose text has changed.

        Args:
            effects: What happened to the text's lines, in order.
            lines: The text after it.
        """
        anchors = list(self._anchors.values())
        touched = [one for effect in effects for one in apply_to_settled(anchors, effect)]
        changed = [anchor for anchor in touched if anchor.refresh(lines)]
        for anchor in changed:
            anchor.find_base(lines, 0, len(lines))
        return touched if changed else []
