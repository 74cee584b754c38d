"""One text in which a wished-for block is looked for: the exact steps and the forgiving ones.

The rules of the ladder are told in `stet.text.match`. What the model was shown is used twice: to
tell which of several places was meant, and to refuse a block that is unique only because the user
has changed the one that the model saw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from stet.text.closest import closest_lines
from stet.text.edit import Replacement, TextEdit
from stet.text.ladder import Block, find_lines
from stet.text.match_errors import AlreadyApplied, Ambiguous, ChangedByUser, NotFound, Unclear
from stet.text.match_result import Match, MatchKind
from stet.text.places import places_of
from stet.text.rebase import line_edit
from stet.text.refit import (
    refitted,
    refuse_unclear_indent,
    with_line_ends,
    with_lost_indent,
)
from stet.text.seen import Seen, Trail
from stet.text.view import View, plain


@dataclass(frozen=True, slots=True)
class Wish:
    """What the model sent, plain (`stet.text.view`): the old text and the new."""

    old: str
    new: str

    def whole_lines(self) -> tuple[list[str], list[str]]:
        """The old and the new text as whole lines, without line ends."""
        if not self.old.endswith("\n"):
            return self.old.split("\n"), self.new.split("\n")
        new = self.new.removesuffix("\n").split("\n") if self.new else []
        return self.old[:-1].split("\n"), new


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch of the live text: offsets in code points, half-open."""

    start: int
    end: int

    def holds(self, other: "_Span") -> bool:
        return self.start <= other.start and other.end <= self.end


class Search:
    """The live text, and what the model was shown of it if that is known."""

    def __init__(self, live: View, seen: Seen | None) -> None:
        self._live = live.source
        self._view = live
        self._trail = Trail(seen, live) if seen else None
        self._line_end = live.line_end

    def exact(self, wish: Wish, *, replace_all: bool) -> Match | None:
        """Steps 1 and 2; None if the old text is not there and was not shown.

        Raises:
            Ambiguous: It is there more than once, or was when it was shown.
            ChangedByUser: It was shown once, and the user has changed that place.
            AlreadyApplied: So it was, and the new text stands there now.
        """
        places = places_of(self._view.text, wish.old)
        if replace_all and places:
            spans = [self._span(place, wish.old) for place in _disjoint(places, len(wish.old))]
            return self._replaced(wish, spans, MatchKind.EXACT)
        shown = places_of(self._trail.view.text, wish.old) if self._trail else []
        if places and not shown and self._trail and self._showed_alike(wish, self._trail):
            return None  # what stands here exactly was typed since; what was shown is meant
        if len(places) > 1 and len(shown) != 1:
            raise Ambiguous(tuple(self._view.line_at(place) + 1 for place in places))
        spans = [self._span(place, wish.old) for place in places]
        if self._trail and len(shown) == 1:
            return self._followed(wish, spans, self._trail, shown[0])
        if len(spans) == 1:
            self._refuse_if_doubtful(wish, spans[0])
            return self._replaced(wish, spans, MatchKind.EXACT)
        if self._trail and shown:
            self.refuse_if_applied(wish)
            raise self._ambiguous(
                [_Span(*self._trail.around(at, at + len(wish.old))) for at in shown]
            )
        return None

    def forgiving(self, wish: Wish) -> Match | None:
        """Steps 3 to 5; None if no step finds the block.

        Raises:
            Ambiguous: A step finds it more than once, or would have in the text shown.
            ChangedByUser: It was in the text shown, and the user has changed that place.
            AlreadyApplied: The place reads as wished already.
            Unclear: A new line's indent has no counterpart in the file.
        """
        old, new = wish.whole_lines()
        blocks = find_lines(self._view.haystack, old)
        spans = [self._block_span(block) for block in blocks]
        if len(spans) > 1:
            meant = self._meant(old, spans)
            blocks, spans = (blocks[meant],), [spans[meant]]
        elif self._trail:
            self._check_shown(wish, old, spans, self._trail)
        if not blocks:
            return None
        (block,), (span,) = blocks, spans
        old, new = with_lost_indent(block.lost, old, new)
        if block.indent.added:
            refuse_unclear_indent(old, new)
        source = self._view.source_lines[block.first : block.first + block.n]
        text = refitted(source, old, new, block.indent, self._line_end)
        edit = line_edit(span.start, "".join(source), text)
        if not edit.replacements:
            raise AlreadyApplied(block.first + 1)
        torn_end = not new and source[-1] == self._view.lines[-1]
        self._check_line_ends(edit, len(new) - len(old) + torn_end)
        return Match(edit, block.kind)

    def _meant(self, old: list[str], spans: list[_Span]) -> int:
        """Which of several places is the one shown: copies of it were put elsewhere since.

        Raises:
            Ambiguous: None of them, or there were several then.
        """
        if self._trail:
            shown = find_lines(self._trail.view.haystack, old)
            if len(shown) == 1:
                place = _Span(*self._trail.inside(*_plain_place(self._trail.view, shown[0])))
                held = [n for n, span in enumerate(spans) if span.holds(place)]
                if len(held) == 1 and place.start < place.end:
                    return held[0]
        raise self._ambiguous(spans)

    def refuse_if_applied(self, wish: Wish, within: _Span | None = None) -> None:
        """See whether the new text is there exactly once (and `within`, if given).

        Raises:
            AlreadyApplied: It is.
        """
        places = places_of(self._view.text, wish.new) if wish.new.strip() else []
        if len(places) != 1:
            return
        span = self._span(places[0], wish.new)
        if within is None or (span.start < within.end and within.start < span.end):
            raise AlreadyApplied(self._line(span.start))

    def not_found(self, wish: Wish) -> NotFound:
        """The error that names the text most like what was wanted."""
        found = closest_lines(self._view.haystack.lines, wish.whole_lines()[0])
        if found is None:
            return NotFound("", 0, 0)
        first, end = found
        return NotFound("\n".join(self._view.lines[first:end]), first + 1, end)

    @staticmethod
    def _showed_alike(wish: Wish, trail: Trail) -> bool:
        """Whether the text shown had the block, but for what models get wrong."""
        return bool(find_lines(trail.view.haystack, wish.whole_lines()[0]))

    def _followed(self, wish: Wish, spans: list[_Span], trail: Trail, at: int) -> Match:
        """The block was shown once, at `at`: the place that it has become."""
        inside = _Span(*trail.inside(at, at + len(wish.old)))
        around = _Span(*trail.around(at, at + len(wish.old)))
        chosen = [span for span in spans if span == inside]
        chosen = chosen or [span for span in spans if around.holds(span)]
        if not chosen and len(spans) == 1 and self._is_gone(around):
            chosen = spans
        if len(chosen) > 1:
            raise self._ambiguous(spans)
        if not chosen:
            if not spans:
                self.refuse_if_applied(wish, around)
            raise self._changed(around)
        self._refuse_if_doubtful(wish, chosen[0])
        return self._replaced(wish, chosen, MatchKind.EXACT if len(spans) == 1 else MatchKind.SEEN)

    def _refuse_if_doubtful(self, wish: Wish, span: _Span) -> None:
        """Part of a line was found: whole lines that are almost equal may have been meant.

        Raises:
            Ambiguous: There are such lines elsewhere.
        """
        first, last = self._view.source_line(span.start), self._view.source_line(span.end)
        before = self._live[self._view.line_start(first) : span.start]
        last_start = self._view.line_start(last)
        behind = self._live[span.end : last_start + len(self._view.source_lines[last])]
        if not before.strip() and (span.end == last_start or not behind.strip()):
            return
        blocks = find_lines(self._view.haystack, wish.whole_lines()[0])
        others = [self._block_span(block) for block in blocks]
        others = [one for one in others if one.end <= span.start or span.end <= one.start]
        if others:
            raise self._ambiguous(sorted((span, *others), key=lambda one: one.start))

    def _check_shown(self, wish: Wish, old: list[str], spans: list[_Span], trail: Trail) -> None:
        """Compare with what the same steps find in the text shown."""
        shown = [
            _Span(*trail.around(*_plain_place(trail.view, block)))
            for block in find_lines(trail.view.haystack, old)
        ]
        if len(shown) > 1:
            raise self._ambiguous(shown)
        if not shown or any(one.start < shown[0].end and shown[0].start < one.end for one in spans):
            return
        if spans and self._is_gone(shown[0]):
            return
        if not spans:
            self.refuse_if_applied(wish, shown[0])
        raise self._changed(shown[0])

    def _replaced(self, wish: Wish, spans: Sequence[_Span], how: MatchKind) -> Match:
        """The exact places `spans` become the new text, with the file's line ends."""
        news = [self._ended(wish, span) for span in spans]
        edit = TextEdit(
            tuple(
                Replacement(
                    span.start,
                    span.end,
                    with_line_ends(
                        self._live[span.start : span.end], wish.old, new, self._line_end
                    ),
                )
                for span, new in zip(spans, news, strict=True)
            )
        )
        n_added = sum(new.count("\n") - wish.old.count("\n") for new in news)
        self._check_line_ends(edit, n_added)
        return Match(edit, how)

    def _ended(self, wish: Wish, span: _Span) -> str:
        """The new text, with the last line end that models forget where whole lines are replaced.

        Raises:
            Unclear: Nothing else would change.
        """
        if not wish.new or wish.new.endswith("\n"):
            return wish.new
        if not wish.old.strip() or not wish.old.endswith("\n"):
            return wish.new
        line_start = self._view.line_start(self._view.source_line(span.start))
        if self._live[line_start : span.start].strip():
            return wish.new
        if wish.new + "\n" == wish.old:
            raise Unclear(
                "The old and the new text differ by the last line end alone. To join two lines, "
                "send both."
            )
        return wish.new + "\n"

    def _check_line_ends(self, edit: TextEdit, n_added: int) -> None:
        r"""See that no `\r` has come to stand before a `\n` of another line.

        Raises:
            Unclear: So it would, and the edit would swallow a line.
        """
        if "\r" not in self._live:
            return
        n_lines = self._view.text.count("\n") + n_added
        if plain(edit.apply(self._live)).count("\n") != n_lines:
            raise Unclear(
                "The file mixes line ends in such a way that this edit would join two lines. "
                "Replace one line more before and after it."
            )

    def _span(self, place: int, text: str) -> _Span:
        """Where `text`, found at `place` of the plain form, is in the live text."""
        return _Span(self._view.source_offset(place), self._view.source_offset(place + len(text)))

    def _block_span(self, block: Block) -> _Span:
        return _Span(
            self._view.line_start(block.first), self._view.line_start(block.first + block.n)
        )

    def _is_gone(self, around: _Span) -> bool:
        """Whether nothing is left of a place: the user took the block away, or moved it."""
        return not self._live[around.start : around.end].strip()

    def _line(self, offset: int) -> int:
        """The line (1-based) of an offset of the live text."""
        return self._view.source_line(offset) + 1

    def _ambiguous(self, spans: Sequence[_Span]) -> Ambiguous:
        return Ambiguous(tuple(self._line(span.start) for span in spans))

    def _changed(self, around: _Span) -> ChangedByUser:
        first = self._line(around.start)
        last = self._line(max(around.start, around.end - 1))
        if self._is_gone(around):
            return ChangedByUser("", first, first)
        return ChangedByUser("\n".join(self._view.lines[first - 1 : last]), first, last)


def _disjoint(places: Sequence[int], length: int) -> list[int]:
    """From the first on, the places that do not overlap the one before."""
    kept: list[int] = []
    for place in places:
        if not kept or place >= kept[-1] + length:
            kept.append(place)
    return kept


def _plain_place(view: View, block: Block) -> tuple[int, int]:
    """Where a block starts and ends in the plain form, without its last line end."""
    start = view.plain_start(block.first)
    lines = view.lines[block.first : block.first + block.n]
    return start, start + sum(map(len, lines)) + block.n - 1
