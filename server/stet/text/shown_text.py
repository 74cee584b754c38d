"""What a model was shown, and the way from there to the text as it is now."""

from dataclasses import dataclass, field
from functools import cached_property

from stet.text.change import Bias, TextChange, map_position
from stet.text.normalized_text import NormalizedText
from stet.text.position import Position


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class ShownText:
    """What the model was shown.

    Attributes:
        text: The text then.
        changes: What has been changed since, in order; together they lead to the live text.
        made: The text and its plain form, where somebody has them already.
    """

    text: str
    changes: tuple[TextChange, ...]
    made: NormalizedText | None = field(default=None, compare=False, repr=False)

    @cached_property
    def view(self) -> NormalizedText:
        """The text and its plain form."""
        return self.made or NormalizedText(self.text)


class PositionMap:
    """Follows places of a text that was shown to the live text.

    Places in the text shown are offsets of its plain form (`NormalizedText`); places in the live text are
    offsets of the text itself.

    Attributes:
        view: The text shown.
    """

    def __init__(self, shown_text: ShownText, current: NormalizedText) -> None:
        self.view = shown_text.view
        self._changes = shown_text.changes
        self._then = shown_text.view.document
        self._now = current.document

    def map_inside(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch is now, without what was inserted at its edges."""
        return self._map(start, Bias.RIGHT), self._map(end, Bias.LEFT)

    def map_around(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch is now, with whatever replaced it or was inserted at its edges."""
        return self._map(start, Bias.LEFT), self._map(end, Bias.RIGHT)

    def _map(self, offset: int, bias: Bias) -> int:
        place: Position = self._then.position_at(self.view.source_offset(offset))
        for change in self._changes:
            place = map_position(place, change, bias)
        return self._now.offset_at(place)
