"""All pending hunks as one page, a unified diff, and the decisions in the page edited by the user.

Each hunk has its own `@@` section with its id, even if the next hunk is near, because each is
decided by itself. A hunk that the user has removed from the page is rejected. A hunk with other `+`
lines is amended. A hunk with other changed lines is left alone and reported, and so is a whole page
that looks damaged. White space at the ends of lines does not count, because editors remove it; line
ends don't either.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.text.diff import diff_lines, format_span
from stet.text.document import TextDocument
from stet.text.escape import escape_line
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
CONTEXT = 3
"""Lines shown round a hunk, where they are not another hunk's."""
_HOW = """\
# - Delete a hunk, from its `@@` line to the next, to reject it.
# - Edit its `+` lines to have them written instead.
# - Leave all other lines as they are, then save. To accept, go to the text itself.
"""


@dataclass(frozen=True, slots=True)
class DiffSection:
    """One hunk as shown.

    Attributes:
        hunk: The hunk at the time of writing.
        lines: The lines below its `@@` line, marks included, without line ends.
    """

    hunk: Hunk
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiffDocument:
    """A review as written.

    Attributes:
        text: The whole text.
        name: The name in its first line, so that an edited page is compared with the right one.
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
    """Return which page an edited text comes from; None where its first line is gone."""
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
    """Return why an edited section can't be taken, or nothing."""
    shown = section.lines
    is_same = _unchanged_lines(now) == _unchanged_lines(shown)
    if section.hunk.kind in {HunkKind.MOVE, HunkKind.REMOVE}:
        return "" if is_same and not _added_lines(now) else _WHOLE
    if any(line and line[0] not in " +-\\" for line in now):
        return "it has a line that begins with none of ` `, `+` and `-`"
    if not is_same:
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
    """Return context and removed lines as they compare."""
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
    """Return `lines` as one text; the last has no end only if it had none and the page still says
    so.
    """
    if not lines:
        return ""
    *above, last = [line if line != without_end(line) else f"{line}{end}" for line in lines]
    marked = [n for n, line in enumerate(now) if line.startswith("+")]
    says_so = bool(marked) and now[marked[-1] + 1 : marked[-1] + 2] == [NO_END]
    return "".join((*above, without_end(last) if open_end and says_so else last))


@dataclass(frozen=True, slots=True)
class DiffLocation:
    """A line that a page shows, relative to a hunk. The hunk's current place is known elsewhere.

    Attributes:
        hunk: The hunk's id.
        n_above: The distance above its first line; 0 if the line is not above.
        n_below: The distance below its last line, 1 for the next; 0 if the line is not below.
        nth: Otherwise the index of the hunk's own line, from 0. An added line counts as the line
            that it replaces, or as the last.
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
    lines = [without_end(one) for one in split_lines(text)]
    heads = [n for n, one in enumerate(lines) if HEAD.match(one) or one.startswith(FILE)]
    nth = bisect_right(heads, line)
    for first in heads[max(nth - 1, 0) : nth + 1] if nth else ():
        if head := HEAD.match(lines[first]):
            section = sections.get(head[1])
            return None if section is None else _within(section, lines[first + 1 : line + 1])
        if first > line:
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
    return DiffLocation(hunk, n_below=min(at - n_old + 1, n_after))


def render_diff(
    hunks: Sequence[Hunk], texts: Mapping[str, str], name_of: Callable[[str], str]
) -> DiffDocument:
    """Return the diff document for hunks that are pending or in conflict.

    Args:
        hunks: In any order.
        texts: The current text of every file they touch, by URI as they spell it.
        name_of: What a file is called.
    """
    parts: list[str] = []
    sections: list[DiffSection] = []
    for uri in dict.fromkeys(hunk.uri for hunk in hunks):
        mine = [hunk for hunk in hunks if hunk.uri == uri]
        name = escape_line(name_of(uri))
        for hunk in mine:
            if hunk.kind in WHOLE_FILE:
                section = DiffSection(hunk, _whole_file_lines(hunk))
                parts.append(_file_head(hunk, name, escape_line(name_of(hunk.new_uri or uri))))
                sizes = len(whole_lines(hunk.old)), len(whole_lines(hunk.new))
                parts.append(_render_section(section, (0, sizes[0]), (0, sizes[1])))
                sections.append(section)
        edits = sorted(
            (hunk for hunk in mine if hunk.kind not in WHOLE_FILE), key=lambda hunk: hunk.range
        )
        if edits:
            parts.append(f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n")
            for section, text in _edits(edits, TextDocument(uri, texts[uri])):
                sections.append(section)
                parts.append(text)
    body = "".join(parts)
    page_name = sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    n = len(sections)
    head = f"{FIRST_LINE}{page_name}: {n} hunk{'s' if n != 1 else ''} to decide\n{_HOW}"
    return DiffDocument(head + body, page_name, tuple(sections))


def _edits(hunks: Sequence[Hunk], document: TextDocument) -> Iterator[tuple[DiffSection, str]]:
    """Yield the sections of one file's edits, in order, each with its text."""
    lines = document.lines
    n_lines = document.n_lines
    shift, done = 0, 0
    for nth, hunk in enumerate(hunks):
        first = min(hunk.range.start.line, n_lines)
        after_hunk = min(hunk.range.line_after, n_lines)
        following = hunks[nth + 1].range.start.line if nth + 1 < len(hunks) else n_lines
        start = max(first - CONTEXT, done, 0)
        end = max(after_hunk, min(after_hunk + CONTEXT, following, n_lines))
        before, after = lines[start:first], lines[after_hunk:end]
        old, new = whole_lines(hunk.old), whole_lines(hunk.new)
        changed = (*_marked("-", old), *_marked("+", new))
        shown = (*_marked(" ", before), *changed, *_marked(" ", after))
        n_around = len(before) + len(after)
        section = DiffSection(hunk, shown)
        spans = (start, n_around + len(old)), (start + shift, n_around + len(new))
        yield section, _render_section(section, *spans)
        shift += len(new) - len(old)
        done = end


def _file_head(hunk: Hunk, name: str, new_name: str) -> str:
    head = f"diff --git a/{name} b/{new_name}\n"
    match hunk.kind:
        case HunkKind.CREATE:
            return f"{head}new file mode 100644\n--- /dev/null\n+++ b/{name}\n"
        case HunkKind.REMOVE:
            return f"{head}deleted file mode 100644\n--- a/{name}\n+++ /dev/null\n"
        case _:
            return f"{head}similarity index 100%\nrename from {name}\nrename to {new_name}\n"


def _whole_file_lines(hunk: Hunk) -> tuple[str, ...]:
    """Return the lines that a hunk about a whole file shows below its `@@` line."""
    if hunk.kind is HunkKind.MOVE:
        return ()
    return (*_marked("-", whole_lines(hunk.old)), *_marked("+", whole_lines(hunk.new)))


def _render_section(section: DiffSection, old: tuple[int, int], new: tuple[int, int]) -> str:
    """Return a section as text. `old` and `new` are its first line, 0-based, and its number of lines."""
    hunk = section.hunk
    note = "(conflict) " if hunk.state is HunkState.CONFLICT else ""
    note += "(merged with your change) " if hunk.mixed else ""
    head = f"@@ -{format_span(*old)} +{format_span(*new)} @@ {hunk.id} {note}{escape_line(hunk.summary)}".rstrip()
    return "".join(f"{line}\n" for line in (head, *section.lines))


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield lines as a diff shows them; one without an end is said to have none."""
    for line in lines:
        body = without_end(line)
        yield mark + body
        if body == line:
            yield NO_END
