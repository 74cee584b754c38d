"""Which hunk, and which of its lines, a line of a review page shows; the page may have been edited."""

from dataclasses import dataclass

from stet.review.diff_parser import FILE, HEAD, DiffDocument, DiffSection
from stet.review.proposal import Hunk
from stet.text.lines import split_lines, without_end


@dataclass(frozen=True, slots=True)
class DiffLocation:
    """A line that a page shows, told from a hunk: where that stands by now, others know.

    Attributes:
        hunk: The hunk's id.
        n_above: How many lines above its first one; 0 if it is none of those.
        n_below: How many lines below its last one, 1 for the next; 0 if it is none of those.
        nth: Which of its own lines otherwise, from 0. An added line counts as the one it is written
            over, or as the last.
    """

    hunk: str
    n_above: int = 0
    n_below: int = 0
    nth: int = 0

    def line_in(self, hunk: Hunk) -> int:
        """Return the line of the file, 0-based, where `hunk` is the hunk as it is now. The line may
        be after the end of the text.
        """
        if self.n_above:
            return max(hunk.range.start.line - self.n_above, 0)
        if self.n_below:
            return hunk.range.line_after + self.n_below - 1
        first = hunk.shown_at.start.line
        return min(first + self.nth, max(hunk.range.line_after - 1, first))


def locate_line(document: DiffDocument, text: str, line: int) -> DiffLocation | None:
    """Return the location that a line of a page shows.

    Args:
        document: As it was written.
        text: As it is now.
        line: 0-based. Below the heading of a file it is that file's first hunk.

    Returns:
        None above all files, and for hunks that the page never had.
    """
    sections = {section.hunk.id: section for section in document.sections}
    lines = [without_end(one) for one in split_lines(text)][: line + 1]
    for number in range(len(lines) - 1, -1, -1):
        if head := HEAD.match(lines[number]):
            section = sections.get(head[1])
            return None if section is None else _within(section, lines[number + 1 :])
        if lines[number].startswith(FILE):
            return _first_hunk_of_file(document, text, number)
    return None


def _first_hunk_of_file(document: DiffDocument, text: str, line: int) -> DiffLocation | None:
    """Return the first hunk of the file whose heading is on a line."""
    known = {section.hunk.id for section in document.sections}
    for one in split_lines(text)[line + 1 :]:
        if head := HEAD.match(one):
            return DiffLocation(head[1]) if head[1] in known else None
        if one.startswith(FILE):
            return None
    return None


def _within(section: DiffSection, upto: list[str]) -> DiffLocation:
    """Return the location of the last line in `upto`, the lines below a hunk's `@@` line. If `upto`
    is empty, the location is the `@@` line itself.
    """
    marks = [line[:1] for line in section.lines]
    n_before = next((n for n, mark in enumerate(marks) if mark in ("+", "-")), len(marks))
    n_old, n_after = marks.count("-"), marks.count(" ") - n_before
    hunk = section.hunk.id
    if not upto:
        return DiffLocation(hunk)
    *above, last = upto
    if last.startswith(("+", "\\")):
        n_added = sum(line.startswith("+") for line in above)
        return DiffLocation(hunk, nth=min(n_added, max(n_old - 1, 0)))
    at = sum(not line.startswith(("+", "\\")) for line in above) - n_before
    if at < 0:
        return DiffLocation(hunk, n_above=-at)
    if at < n_old:
        return DiffLocation(hunk, nth=at)
    return (
        DiffLocation(hunk, n_below=min(at - n_old + 1, n_after)) if n_after else DiffLocation(hunk)
    )
