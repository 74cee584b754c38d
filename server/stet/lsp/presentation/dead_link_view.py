"""Dead links as diagnostics: from when they are asked for until they are cleared.

They are looked for in a worker, in the workspace as it is when the search begins. What the user has
typed since counts: a line that changed has no diagnostic until its file is saved, and then all that
was asked for is looked through again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from stet.lsp.editor_client import Client
from stet.lsp.presentation.dead_link_marks import (
    MAX_MARKS,
    DeadLinkMark,
    DeadLinkScope,
    MarkedDocument,
    find_marks,
    rebase_marks,
    relocate_marks,
)
from stet.lsp.presentation.diagnostics_publisher import SOURCE, DiagnosticsPublisher
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.links.link_scan import LinkCache


class DeadLinkView:
    """Keeps the dead links that were asked for. Touched on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        publisher: DiagnosticsPublisher,
        client: Client,
        links: Callable[[], Awaitable["LinkCache"]],
        start: Callable[[Coroutine[Any, Any, object], str], None],
    ) -> None:
        """Nothing is asked for yet.

        Args:
            workspace: Where to look.
            publisher: Shows them beside the hunks of a document.
            client: Tells how many there are.
            links: What is known of the links in files; waits until settings are read.
            start: Starts a task.
        """
        self._workspace = workspace
        self._publisher = publisher
        self._client = client
        self._links = links
        self._start = start
        self._scopes: frozenset[DeadLinkScope] = frozenset()
        self._marked: dict[str, MarkedDocument] = {}
        self._is_due = self._is_running = self._tells = False
        publisher.add_source(self.diagnostics)

    @property
    def is_shown(self) -> bool:
        """Whether dead links are asked for at all."""
        return bool(self._scopes)

    def ask(self, scope: DeadLinkScope) -> None:
        """Look there too, and say how many there are."""
        self._scopes |= {scope}
        self._tells = True
        self._schedule_scan()

    def clear(self) -> None:
        """Take them all away."""
        self._scopes, self._tells = frozenset(), False
        self._show({})

    def saved(self) -> None:
        """Schedule a scan after a document was saved, because links in or to it may be repaired."""
        if self._scopes:
            self._schedule_scan()

    def edited(self, uri: str) -> None:
        """Update the marks after a document was changed in the editor. This is the hot path."""
        if self._marked and canonical(uri) in self._marked and self._rebase_marks(canonical(uri)):
            self._publisher.schedule(uri)

    def diagnostics(self, uri: str) -> list[lsp.Diagnostic]:
        """Return the dead links of a document as the editor shows them."""
        found = self._marked.get(canonical(uri))
        return [] if found is None else [_diagnostic(mark) for mark in found.marks]

    def _schedule_scan(self) -> None:
        self._is_due = True
        if not self._is_running:
            self._is_running = True
            self._start(self._scan(), "looking for dead links")

    async def _scan(self) -> None:
        try:
            cache = await self._links()
            while self._is_due:
                self._is_due = False
                tells, self._tells = self._tells, False
                scopes, snapshot = self._scopes, self._workspace.snapshot()
                marked, missing = await asyncio.to_thread(
                    find_marks, snapshot, cache, scopes, self._workspace.encoding
                )
                if self._scopes != scopes:  # cleared, or asked for more meanwhile
                    self._tells |= tells
                    continue
                self._show({canonical(each.uri): each for each in marked})
                if tells:
                    self._report(missing)
        finally:
            self._is_running = False

    def _show(self, marked: dict[str, MarkedDocument]) -> None:
        before, self._marked = self._marked, marked
        for key in marked:
            self._rebase_marks(key)
        for uri in {key: each.uri for key, each in (*before.items(), *marked.items())}.values():
            self._publisher.schedule(uri)

    def _report(self, missing: Sequence[str]) -> None:
        n_files = sum(bool(each.marks) for each in self._marked.values())
        n_links = sum(len(each.marks) for each in self._marked.values())
        for message in missing:
            self._client.show_message(f"Stet: {message}", lsp.MessageType.Warning)
        if n_links:
            more = " (more are not shown)" if n_links >= MAX_MARKS else ""
            links = f"{n_links} dead link{'s' if n_links > 1 else ''}"
            self._client.show_message(
                f"Stet: {links} in {n_files} file{'s' if n_files > 1 else ''}{more}."
            )
        elif not missing:
            self._client.show_message("Stet: no dead links.")

    def _rebase_marks(self, key: str) -> bool:
        """Carry the marks of a document to its text as it is now; whether that changes them."""
        marked = self._marked[key]
        buffer = self._workspace.buffer(key)
        if buffer is None:
            return False
        changes = None
        if marked.revision is not None:
            changes = self._workspace.changes_since(key, marked.revision)
        if changes is None:  # opened since, or changed beyond what is remembered
            marks = tuple(relocate_marks(marked.marks, buffer.lines))
        else:
            marks = rebase_marks(marked.marks, changes)
        revision = self._workspace.revision(key)
        self._marked[key] = replace(marked, marks=marks, revision=revision)
        return marks != marked.marks


def _diagnostic(mark: DeadLinkMark) -> lsp.Diagnostic:
    return lsp.Diagnostic(
        range=lsp.Range(lsp.Position(mark.line, mark.start), lsp.Position(mark.line, mark.end)),
        message=mark.message,
        severity=lsp.DiagnosticSeverity.Warning,
        code="dead-link",
        source=SOURCE,
        data={"link": mark.written},
    )
