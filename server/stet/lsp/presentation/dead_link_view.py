"""Dead links as diagnostics: from `stet.deadLinks` until they are cleared.

A worker thread searches a snapshot of the workspace. A mark moves with its line while the user
types. A line that has changed has no diagnostic until its file is saved; then all scopes are
searched again.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stet.lsp.editor_client import Client
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher, create_diagnostic
from stet.text.edit import TextChange
from stet.text.encoding import Encoding, units_from_column
from stet.text.escape import escape_line
from stet.text.render import counted, quote_line
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.links.dead_links import DeadLink
    from stet.links.link_scan import LinkCache


MAX_MARKS = 2000
"""The most marks that are shown: the user can't fix more one by one."""


@dataclass(frozen=True, slots=True)
class DeadLinkScope:
    """The scope of a search for dead links: one document, a folder, or the whole workspace."""

    uri: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class DeadLinkMark:
    """One dead link.

    Attributes:
        line: The line of the link, 0-based.
        text: The text of the line.
        start: The first column, in the negotiated encoding.
        end: The column after the last one, in the negotiated encoding.
        message: The message of the diagnostic.
        written: The link's target as it is written.
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
        uri: The URI in the workspace's spelling.
        marks: The dead links, in order of place.
        revision: The revision of the searched text; None if the document was not open.
    """

    uri: str
    marks: tuple[DeadLinkMark, ...]
    revision: int | None


def find_marks(
    snapshot: Snapshot, cache: "LinkCache", scopes: Collection[DeadLinkScope], encoding: Encoding
) -> tuple[list[MarkedDocument], list[str]]:
    """Return the dead links of the scopes by document, and the reasons why documents can't be
    searched.
    """
    # Import late: this compiles regular expressions for many languages.
    from stet.links.dead_links import dead_links, files_below
    from stet.links.link_scan import scan_links

    missing = []
    scan = scan_links(snapshot, cache)
    folders = [scope.folder for scope in scopes if scope.folder is not None]
    is_whole = DeadLinkScope() in scopes
    uris = files_below(scan, () if is_whole else folders) if is_whole or folders else []
    for scope in scopes:
        if scope.uri is not None:
            try:
                uris.append(snapshot.show(scope.uri).uri)
            except NotShown as refused:
                missing.append(refused.message)
    marks_by_file: dict[str, list[DeadLinkMark]] = {}
    found = dead_links(snapshot, scan, {canonical(uri): uri for uri in uris}.values())
    for dead in islice((one for one in found if one.place is not None), MAX_MARKS):
        marks_by_file.setdefault(dead.edge.source, []).append(_create_mark(dead, encoding))
    return [_mark_document(uri, marks, snapshot) for uri, marks in marks_by_file.items()], missing


def _mark_document(uri: str, marks: Sequence[DeadLinkMark], snapshot: Snapshot) -> MarkedDocument:
    document = snapshot.document(uri)
    if document is None:
        return MarkedDocument(uri, tuple(marks), None)
    if snapshot.show(uri) is not document:  # without the blocks in the text
        marks = tuple(relocate_marks(marks, document.lines))
    return MarkedDocument(uri, tuple(marks), document.revision)


def _create_mark(dead: "DeadLink", encoding: Encoding) -> DeadLinkMark:
    assert dead.place is not None
    line, column = dead.place.line, dead.place.character
    written = dead.edge.link.written
    start = units_from_column(dead.line, column, encoding)
    end = units_from_column(dead.line, column + len(written), encoding)
    near = ", ".join(map(escape_line, dead.near))
    hint = f" Similar: {near}." if near else ""
    message = f"'{quote_line(written)}' does not exist.{hint}"
    return DeadLinkMark(line, dead.line, start, end, message, written)


def rebase_marks(
    marks: tuple[DeadLinkMark, ...], changes: Sequence[TextChange]
) -> tuple[DeadLinkMark, ...]:
    """Return the marks of the unchanged lines, at the new places of the lines."""
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


class DeadLinkView:
    """The dead links of the requested scopes; used on the event loop only.

    Attributes:
        marked: The documents with dead links, by canonical URI.
    """

    def __init__(
        self,
        workspace: Workspace,
        publisher: DiagnosticsPublisher,
        client: Client,
        links: Callable[[], Awaitable["LinkCache"]],
    ) -> None:
        """Show no dead links yet.

        Args:
            workspace: The workspace to search.
            publisher: The publisher that shows dead links beside the hunks of a document.
            client: The editor, which shows the number of dead links.
            links: A function that returns the cache of links, as soon as the server is ready.
        """
        self._workspace = workspace
        self._publisher = publisher
        self._client = client
        self._links = links
        self._scopes: frozenset[DeadLinkScope] = frozenset()
        self.marked: dict[str, MarkedDocument] = {}
        self._is_due = self._is_running = self._notifies = False

    @property
    def is_shown(self) -> bool:
        """Whether there is a scope whose dead links are shown."""
        return bool(self._scopes)

    def ask(self, scope: DeadLinkScope) -> None:
        """Add a scope, search it, and report the number of dead links to the user."""
        self._scopes |= {scope}
        self._notifies = True
        self._schedule_scan()

    def clear(self) -> None:
        """Remove all scopes and dead links."""
        self._scopes, self._notifies = frozenset(), False
        self._show({})

    def saved(self) -> None:
        """Schedule a scan after a document was saved, because links in or to it may be repaired."""
        if self._scopes:
            self._schedule_scan()

    def edited(self, uri: str) -> None:
        """Update the marks after a `marked` document was changed in the editor."""
        if self._rebase_marks(canonical(uri)):
            self._publisher.schedule(uri)

    def diagnostics(self, uri: str) -> list[lsp.Diagnostic]:
        """Return the diagnostics of the dead links of a document."""
        found = self.marked.get(canonical(uri))
        return [] if found is None else [_diagnostic(mark) for mark in found.marks]

    def _schedule_scan(self) -> None:
        self._is_due = True
        if not self._is_running:
            self._is_running = True
            self._client.start(self._scan(), "checking links")

    async def _scan(self) -> None:
        try:
            cache = await self._links()
            while self._is_due:
                self._is_due = False
                notifies, self._notifies = self._notifies, False
                scopes, snapshot = self._scopes, self._workspace.snapshot()
                marked, missing = await asyncio.to_thread(
                    find_marks, snapshot, cache, scopes, self._workspace.encoding
                )
                if self._scopes != scopes:  # the scopes were changed meanwhile
                    self._notifies |= notifies
                    continue
                self._show({canonical(each.uri): each for each in marked})
                if notifies:
                    self._report(missing)
        finally:
            self._is_running = False

    def _show(self, marked: dict[str, MarkedDocument]) -> None:
        before, self.marked = self.marked, marked
        self._publisher.dead_links = self.diagnostics if marked else None
        for key in marked:
            self._rebase_marks(key)
        for uri in {key: each.uri for key, each in (*before.items(), *marked.items())}.values():
            self._publisher.schedule(uri)

    def _report(self, missing: Sequence[str]) -> None:
        n_files = sum(bool(each.marks) for each in self.marked.values())
        n_links = sum(len(each.marks) for each in self.marked.values())
        for message in missing:
            self._client.warn(f"Stet: {message}")
        if n_links:
            more = " (not all are shown)" if n_links >= MAX_MARKS else ""
            links, files = counted(n_links, "dead link"), counted(n_files, "file")
            self._client.show_message(f"Stet: {links} in {files}{more}.")
        elif not missing:
            self._client.show_message("Stet: no dead links.")

    def _rebase_marks(self, key: str) -> bool:
        """Move the marks of a document to its current text; return whether this changes them."""
        marked = self.marked[key]
        buffer = self._workspace.buffer(key)
        if buffer is None:
            return False
        known = marked.revision
        changes = None if known is None else self._workspace.changes_since(key, known)
        if changes is None:  # the document was opened since, or has too many changes
            marks = tuple(relocate_marks(marked.marks, buffer.lines))
        else:
            marks = rebase_marks(marked.marks, changes)
        revision = self._workspace.revision(key)
        self.marked[key] = replace(marked, marks=marks, revision=revision)
        return marks != marked.marks


def _diagnostic(mark: DeadLinkMark) -> lsp.Diagnostic:
    place = lsp.Range(lsp.Position(mark.line, mark.start), lsp.Position(mark.line, mark.end))
    severity = lsp.DiagnosticSeverity.Warning
    return create_diagnostic(place, mark.message, "dead-link", {"link": mark.written}, severity)
