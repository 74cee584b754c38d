"""All pending hunks as one unified diff, and the user's decisions by editing the diff.

What remains in the diff document stays pending or, in a diff document that accepts, is accepted.
Each hunk has a separate `@@` section with its id, even if the next hunk is near, because each hunk
is decided separately. A hunk that the user has removed from the diff document is rejected. A hunk
with other `+` lines is amended. A hunk with other changed lines is not decided but reported, and so
are all hunks if the diff document is damaged. White space at the ends of lines is ignored, because
editors remove it; so are line ends.
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
from stet.text.render import counted

NO_END = "\\ No newline at end of file"
FIRST_LINE = "# Stet review "
HEAD = re.compile(r"@@ .*? @@ (\S+)")
"""The first line of a hunk's section; the group is the hunk's id."""
FILE = "diff --git "
"""The start of a file's heading."""

_NAME = re.compile(rf"{FIRST_LINE}(\w+)")
_FILE_HEADS = ("--- ", "+++ ")
_TOUCHED = "only its `+` lines can be edited"
_MOVED = "a `+` line is outside the change"
_TWICE = "it occurs twice"
_TORN = "the surrounding lines were changed; delete whole hunks, from `@@` to `@@`"
_WHOLE = "it can't be edited, only deleted"
CONTEXT = 3
"""The lines shown around a hunk, except lines of another hunk."""
_EDIT = """\
# - Delete a hunk, from its `@@` line to the next, to reject it.
# - Edit its `+` lines to change the proposal.
"""
_HOW = f"""\
{_EDIT}# - Leave all other lines unchanged, then save. Accept hunks in the file itself.
"""
_HOW_ACCEPTING = f"""\
{_EDIT}# - Leave all other lines unchanged, then save: what remains is accepted.
"""


@dataclass(frozen=True, slots=True)
class DiffSection:
    """The section of one hunk.

    Attributes:
        hunk: The hunk at the time of writing.
        lines: The lines below its `@@` line, marks included, without line ends.
    """

    hunk: Hunk
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiffDocument:
    """A diff document as it was written.

    Attributes:
        text: The whole text.
        name: The name in the first line, by which an edited diff document is compared with the
            right one.
        sections: The sections of the hunks, in order.
        accepts: Whether saving the diff document accepts what remains in it.
    """

    text: str
    name: str
    sections: tuple[DiffSection, ...]
    accepts: bool = False


@dataclass(frozen=True, slots=True)
class DiffDecisions:
    """The user's decisions in a diff document.

    Attributes:
        rejected: The ids of the removed hunks, in order.
        amended: The ids of the amended hunks, each with its new text, in order.
        refused: The ids of the hunks that are not decided, each with a reason, in order.
    """

    rejected: tuple[str, ...] = ()
    amended: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


def document_name(text: str) -> str | None:
    """Return the name of the diff document of an edited text; None if its first line is missing."""
    found = (_NAME.match(line) for line in split_lines(text) if line.startswith(FIRST_LINE))
    return next((match[1] for match in found if match), None)


def parse_decisions(document: DiffDocument, edited: str) -> DiffDecisions:
    """Return the decisions by which `document` became `edited`; ignore unknown hunks."""
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
    """Return the lines of each hunk, by id, and whether there are lines that belong to no hunk."""
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
    """Return the problem of an edited section; "" if there is none."""
    shown = section.lines
    is_same = _unchanged_lines(now) == _unchanged_lines(shown)
    if section.hunk.kind in {HunkKind.MOVE, HunkKind.REMOVE}:
        return "" if is_same and not _added_lines(now) else _WHOLE
    if any(line and line[0] not in " +-\\" for line in now):
        return "every line must start with ` `, `+` or `-`"
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
    """Return the context lines and removed lines, normalized for comparison."""
    unchanged = [line.rstrip() for line in lines if not line.startswith(("+", "\\"))]
    while unchanged and not unchanged[-1]:
        unchanged.pop()
    return unchanged


def _added_lines(lines: Sequence[str]) -> list[str]:
    return [line[1:] for line in lines if line.startswith("+")]


def _new_text(section: DiffSection, now: Sequence[str]) -> str | None:
    """Return the text that an edited section would write; None if the hunk writes this text anyway.

    Unchanged lines keep their white space and line end; others get the hunk's line end.
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
    """Join `lines`; the last line lacks a line end only if it did before and the diff document says
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
    """A line that a diff document shows, relative to a hunk, whose place may change.

    Attributes:
        hunk: The id of the hunk.
        n_above: The distance above the hunk's first line; 0 if the line is not above.
        n_below: The distance below the hunk's last line, 1 for the next; 0 if not below.
        nth: Otherwise the index of the line in the hunk, from 0. An added line counts as the line
            that it replaces, or as the last line.
    """

    hunk: str
    n_above: int = 0
    n_below: int = 0
    nth: int = 0

    def line_in(self, hunk: Hunk) -> int:
        """Return the line of the file, 0-based, for the current state `hunk` of the hunk.

        The line may be after the end of the text.
        """
        if self.n_above:
            return max(hunk.range.start.line - self.n_above, 0)
        if self.n_below:
            return hunk.range.line_after + self.n_below - 1
        first = hunk.shown_at.start.line
        return min(first + self.nth, max(hunk.range.line_after - 1, first))


def locate_line(document: DiffDocument, text: str, line: int) -> DiffLocation | None:
    """Return the location that a line of a diff document shows.

    Args:
        document: The diff document as it was written.
        text: The current text of the diff document.
        line: The line of the diff document, 0-based. A line in a file's heading means its first
            hunk.

    Returns:
        None for a line above all files, and for unknown hunks.
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
    """Return the location of the last line of `upto`, or of the `@@` line above if it is empty."""
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
    hunks: Sequence[Hunk],
    texts: Mapping[str, str],
    name_of: Callable[[str], str],
    *,
    accepts: bool = False,
) -> DiffDocument:
    """Return the diff document for hunks that are pending or in conflict.

    Args:
        hunks: The hunks, in any order.
        texts: The current texts of their files, by URI in the hunks' spelling.
        name_of: Returns the displayed name of a file, by URI.
        accepts: Whether saving the diff document accepts what remains in it.
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
    named = f"{_HOW_ACCEPTING}{body}" if accepts else body
    page_name = sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    how = _HOW_ACCEPTING if accepts else _HOW
    head = f"{FIRST_LINE}{page_name}: {counted(len(sections), 'hunk')} left\n{how}"
    return DiffDocument(head + body, page_name, tuple(sections), accepts)


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
    """Return the lines below the `@@` line of a hunk about a whole file."""
    if hunk.kind is HunkKind.MOVE:
        return ()
    return (*_marked("-", whole_lines(hunk.old)), *_marked("+", whole_lines(hunk.new)))


def _render_section(section: DiffSection, old: tuple[int, int], new: tuple[int, int]) -> str:
    """Return a section as text; `old` and `new` are a first line (0-based) and a line count."""
    hunk = section.hunk
    note = "(conflict) " if hunk.state is HunkState.CONFLICT else ""
    note += "(merged with your change) " if hunk.mixed else ""
    head = f"@@ -{format_span(*old)} +{format_span(*new)} @@ {hunk.id} {note}{escape_line(hunk.summary)}".rstrip()
    return "".join(f"{line}\n" for line in (head, *section.lines))


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield lines as a diff shows them, with a note after a line without a line end."""
    for line in lines:
        body = without_end(line)
        yield mark + body
        if body == line:
            yield NO_END
