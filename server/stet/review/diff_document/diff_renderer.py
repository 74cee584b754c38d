"""What is pending, as one page: a unified diff that any editor shows in colour.

Each hunk has an `@@` section of its own, with its id in it, however near the next one is, because
each is a decision of its own. `stet.review.diff_document.diff_parser` reads the page when it has been edited.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

from stet.review.diff_document.diff_parser import FIRST_LINE, NO_END, DiffDocument, DiffSection
from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.text.document import TextDocument
from stet.text.escape import escape_line
from stet.text.lines import whole_lines, without_end

CONTEXT = 3
"""Lines shown round a hunk, where they are not another hunk's."""

_HOW = """\
# - Delete a hunk, from its `@@` line to the next, to reject it.
# - Edit its `+` lines to have them written instead.
# - Leave all other lines as they are, then save. To accept, go to the text itself.
"""


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
                parts.append(_render_section(section, _span(1, hunk.old), _span(1, hunk.new)))
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
        shown = (
            *_marked(" ", before),
            *_marked("-", old),
            *_marked("+", new),
            *_marked(" ", after),
        )
        n_around = len(before) + len(after)
        section = DiffSection(hunk, shown)
        spans = (
            _places(start, n_around + len(old)),
            _places(start + shift, n_around + len(new)),
        )
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


def _render_section(section: DiffSection, old: str, new: str) -> str:
    hunk = section.hunk
    note = "(conflict) " if hunk.state is HunkState.CONFLICT else ""
    note += "(merged with your change) " if hunk.mixed else ""
    head = f"@@ -{old} +{new} @@ {hunk.id} {note}{escape_line(hunk.summary)}".rstrip()
    return "".join(f"{line}\n" for line in (head, *section.lines))


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines as a diff shows them; one without an end is said to have none."""
    for line in lines:
        body = without_end(line)
        yield mark + body
        if body == line:
            yield NO_END


def _span(first: int, text: str) -> str:
    """Return the place of a whole file's text in `@@` notation."""
    return _places(first - 1, len(whole_lines(text)))


def _places(start: int, n: int) -> str:
    """Return a place in `@@` notation: 1-based, the count omitted if 1; the line before if empty."""
    if n == 1:
        return str(start + 1)
    return f"{start + 1 if n else start},{n}"
