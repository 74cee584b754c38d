"""Build the context that the model sees: sections in Cursor's form, then the question.

    <additional_data>
    <current_file> ... </current_file>
    <attached_files> ... </attached_files>
    <manually_added_selection path="src/app.py" lines="10-11"> ... </manually_added_selection>
    <mentioned> ... </mentioned>
    <workspace roots="/ws" current_directory="/ws/src"/>
    </additional_data>
    <user_query> ... </user_query>

All text is read by `Snapshot.show`, which prefers the open text to the disk and applies the privacy
filter. A section without content is left out. The same snapshot results in the same bytes.
`stet.context.since_last_turn` creates the section `<since_last_turn>`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet.context.attachment_collector import (
    AttachedFile,
    AttachedFolder,
    CollectedAttachments,
    ScopeFiles,
    collect_attachments,
    collect_mentioned,
    find_scope_files,
    with_scope,
)
from stet.context.context_values import (
    Context,
    ContextSection,
    CurrentDocument,
    EditorLocation,
    element,
    empty_element,
    escape_tags,
    find_current_document,
    section,
    single_line,
)
from stet.links.link_scan import LinkGraph
from stet.settings.values import Settings
from stet.text.document import TextDocument
from stet.text.lines import without_end
from stet.text.position import Position
from stet.text.render import counted, iso_time, number_lines
from stet.workspace.attachments import Attachments
from stet.workspace.paths import Root
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of

CHARACTERS_PER_LINE = 200
"""The characters per line that a limit in lines allows: minified code has few, very long lines."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a document.

    Attributes:
        text: The lines, numbered as by `read_file`, and escaped.
        first: The first line shown, 1-based; 0 if there are no lines.
        last: The last line shown, included; 0 if there are no lines.
        total: The number of lines of the document.
    """

    text: str
    first: int
    last: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Whether every line of the document is in the excerpt."""
        return self.last - max(self.first, 1) + 1 == self.total

    def holds(self, line: int) -> bool:
        """Return whether a line (0-based) of the document is in the excerpt."""
        return self.first <= line + 1 <= self.last

    @property
    def lines(self) -> str:
        """The range of lines as text, such as `1-20`; `0-0` if there are no lines."""
        return f"{self.first}-{self.last}"


def excerpt_around(document: TextDocument, line: int, max_lines: int) -> Excerpt:
    """Return at most `max_lines` lines of a document, with `line` (0-based) in their middle."""
    total = document.n_lines
    n_lines = min(max_lines, total)
    if n_lines == 0:
        return Excerpt("", 0, 0, total)
    line = max(0, min(line, total - 1))
    first = max(0, min(line - n_lines // 2, total - n_lines))
    limit = max_lines * CHARACTERS_PER_LINE
    first, last = _limit_lines(document, line, (first, first + n_lines), limit)
    return Excerpt(escape_tags(_render(document, first, last, limit)), first + 1, last, total)


def _render(document: TextDocument, first: int, last: int, limit: int) -> str:
    """Return numbered lines; of a single line that is too long, return the start."""
    lines = document.lines[first:last]
    n_cut = len(without_end(lines[0])) - limit if len(lines) == 1 else 0
    if n_cut <= 0:
        return number_lines(lines, first=first + 1)
    text = number_lines([lines[0][:limit]], first=first + 1)
    return f"{text}(cut: {n_cut} more characters in this line)\n"


def _limit_lines(
    document: TextDocument, line: int, lines: tuple[int, int], limit: int
) -> tuple[int, int]:
    """Return `lines` (half-open) without the lines farthest from `line`, so that at most `limit`
    characters remain.
    """
    first, last = lines
    size = sum(map(len, document.lines[first:last]))
    while size > limit and last - first > 1:
        if line - first > last - 1 - line:
            size -= len(document.lines[first])
            first += 1
        else:
            last -= 1
            size -= len(document.lines[last])
    return first, last


MAX_CHARACTERS = 200_000
"""The maximum size of a section's whole files; of later files, only the first lines are shown."""


def file_element(file: AttachedFile, max_lines: int) -> str:
    """Return `<file_contents>`: the first lines of a file, numbered."""
    excerpt = excerpt_around(file.document, 0, max_lines)
    attributes = {"path": file.name}
    if file.mtime is not None and (written := iso_time(file.mtime)) is not None:
        attributes["mtime"] = written
    attributes |= {"lines": excerpt.lines, "total_lines": str(excerpt.total)}
    return element("file_contents", excerpt.text, attributes)


def attachment_elements(attachments: CollectedAttachments, settings: Settings) -> Iterator[str]:
    """Yield an element for each file and each folder, and a line for each missing part."""
    left, context = MAX_CHARACTERS, settings.context
    n_shortened = 0
    for file in attachments.files.values():
        is_whole = file.is_whole and left > 0
        n_shortened += file.is_whole and not is_whole
        lines = context.current_file_lines if is_whole else context.head_lines
        contents = file_element(file, lines)
        left -= len(contents)
        yield contents
    if n_shortened:
        yield (
            f"(cut: of {n_shortened} of these files only the first lines are shown, because all "
            "together are too long; `read_file` shows the rest)"
        )
    yield from (_folder_element(folder) for folder in attachments.folders)
    yield from (f"({single_line(problem)})" for problem in attachments.problems)


def _folder_element(folder: AttachedFolder) -> str:
    names = [single_line(name) for name in folder.files]
    if folder.is_cut:
        names.append("(cut: there are more; `list_files` gives them)")
    text = "\n".join(names) if names else "(no files)"
    return element("folder_contents", text, {"path": folder.name})


MAX_LINE_CONTENT = 500
"""The maximum length of the repeated cursor line, in code points."""


def current_file_section(current: CurrentDocument, settings: Settings) -> ContextSection:
    """Return path, cursor line (1-based) with its content, and the numbered text."""
    cursor = current.cursor
    excerpt = _window(current, settings.context.current_file_lines)
    head = [f"Path: {single_line(current.name)}"]
    if cursor is not None:
        head += [f"Line: {cursor.line + 1}", f"Line Content: `{_line_content(current, cursor)}`"]
    rest = "" if excerpt.is_whole else "; `read_file` shows the others"
    head.append(f"Lines: {excerpt.lines} of {excerpt.total}{rest}")
    return section("current_file", "\n".join((*head, excerpt.text)))


def _window(current: CurrentDocument, max_lines: int) -> Excerpt:
    """Return an excerpt around the visible range and the cursor's line.

    If they are too far apart, the excerpt is around the visible range. If the visible range is not
    known, the excerpt is around the cursor's line.
    """
    document, visible = current.document, current.visible
    line = None if current.cursor is None else current.cursor.line
    if visible is None:
        return excerpt_around(document, line or 0, max_lines)
    first, last = visible.start.line, visible.last_line
    if line is not None and max(last, line) - min(first, line) < max_lines:
        first, last = min(first, line), max(last, line)
    excerpt = excerpt_around(document, (first + last + 1) // 2, max_lines)
    # Very long lines may leave the cursor's line outside the excerpt.
    is_cut = line is not None and first <= line <= last and not excerpt.holds(line)
    return excerpt_around(document, line or 0, max_lines) if is_cut else excerpt


def _line_content(current: CurrentDocument, cursor: Position) -> str:
    """Return the cursor's line, or the stretch around the cursor if the line is long."""
    line = current.document.lines[cursor.line].rstrip("\r\n")
    start = max(0, min(cursor.character - MAX_LINE_CONTENT // 2, len(line) - MAX_LINE_CONTENT))
    excerpt = line[start : start + MAX_LINE_CONTENT]
    before = "(cut)" if start else ""
    after = "(cut)" if start + len(excerpt) < len(line) else ""
    return f"{before}{single_line(excerpt)}{after}"


MAX_NAMED = 20
"""The maximum number of left out files that are named."""


def attached_files_section(
    attached: CollectedAttachments, in_scope: ScopeFiles, settings: Settings
) -> ContextSection | None:
    """Return a `<file_contents>` for each file, and the names left out; None if both are empty."""
    elements = list(attachment_elements(attached, settings))
    lines = settings.context.head_lines
    elements += [file_element(file, lines) for file in in_scope.files]
    elements += _left_out_lines(in_scope, settings)
    return section("attached_files", "\n".join(elements)) if elements else None


def _left_out_lines(in_scope: ScopeFiles, settings: Settings) -> Iterator[str]:
    """Yield lines about the files that were left out."""
    names = [single_line(name) for name in in_scope.left_out[:MAX_NAMED]]
    if names:
        n_more = len(in_scope.left_out) - len(names)
        more = f" and {n_more} more" if n_more else ""
        yield (
            f"(cut: context.maxFiles is {settings.context.max_files}; in scope too, but not shown: "
            f"{', '.join(names)}{more}; `read_file` shows them)"
        )
    if in_scope.is_partial:
        yield "(cut: there are too many files to read the links of all; some may be missing here)"


_SELECTION = "manually_added_selection"
MAX_SELECTIONS = 50
"""The maximum number of selected ranges that are shown, however short they are."""


def selection_section(current: CurrentDocument, settings: Settings) -> ContextSection:
    """Return one element for each selected range, in the order of the text; the limit is for all of
    them.

    A last line counts the ranges that are left out.

    Lines are 1-based and inclusive; a selection that ends before the first character of a line does
    not include that line.
    """
    left = settings.context.selection_limit
    elements: list[str] = []
    for range_ in current.selected[:MAX_SELECTIONS]:
        text = current.document.text_in(range_)
        n_shown = text[: max(0, left)]
        left -= len(text)
        if len(n_shown) < len(text):
            n_shown += f"\n(cut: {len(text) - len(n_shown)} more characters are selected)\n"
        lines = f"{range_.start.line + 1}-{range_.last_line + 1}"
        elements.append(
            element(_SELECTION, escape_tags(n_shown), {"path": current.name, "lines": lines})
        )
        if left <= 0:
            break
    if n_more := len(current.selected) - len(elements):
        elements.append(f"(cut: {counted(n_more, 'more selection')})")
    return ContextSection(_SELECTION, "\n".join(elements))


def mentioned_section(mentions: CollectedAttachments, settings: Settings) -> ContextSection:
    """Return a `<file_contents>` for each file, a list for each folder, and the missing names."""
    return section("mentioned", "\n".join(attachment_elements(mentions, settings)))


def workspace_section(roots: tuple[Root, ...], current: CurrentDocument | None) -> ContextSection:
    """Return the section of absolute paths; several roots are joined by `;`.

    The current directory is that of the current file if the file is in a root, else the first root.
    """
    attributes = {
        "roots": ";".join(root.path.as_posix() for root in roots),
        "current_directory": _current_directory(roots, current),
    }
    return ContextSection("workspace", empty_element("workspace", attributes))


def _current_directory(roots: tuple[Root, ...], current: CurrentDocument | None) -> str:
    path: Path | None = None if current is None else path_of(current.document.uri)
    if path is not None and any(root.path in path.parents for root in roots):
        return path.parent.as_posix()
    return roots[0].path.as_posix() if roots else ""


def user_query_section(prompt: str) -> ContextSection:
    """Return the section of the prompt as written, except that pasted text cannot close it."""
    return section("user_query", escape_tags(prompt))


__all__ = ["Context", "ContextSection", "EditorLocation", "build_context"]


def build_context(
    snapshot: Snapshot,
    location: EditorLocation,
    prompt: str,
    graph: LinkGraph | None = None,
    attachments: Attachments | None = None,
) -> Context:
    """Return the whole context of `prompt`, asked at `location`.

    This reads times, and files in scope that are not open, from disk: call it in a worker thread.
    The scope `linked` follows `graph`; without a graph the workspace is scanned for links.
    """
    attachments = attachments or Attachments()
    if not snapshot.is_question:
        snapshot = snapshot.asked_about(location.uri or snapshot.activity.active)
    snapshot = with_scope(snapshot, attachments)
    current = find_current_document(snapshot, location)
    mentions = collect_mentioned(snapshot, prompt, current)
    attached = collect_attachments(snapshot, attachments, current, mentions.whole_files)
    for uri in attached.whole_files:
        mentions.files.pop(uri, None)
    exclude = mentions.files.keys() | attached.files.keys()
    in_scope = find_scope_files(snapshot, current, graph, exclude)
    files = (*attached.files.values(), *in_scope.files, *mentions.files.values())
    shown = [] if current is None else [current.document]
    shown += [file.document for file in files]
    data = _data_sections(snapshot, current, attached, in_scope, mentions)
    sections = (*data, user_query_section(prompt))
    problems = (*mentions.problems, *attached.problems, *attached.hidden)
    n_lines = snapshot.settings.context.current_file_lines
    line_ranges = _large_line_ranges(current, shown, n_lines)
    return Context(sections, tuple(shown), problems, tuple(line_ranges))


def _large_line_ranges(
    current: CurrentDocument | None, shown: Sequence[TextDocument], n_lines: int
) -> Iterator[tuple[TextDocument, int, int]]:
    """Yield the lines of very long documents that may be in a context of at most `n_lines` each."""
    for document in shown:
        if not document.is_large:
            continue
        if current is None or document is not current.document:
            yield document, 0, n_lines
            continue
        line = 0 if current.cursor is None else current.cursor.line
        yield document, max(0, line - n_lines), line + n_lines
        for range_ in current.selected[:MAX_SELECTIONS]:
            first = range_.start.line
            yield document, first, min(range_.last_line + 1, first + n_lines)


def _data_sections(
    snapshot: Snapshot,
    current: CurrentDocument | None,
    attachments: CollectedAttachments,
    in_scope: ScopeFiles,
    mentions: CollectedAttachments,
) -> Iterator[ContextSection]:
    """Yield the sections before the question."""
    settings = snapshot.settings
    if current is not None:
        yield current_file_section(current, settings)
    if (attached_section := attached_files_section(attachments, in_scope, settings)) is not None:
        yield attached_section
    if current is not None and current.selected:
        yield selection_section(current, settings)
    if mentions != CollectedAttachments():
        yield mentioned_section(mentions, settings)
    yield workspace_section(snapshot.roots, current)
