r"""The edges of what an edit writes: its lines and those beside them stay lines of their own.

The user may have taken a line end away since, or put in one of another kind. Without a word of ours a
last line would then run into the next one, and a `\r` and a `\n` that meet would become one line end.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stet.review.anchoring.standing import range_of
from stet.text.document import TextDocument
from stet.text.lines import dominant_line_end, line_end


class Piece(NamedTuple):
    """What an edit writes for one hunk: `text`, over the lines from `first` to before `end`."""

    hunk: str
    first: int
    end: int
    text: str


class Seamed(NamedTuple):
    """The same with its edges.

    Attributes:
        hunk: The hunk's id.
        first: The first line that it writes over.
        end: The line behind the last.
        text: What it writes, with the line end that it needs.
        before: What ends the line before it, which had no line end.
        behind: What the line end of the line behind it begins with now.
    """

    hunk: str
    first: int
    end: int
    text: str
    before: str
    behind: str


def seamed(document: TextDocument, pieces: Sequence[Piece]) -> Sequence[Seamed]:
    """`pieces` with what their edges need; they are in order of place, and none overlaps another."""
    spans = [_span(document, piece) for piece in pieces]
    done: list[Seamed] = []
    below, upto = "", document.length
    # From the bottom up, so that it is known what a piece comes to stand before.
    for piece, (start, stop), above in reversed(
        [*zip(pieces, spans, _above(document, pieces, spans), strict=True)]
    ):
        below = document.character_at(stop) if stop < upto else below
        own, before, behind = piece.text, "", ""
        if own and below and not line_end(own):
            own += _end_for(document, piece)
        if own.endswith("\r") and below == "\n":
            own += "\n"
        if own and above and not line_end(above):
            before = _end_for(document, piece)
        elif own.startswith("\n") and above == "\r":
            own = f"\r{own}"
        elif not own and above == "\r" and below == "\n":
            behind = "\r"
        done.append(Seamed(piece.hunk, piece.first, piece.end, own, before, behind))
        below, upto = (own or behind)[:1] or below, start
    return done[::-1]


def _span(document: TextDocument, piece: Piece) -> tuple[int, int]:
    """Where a piece's place begins and ends in the text."""
    place = range_of(document.lines, piece.first, piece.end)
    return document.offset_at(place.start), document.offset_at(place.end)


def _above(
    document: TextDocument, pieces: Sequence[Piece], spans: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """For each piece the user's character that it comes to stand behind; `""` behind another piece,
    which sees to it, and at the beginning.
    """
    above, behind = "", 0
    for piece, (start, stop) in zip(pieces, spans, strict=True):
        above = document.character_at(start - 1) if behind < start else above
        yield above
        above, behind = "" if piece.text else above, stop


def _end_for(document: TextDocument, piece: Piece) -> str:
    """The line end for a line beside or at the end of a piece: that of the lines there."""
    near = document.lines[max(piece.first - 1, 0) : piece.end]
    ends = filter(None, map(line_end, reversed(near)))
    return next(ends, "") or dominant_line_end(document.text)
