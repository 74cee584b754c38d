"""One document's live hunks: their anchors, and what has been sent to the editor for it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from stet.review.anchors import Anchor, ReadText, follow_all
from stet.text.change import Bias, TextChange, map_position
from stet.text.position import Range


@dataclass(frozen=True, slots=True)
class Sent:
    """An edit on its way to the editor.

    Attributes:
        hunks: The ids it is made of.
        expected: The whole text once it is applied and nothing else has happened.
        changes: What it does, bottom to top.
        before: Where every anchor stood when it was sent.
    """

    hunks: tuple[str, ...]
    expected: str
    changes: tuple[TextChange, ...]
    before: dict[str, Range]


@dataclass(slots=True)
class Track:
    """Owned and changed by the ledger only.

    Attributes:
        anchors: Of every live hunk of the document.
        closed_text: What the anchors refer to while the document is not open.
        sent: The edit that has not been confirmed yet; one at a time.
    """

    anchors: list[Anchor] = field(default_factory=list)
    closed_text: str | None = None
    sent: Sent | None = None

    def anchor(self, hunk: str) -> Anchor | None:
        """The anchor of `hunk`, or None if it is not live here."""
        return next((anchor for anchor in self.anchors if anchor.hunk == hunk), None)

    def drop(self, hunks: Iterable[str]) -> None:
        """Forget the anchors of `hunks`."""
        gone = set(hunks)
        self.anchors = [anchor for anchor in self.anchors if anchor.hunk not in gone]

    def follow(self, changes: tuple[TextChange, ...], read: ReadText) -> bool:
        """Move all anchors; tells whether anything moved, broke or mended."""
        return follow_all(self.anchors, changes, read)

    def send(self, hunks: tuple[str, ...], expected: str, changes: tuple[TextChange, ...]) -> None:
        """Remember that the edit of `hunks` is on its way."""
        before = {anchor.hunk: anchor.range for anchor in self.anchors}
        self.sent = Sent(hunks, expected, changes, before)
        for anchor in self.anchors:
            anchor.growing = anchor.hunk in hunks

    def unsend(self, read: ReadText) -> None:
        """The edit did not come about: its hunks wait again, broken where the text is not theirs."""
        self.sent = None
        for anchor in self.anchors:
            if anchor.growing:
                anchor.growing = False
                anchor.check(read)

    def settle(self) -> dict[str, Range]:
        """The text that came back is the expected one: where each sent hunk's new text stands.

        Editors report the smallest difference, which need not be the change that was sent; so the
        other anchors are moved again, from where they stood, by the edit itself.
        """
        sent = self.sent
        assert sent is not None, "nothing was sent"
        places: dict[str, Range] = {}
        for anchor in self.anchors:
            start = sent.before.get(anchor.hunk, anchor.range)
            if anchor.hunk in sent.hunks:
                places[anchor.hunk] = _through(start, sent.changes, growing=True)
            elif anchor.hunk in sent.before:
                anchor.range = _through(start, sent.changes, growing=False)
                anchor.broken = False
        self._forget_sent()
        return places

    def settle_apart(self, wanted: dict[str, str], read: ReadText) -> dict[str, Range] | None:
        """As `settle`, where other text changed too: by the places alone, all of them or none.

        Args:
            wanted: The new text of each sent hunk.
            read: The current text.
        """
        places = {a.hunk: a.range for a in self.anchors if a.hunk in wanted}
        if any(read(place) != wanted[hunk] for hunk, place in places.items()):
            return None
        self._forget_sent()
        return places

    def _forget_sent(self) -> None:
        assert self.sent is not None, "nothing was sent"
        self.drop(self.sent.hunks)
        self.sent = None


def _through(place: Range, changes: tuple[TextChange, ...], *, growing: bool) -> Range:
    start, end = place.start, place.end
    biases = (Bias.LEFT, Bias.RIGHT) if growing else (Bias.RIGHT, Bias.LEFT)
    if place.is_empty and not growing:
        biases = (Bias.LEFT, Bias.LEFT)
    for change in changes:
        start, end = map_position(start, change, biases[0]), map_position(end, change, biases[1])
    return Range(start, end)
