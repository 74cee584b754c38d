"""Dead links of documents as marks that keep their lines: found in a worker, followed on the loop."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stet.text.change import TextChange
from stet.text.encoding import Encoding, units_from_column
from stet.text.escape import escape_line
from stet.text.render import quote_line
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.links.dead_report import DeadLink
    from stet.links.link_scan import LinkCache

MAX_MARKS = 2000
"""More are not shown: nobody mends them one by one."""


@dataclass(frozen=True, slots=True)
class DeadLinkScope:
    """Where dead links are looked for: in one document, below a folder, or everywhere."""

    uri: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class DeadLinkMark:
    """One dead link.

    Attributes:
        line: 0-based.
        text: Of that line.
        start: The first column, in the units of the editor.
        end: The column behind the last.
        message: What is wrong.
        written: The link's target as it stands there.
    """

    line: int
    text: str
    start: int
    end: int
    message: str
    written: str


@dataclass(frozen=True, slots=True)
class MarkedDocument:
    """The dead links of one document.

    Attributes:
        uri: As the workspace spells it.
        marks: In order of place.
        revision: Of the open text they were found in; None if it was closed.
    """

    uri: str
    marks: tuple[DeadLinkMark, ...]
    revision: int | None


def find_marks(
    snapshot: Snapshot, cache: "LinkCache", scopes: Collection[DeadLinkScope], encoding: Encoding
) -> tuple[list[MarkedDocument], list[str]]:
    """Return the dead links of these scopes by document. Return also the reasons why something
    cannot be searched.
    """
    # Not before somebody asks: the expressions of many languages are compiled.
    from stet.links.dead_report import dead_links, files_below
    from stet.links.link_scan import scan_links

    missing = []
    scan = scan_links(snapshot, cache)
    folders = [scope.folder for scope in scopes if scope.folder is not None]
    is_whole = any(scope == DeadLinkScope() for scope in scopes)
    uris = files_below(scan, () if is_whole else folders) if is_whole or folders else []
    for scope in scopes:
        if scope.uri is not None:
            try:
                uris.append(snapshot.show(scope.uri).uri)
            except NotShown as refused:
                missing.append(refused.message)
    marks_by_file: dict[str, list[DeadLinkMark]] = {}
    n_marks = 0
    for dead in dead_links(snapshot, scan, {canonical(uri): uri for uri in uris}.values()):
        if dead.place is not None and n_marks < MAX_MARKS:
            marks_by_file.setdefault(dead.edge.source, []).append(_create_mark(dead, encoding))
            n_marks += 1
    return [_mark_document(uri, marks, snapshot) for uri, marks in marks_by_file.items()], missing


def _mark_document(uri: str, marks: Sequence[DeadLinkMark], snapshot: Snapshot) -> MarkedDocument:
    document = snapshot.document(uri)
    if document is None:
        return MarkedDocument(uri, tuple(marks), None)
    if snapshot.show(uri) is not document:  # without the blocks that stand in it
        marks = tuple(relocate_marks(marks, document.lines))
    return MarkedDocument(uri, tuple(marks), document.revision)


def _create_mark(dead: "DeadLink", encoding: Encoding) -> DeadLinkMark:
    assert dead.place is not None
    line, column = dead.place.line, dead.place.character
    written = dead.edge.link.written
    start = units_from_column(dead.line, column, encoding)
    end = units_from_column(dead.line, column + len(written), encoding)
    near = ", ".join(map(escape_line, dead.near))
    hint = f" Like it: {near}." if near else ""
    message = f"'{quote_line(written)}' leads to no file.{hint}"
    return DeadLinkMark(line, dead.line, start, end, message, written)


def rebase_marks(
    marks: tuple[DeadLinkMark, ...], changes: Sequence[TextChange]
) -> tuple[DeadLinkMark, ...]:
    """Return the marks on lines that did not change, at the new places of the lines."""
    for change in changes:
        for first, removed, added in change.effects:
            marks = tuple(
                mark if mark.line < first else replace(mark, line=mark.line + added - removed)
                for mark in marks
                if not first <= mark.line < first + removed
            )
    return marks


def relocate_marks(marks: Sequence[DeadLinkMark], lines: Sequence[str]) -> Iterator[DeadLinkMark]:
    """Yield the marks whose lines are also in another text, each at the nearest equal line."""
    places: dict[str, list[int]] = {mark.text: [] for mark in marks}
    for number, line in enumerate(lines):
        if line in places:
            places[line].append(number)
    for mark in marks:
        if same := places[mark.text]:
            nearest = bisect_left(same, mark.line)
            around = same[max(0, nearest - 1) : nearest + 1]
            yield replace(mark, line=min((abs(at - mark.line), at) for at in around)[1])
