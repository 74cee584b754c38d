r"""The edges of what an edit writes: its lines and those beside them stay lines of their own.

The user may have taken a line end away since, or put in one of another kind. Without a word of ours a
last line would then run into the next one, and a `\r` and a `\n` that meet would become one line end.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stet.review.tracking.line_span import range_of
from stet.text.document import TextDocument
from stet.text.lines import dominant_line_end, line_end


class HunkEdit(NamedTuple):
    """What an edit writes for one hunk: `text`, over the lines from `first` to before `end`."""

    hunk: str
    first: int
    end: int
    text: str


class BoundedHunkEdit(NamedTuple):
    """The same with its edges.

    Attributes:
        hunk: The hunk's id.
        first: The first line that it writes over.
        end: The line behind the last.
        text: What it writes, with the line end that it needs.
        before: What ends the line before it, which had no line end.
        after: What the line end of the line behind it begins with now.
    """

    hunk: str
    first: int
    end: int
    text: str
    before: str
    after: str


def add_line_boundaries(
    document: TextDocument, pieces: Sequence[HunkEdit]
) -> Sequence[BoundedHunkEdit]:
    """`pieces` with what their edges need; they are in order of place, and none overlaps another."""
    spans = [_offsets(document, piece) for piece in pieces]
    done: list[BoundedHunkEdit] = []
    below, upto = "", document.length
    # From the bottom up, so that it is known what a piece comes to stand before.
    for piece, (start, stop), above in reversed(
        [*zip(pieces, spans, _characters_before(document, pieces, spans), strict=True)]
    ):
        below = document.character_at(stop) if stop < upto else below
        new_text, before, after = piece.text, "", ""
        if new_text and below and not line_end(new_text):
            new_text += _end_for(document, piece)
        if new_text.endswith("\r") and below == "\n":
            new_text += "\n"
        if new_text and above and not line_end(above):
            before = _end_for(document, piece)
        elif new_text.startswith("\n") and above == "\r":
            new_text = f"\r{new_text}"
        elif not new_text and above == "\r" and below == "\n":
            after = "\r"
        done.append(BoundedHunkEdit(piece.hunk, piece.first, piece.end, new_text, before, after))
        below, upto = (new_text or after)[:1] or below, start
    return done[::-1]


def _offsets(document: TextDocument, piece: HunkEdit) -> tuple[int, int]:
    """Where a piece's place begins and ends in the text."""
    place = range_of(document.lines, piece.first, piece.end)
    return document.offset_at(place.start), document.offset_at(place.end)


def _characters_before(
    document: TextDocument, pieces: Sequence[HunkEdit], spans: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """For each piece the user's character that it comes to stand behind; `""` behind another piece,
    which sees to it, and at the beginning.
    """
    above, after = "", 0
    for piece, (start, stop) in zip(pieces, spans, strict=True):
        above = document.character_at(start - 1) if after < start else above
        yield above
        above, after = "" if piece.text else above, stop


def _end_for(document: TextDocument, piece: HunkEdit) -> str:
    """Return the line end for a line beside or at the end of a piece, taken from the lines there."""
    near = document.lines[max(piece.first - 1, 0) : piece.end]
    ends = filter(None, map(line_end, reversed(near)))
    return next(ends, "") or dominant_line_end(document.text)
