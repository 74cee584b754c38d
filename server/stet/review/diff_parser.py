r"""The review as a page that the user edits: what it says once they have saved it.

The page is a unified diff (`stet.review.diff_renderer` writes it). A hunk that is gone from it is
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
