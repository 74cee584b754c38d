"""Pending hunks and questions as diagnostics, which every editor shows without a plugin."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from lsprotocol import types as lsp

from stet.agent.turn import Turn
from stet.lsp import convert
from stet.lsp.editor_client import Client
from stet.lsp.presentation.serialize import describe, hunk_lines
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, Hunk, HunkKind, HunkState
from stet.text.edit import map_range
from stet.text.escape import escape
from stet.text.position import Position, Range
from stet.tools.editor_actions import Question
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace


class TrackedLocation:
    """A range of a document that moves with the changes of the text.

    Args:
        workspace: The workspace, which has the changes of documents.
        uri: The URI of the document.
        stretch: The range in the current text, in code points; None: the whole document, shown at
            its top.
    """

    def __init__(self, workspace: Workspace, uri: str, stretch: Range | None) -> None:
        self.uri = uri
        self._workspace = workspace
        self._range = stretch
        self._revision = workspace.revision(uri) or 0

    def is_in(self, uri: str) -> bool:
        """Return whether the range is in this document."""
        return canonical(uri) == canonical(self.uri)

    def touches(self, uri: str, stretch: Range) -> bool:
        """Return whether the range shares a line with a range of a document."""
        return self.is_in(uri) and (
            self._range is None or self.current_range().touches_lines_of(stretch)
        )

    def current_range(self) -> Range:
        """Return the range in the current text, or the last known range if the changes are
        unknown.
        """
        if self._range is None:
            return Range(Position(0, 0), Position(0, 0))
        changes = self._workspace.changes_since(self.uri, self._revision)
        if changes is None:
            self._revision = self._workspace.revision(self.uri) or 0
            return self._range
        self._range = map_range(self._range, changes)
        self._revision += len(changes)
        return self._range


DELAY = 0.05
"""The time for which changes are collected before diagnostics are published, in seconds."""
LENS_DELAY = 0.2
"""The same, in seconds, for code lenses, which the editor must request again for each file."""


class DiagnosticsPublisher:
    """The publisher of the diagnostics of all files with hunks, questions or dead links.

    Attributes:
        dead_links: A function that returns the diagnostics of the dead links of a document, while
            any are shown: the editor stores one list for each document.
        in_other_editors: A function that returns the lines of the hunks of a document that wait in
            other editors, each with a message; None until there are other editors.
    """

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, client: Client) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._due: set[str] = set()
        self._refresh_due = False
        self._lensed: dict[str, tuple[tuple[str, HunkState], ...]] = {}
        self._questions: dict[str, Question] = {}
        self._places: dict[str, TrackedLocation] = {}
        self.dead_links: Callable[[str], list[lsp.Diagnostic]] | None = None
        self.in_other_editors: Callable[[str], Sequence[tuple[Range, str]]] | None = None

    def schedule(self, uri: str) -> None:
        """Schedule the publication of a document's diagnostics."""
        if uri not in self._due:
            self._due.add(uri)
            asyncio.get_running_loop().call_later(DELAY, self._publish_due, uri)

    def flush(self) -> None:
        """Publish all scheduled diagnostics now."""
        for uri in tuple(self._due):
            self._publish(uri)

    def turn_started(self, turn: Turn) -> None:
        """Record the location of a turn's prompt: the user may type before the turn has a
        question.
        """
        uri = turn.ask.place.uri or self._workspace.activity.active
        if uri is not None:
            self._places[turn.id] = TrackedLocation(self._workspace, uri, turn.ask.place.range)

    def show_question(self, turn_id: str, question: Question) -> None:
        """Show a question at the location of its turn, until the question is cleared."""
        self._questions[turn_id] = question
        if place := self._places.get(turn_id):
            self.schedule(place.uri)

    def clear_question(self, turn_id: str) -> None:
        """Remove the question of a turn, if it has one, after the answer."""
        if self._questions.pop(turn_id, None) and (place := self._places.get(turn_id)):
            self.schedule(place.uri)

    def turn_ended(self, turn_id: str) -> None:
        """Remove the question and the location of a turn that is over, and publish its last hunks:
        the message about them comes next.
        """
        self.clear_question(turn_id)
        self._places.pop(turn_id, None)
        self.flush()

    def pending_questions(self) -> list[tuple[str, Question, TrackedLocation | None]]:
        """Return the turns that wait for an answer, the longest wait first, each with its question
        and its location.
        """
        return [
            (turn_id, question, self._places.get(turn_id))
            for turn_id, question in self._questions.items()
        ]

    def _publish_due(self, uri: str) -> None:
        if uri in self._due:
            self._publish(uri)

    def _publish(self, uri: str) -> None:
        self._due.discard(uri)
        hunks = [hunk for hunk in self._ledger.live(uri) if hunk.state in OPEN]
        # An empty list is always sent too: it removes the diagnostics of decided hunks.
        lines = hunk_lines(uri, self._workspace, self._ledger)
        found = [self.diagnostic(hunk, lines) for hunk in hunks]
        for _, question, place in self.pending_questions():
            if place is not None and place.is_in(uri):
                at, data = self._range(place.current_range(), lines), {"question": question.id}
                found.append(create_diagnostic(at, escape(question.text), "question", data))
        if self.dead_links is not None:
            found += self.dead_links(uri)
        hint = lsp.DiagnosticSeverity.Hint
        for stretch, message in self.in_other_editors(uri) if self.in_other_editors else ():
            at = self._range(stretch, lines)
            found.append(create_diagnostic(at, message, "other-editor", {}, hint))
        # The editor identifies the file by its own spelling of the URI, which the hunks have.
        self._client.publish_diagnostics(self._ledger.spelling(uri), found)
        # The editor requests lenses again after every change of the text.
        lensed = tuple((hunk.id, hunk.state) for hunk in hunks)
        if lensed != self._lensed.pop(uri, ()) and not self._refresh_due:
            self._refresh_due = True
            asyncio.get_running_loop().call_later(LENS_DELAY, self._refresh_lenses)
        if lensed:
            self._lensed[uri] = lensed

    def _refresh_lenses(self) -> None:
        self._refresh_due = False
        self._client.refresh_lenses()

    def diagnostic(self, hunk: Hunk, lines: Sequence[str]) -> lsp.Diagnostic:
        """Return the diagnostic of a hunk; `lines` are the lines of the hunk's document."""
        place = self.hunk_range(hunk, lines)
        data: dict[str, str | int] = {"hunk": hunk.id, "kind": str(hunk.kind)}
        version = self._workspace.version(hunk.uri)
        if version is not None and self._client.capabilities.draws_hunks:
            data["version"] = version
        message = describe(hunk, with_diff=not self._client.capabilities.draws_hunks)
        if hunk.state is HunkState.CONFLICT:
            severity = lsp.DiagnosticSeverity.Warning
            return create_diagnostic(place, message, "conflict", data, severity)
        return create_diagnostic(place, message, "proposal", data)

    def hunk_range(self, hunk: Hunk, lines: Sequence[str]) -> lsp.Range:
        """Return the range of the lines at which a hunk is shown; `lines` are those of its
        document.
        """
        if hunk.kind is HunkKind.CREATE:
            return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
        return self._range(self.shown_range(hunk, lines), lines)

    def shown_range(self, hunk: Hunk, lines: Sequence[str]) -> Range:
        """Return the range at which this editor shows a hunk; `lines` are those of its document.

        An editor that draws hunks shows an insertion above the line before which it goes, other
        editors show it at the line above.
        """
        line = hunk.range.start.line
        if self._client.capabilities.draws_hunks and "".join(lines[line : line + 1]):
            return hunk.range
        return hunk.shown_at

    def _range(self, stretch: Range, lines: Sequence[str]) -> lsp.Range:
        """Return a range of whole lines, never empty: some editors offer no actions at an empty
        range.
        """
        if len(lines) == 1 and not lines[0]:
            return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
        first = min(stretch.start.line, len(lines) - 1)
        last = min(max(first, stretch.last_line), len(lines) - 1)
        body = lines[last].rstrip("\r\n")
        end = Position(last, len(body)) if body else Position(last + 1, 0)
        place = Range(Position(first, 0), end)
        return convert.to_wire_range(place, lines, self._workspace.encoding)


def create_diagnostic(
    place: lsp.Range,
    message: str,
    code: str,
    data: Mapping[str, str | int],
    severity: lsp.DiagnosticSeverity = lsp.DiagnosticSeverity.Information,
) -> lsp.Diagnostic:
    """Return a diagnostic of Stet; the editor sends `data` back when it requests code actions."""
    return lsp.Diagnostic(place, message, severity, code, source="stet", data=data)
