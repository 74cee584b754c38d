r"""The review as a page that the user edits: what it says once they have saved it.

The page is a unified diff (`stet.review.diff_document.diff_renderer` writes it). A hunk that is gone from it is
rejected. One whose `+` lines are others is amended. One whose other lines are not as they were is
left alone and said, and so is all of a page that can't be told from a damaged one.
White space at the ends of lines does not count, because editors strip it; line ends neither.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stet.review.proposal import Hunk, HunkKind
from stet.text.diff import diff_lines
from stet.text.lines import dominant_line_end, split_lines, whole_lines, without_end

NO_END = "\\ No newline at end of file"
FIRST_LINE = "# Stet review "
HEAD = re.compile(r"@@ .*? @@ (\S+)")
"""What a hunk's section begins with; its id is the group."""
FILE = "diff --git "
"""What a file's heading begins with."""

_NAME = re.compile(rf"{FIRST_LINE}(\w+)")
_FILE_HEADS = ("--- ", "+++ ")
_TOUCHED = "its lines without `+` are not as they were"
_MOVED = "a `+` line stands between lines that are not part of the change"
_TWICE = "it is there twice"
_TORN = "the lines around it are not as they were; delete whole hunks, from `@@` to `@@`"
_WHOLE = "only its deletion means something here"


@dataclass(frozen=True, slots=True)
class DiffSection:
    """One hunk as it is shown.

    Attributes:
        hunk: The hunk as it was then.
        lines: What stands below its `@@` line, marks included, without line ends.
    """

    hunk: Hunk
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiffDocument:
    """A review as it was written.

    Attributes:
        text: All of it.
        name: Stands in its first line, so that an edited page is held against the right one.
        sections: Its hunks, in order.
    """

    text: str
    name: str
    sections: tuple[DiffSection, ...]


@dataclass(frozen=True, slots=True)
class DiffDecisions:
    """What the user has done to a page.

    Attributes:
        rejected: Ids of the hunks that are gone, in order.
        amended: Ids with the text that is to be written instead, in order.
        refused: Ids of hunks that are left alone, with a reason, in order.
    """

    rejected: tuple[str, ...] = ()
    amended: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


def document_name(text: str) -> str | None:
    """Which page an edited text comes from; None where its first line is gone."""
    found = (_NAME.match(line) for line in split_lines(text) if line.startswith(FIRST_LINE))
    return next((match[1] for match in found if match), None)


def parse_decisions(document: DiffDocument, edited: str) -> DiffDecisions:
    """Return what the user has decided by editing `document` into `edited`. Hunks that the document
    never had are ignored.
    """
    found, strays = _sections(edited)
    rejected: list[str] = []
    amended: list[tuple[str, str]] = []
    refused: list[tuple[str, str]] = []
    torn = strays
    for section in document.sections:
        hunk, now = section.hunk, found.get(section.hunk.id, [])
        if not now:
            if torn:
                refused.append((hunk.id, _TORN))
            else:
                rejected.append(hunk.id)
            continue
        problem = _TWICE if len(now) > 1 else _section_problem(section, now[0])
        torn = strays or bool(problem)
        new = _new_text(section, now[0])
        if problem:
            refused.append((hunk.id, problem))
        elif new is not None and hunk.kind is not HunkKind.CREATE and new == hunk.old:
            rejected.append(hunk.id)
        elif new is not None:
            amended.append((hunk.id, new))
    return DiffDecisions(tuple(rejected), tuple(amended), tuple(refused))


def _sections(text: str) -> tuple[dict[str, list[list[str]]], bool]:
    """Return the lines of each hunk by its id, and whether there are lines that belong to no hunk."""
    found: dict[str, list[list[str]]] = {}
    body: list[str] | None = None
    strays = False
    for ended in split_lines(text):
        line = without_end(ended)
        if head := HEAD.match(line):
            body = []
            found.setdefault(head[1], []).append(body)
        elif line.startswith(FILE):
            body = None
        elif body is not None:
            body.append(line)
        elif line.startswith((" ", "+", "-")) and not line.startswith(_FILE_HEADS):
            strays = True
    return found, strays


def _section_problem(section: DiffSection, now: Sequence[str]) -> str:
    """Why an edited section can't be taken, or nothing."""
    shown = section.lines
    if section.hunk.kind in {HunkKind.MOVE, HunkKind.REMOVE}:
        return (
            ""
            if _unchanged_lines(now) == _unchanged_lines(shown) and not _added_lines(now)
            else _WHOLE
        )
    if any(line and line[0] not in " +-\\" for line in now):
        return "it has a line that begins with none of ` `, `+` and `-`"
    if _unchanged_lines(now) != _unchanged_lines(shown):
        return _TOUCHED
    marks = [line[:1] for line in shown if line[:1] in ("+", "-")]
    first = next((n for n, line in enumerate(shown) if line[:1] in ("+", "-")), len(shown))
    n_unchanged = 0
    for line in now:
        if line.startswith("+") and not first <= n_unchanged <= first + marks.count("-"):
            return _MOVED
        n_unchanged += not line.startswith(("+", "\\"))
    return ""


def _unchanged_lines(lines: Sequence[str]) -> list[str]:
    """Context and removed lines as they compare."""
    unchanged = [line.rstrip() for line in lines if not line.startswith(("+", "\\"))]
    while unchanged and not unchanged[-1]:
        unchanged.pop()
    return unchanged


def _added_lines(lines: Sequence[str]) -> list[str]:
    return [line[1:] for line in lines if line.startswith("+")]


def _new_text(section: DiffSection, now: Sequence[str]) -> str | None:
    """Return the text that an edited section would write; None if the hunk writes this text anyway.

    Lines that are as they were keep their white space and line end; the others get the hunk's own.
    """
    hunk = section.hunk
    old = whole_lines(hunk.new)
    ended = [line.rstrip() for line in old]
    added = _added_lines(now)
    changes = diff_lines(ended, [line.rstrip() for line in added])
    if not changes:
        return None
    end = dominant_line_end(hunk.new or hunk.old)
    lines: list[str] = []
    at = 0
    for change in changes:
        lines += old[at : change.old_start]
        made = added[change.new_start : change.new_start + len(change.new)]
        lines += [f"{line}{end}" for line in made]
        at = change.old_start + len(change.old)
    lines += old[at:]
    return _ended(lines, now, end, open_end=not hunk.new.endswith(("\n", "\r")))


def _ended(lines: list[str], now: Sequence[str], end: str, *, open_end: bool) -> str:
    """`lines` as one text; the last has no end only if it had none and the page still says so."""
    if not lines:
        return ""
    *above, last = [line if line != without_end(line) else f"{line}{end}" for line in lines]
    marked = [n for n, line in enumerate(now) if line.startswith("+")]
    says_so = bool(marked) and now[marked[-1] + 1 : marked[-1] + 2] == [NO_END]
    return "".join((*above, without_end(last) if open_end and says_so else last))


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
