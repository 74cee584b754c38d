"""One document's live hunks: their anchors, and what has been sent to the editor for it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from stet.review.anchors import Anchor, ReadText, follow_all, whole_lines
from stet.text.buffer import TextBuffer
from stet.text.change import Bias, TextChange, map_position
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.position import Range


@dataclass(frozen=True, slots=True)
class Sent:
    """An edit on its way to the editor.

    Attributes:
        places: Of each hunk it is made of, where its new text stands once it is applied and nothing
            else has happened.
        expected: The whole text then.
        changes: What it does, by hunk, bottom to top.
        before: Where every anchor stood when it was sent, and whether it was broken.
        shadow: The text it was sent for, and what has become of it since.
        stood: The hunks whose new text stood at their place already: it says nothing there.
    """

    places: dict[str, Range]
    expected: str
    changes: dict[str, TextChange]
    before: dict[str, tuple[Range, bool]]
    shadow: TextBuffer
    stood: frozenset[str]

    def arrives_with(self, changes: tuple[TextChange, ...]) -> int | None:
        """Behind how many of the next `changes` the text is the expected one; None: behind none."""
        for count, change in enumerate(changes, 1):
            self.shadow.apply(change)
            if self.shadow.text == self.expected:
                return count
        return None


@dataclass(slots=True)
class Track:
    """Owned and changed by the ledger only.

    Attributes:
        anchors: Of every live hunk, in order of the document. Nothing that happens to the text
            changes the order, so it tells which of two comes first once they stand at one point.
        closed_text: What the anchors refer to while the document is not open.
        sent: The edit that has not been confirmed yet; one at a time.
    """

    anchors: list[Anchor] = field(default_factory=list)
    closed_text: str | None = None
    sent: Sent | None = None

    def anchor(self, hunk: str) -> Anchor | None:
        """The anchor of `hunk`, or None if it is not live here."""
        return next((anchor for anchor in self.anchors if anchor.hunk == hunk), None)

    def add(self, anchor: Anchor) -> None:
        """Take in a new anchor, at its place among the others."""
        key = (anchor.range.start, anchor.range.end)
        behind = (n for n, a in enumerate(self.anchors) if (a.range.start, a.range.end) > key)
        self.anchors.insert(next(behind, len(self.anchors)), anchor)

    def drop(self, hunks: Iterable[str]) -> None:
        """Forget the anchors of `hunks`."""
        gone = set(hunks)
        self.anchors = [anchor for anchor in self.anchors if anchor.hunk not in gone]

    def follow(self, changes: tuple[TextChange, ...], read: ReadText) -> bool:
        """Move all anchors; tells whether anything moved, broke or mended."""
        return follow_all(self.anchors, changes, read)

    def send(self, document: TextDocument, news: dict[str, str], edit: TextEdit) -> None:
        """Remember that the edit of some hunks is on its way.

        Args:
            document: The text it was made for, which is the current one.
            news: The new text of each hunk.
            edit: What all of them do.
        """
        anchors = [anchor for anchor in self.anchors if anchor.hunk in news]
        changes = tuple(TextChange(anchor.range, news[anchor.hunk]) for anchor in anchors)
        after = TextDocument(document.uri, edit.apply(document.text))
        places = dict(
            zip((a.hunk for a in anchors), _places(document, changes, after), strict=True)
        )
        stood = {a.hunk for a in anchors if whole_lines(news[a.hunk], a.range, document.text_in)}
        before = {anchor.hunk: (anchor.range, anchor.broken) for anchor in self.anchors}
        self.sent = Sent(
            places,
            after.text,
            {a.hunk: change for a, change in zip(anchors[::-1], changes[::-1], strict=True)},
            before,
            TextBuffer(document.text),
            frozenset(stood),
        )
        for anchor in anchors:
            anchor.growing = True

    def all_before_sending(self) -> bool:
        """Whether no hunk has come since the edit was sent."""
        before = self.sent.before if self.sent else {}
        return all(anchor.hunk in before for anchor in self.anchors)

    def unsend(self, read: ReadText) -> None:
        """The edit did not come about: its hunks wait again, broken where the text is not theirs."""
        self.sent = None
        for anchor in self.anchors:
            if anchor.growing:
                anchor.growing = False
                # An insertion whose place has stayed empty is where it was.
                if anchor.old or not anchor.range.is_empty:
                    anchor.check(read)

    def settle(self) -> dict[str, Range]:
        """The text that came back is the expected one: where each sent hunk's new text stands.

        Editors report the smallest difference, which need not be the change that was sent; so the
        other anchors are moved again, from where they stood, by the edit itself.
        """
        sent = self.sent
        assert sent is not None, "nothing was sent"
        live = {anchor.hunk for anchor in self.anchors}
        earlier: set[str] = set()
        for anchor in self.anchors:
            if anchor.hunk not in sent.places and anchor.hunk in sent.before:
                place, anchor.broken = sent.before[anchor.hunk]
                anchor.range = _through(place, sent.changes, earlier)
            earlier.add(anchor.hunk)
        self._forget_sent()
        return {hunk: place for hunk, place in sent.places.items() if hunk in live}

    def settle_apart(self, wanted: dict[str, str], read: ReadText) -> dict[str, Range] | None:
        """As `settle`, where other text changed too: by the places alone, all of them or none.

        Args:
            wanted: The new text of each sent hunk.
            read: The current text.
        """
        assert self.sent is not None, "nothing was sent"
        places: dict[str, Range] = {}
        for anchor in self.anchors:
            if (new := wanted.get(anchor.hunk)) is None:
                continue
            place: Range | None = anchor.range
            if read(anchor.range) != new:
                # The user wrote at its edge, or the editor's smallest difference cut through it.
                stood = anchor.hunk in self.sent.stood
                place = None if stood else whole_lines(new, anchor.range, read)
            if place is None:
                return None
            places[anchor.hunk] = place
        self._forget_sent()
        return places

    def _forget_sent(self) -> None:
        assert self.sent is not None, "nothing was sent"
        self.drop(self.sent.places)
        self.sent = None


def _places(
    before: TextDocument, changes: tuple[TextChange, ...], after: TextDocument
) -> list[Range]:
    """Where the text of each change, all made for `before` and in order of place, is in `after`."""
    places, shift = [], 0
    for change in changes:
        start, end = before.offset_at(change.range.start), before.offset_at(change.range.end)
        first = after.position_at(start + shift)
        shift += len(change.text) - (end - start)
        places.append(Range(first, after.position_at(end + shift)))
    return places


def _through(place: Range, changes: Mapping[str, TextChange], earlier: Collection[str]) -> Range:
    """Where a place that none of the changes touches is behind them.

    Args:
        place: Before them.
        changes: By hunk, bottom to top.
        earlier: The hunks whose insertions at the same point stand before this one.
    """
    start, end = place.start, place.end
    for hunk, change in changes.items():
        if place.is_empty:
            goes_first = change.range.is_empty and hunk in earlier
            start = end = map_position(start, change, Bias.RIGHT if goes_first else Bias.LEFT)
        else:
            start = map_position(start, change, Bias.RIGHT)
            end = map_position(end, change, Bias.LEFT)
    return Range(start, end)
