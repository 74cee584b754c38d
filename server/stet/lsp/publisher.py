"""Pending hunks as diagnostics: what every editor shows without a plugin."""

import asyncio
import difflib
from collections.abc import Sequence

from lsprotocol import types as lsp

from stet.lsp import to_lsp
from stet.lsp.client import Client
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.escape import escape, escape_line
from stet.text.lines import split_lines
from stet.text.position import Position, Range
from stet.workspace.workspace import Workspace

SOURCE = "stet"
DELAY = 0.05
"""Seconds; what changes within is published once."""
MAX_DIFF_LINES = 12
_SHOWN = frozenset({HunkState.PENDING, HunkState.CONFLICT})


class Publisher:
    """Keeps the editor's diagnostics of every file with hunks up to date."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, client: Client) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._due: set[str] = set()
        ledger.listen(self.schedule)

    def schedule(self, uri: str) -> None:
        """Publish `uri` soon."""
        if uri not in self._due:
            self._due.add(uri)
            asyncio.get_running_loop().call_later(DELAY, self._publish, uri)

    def _publish(self, uri: str) -> None:
        self._due.discard(uri)
        hunks = [hunk for hunk in self._ledger.live(uri) if hunk.state in _SHOWN]
        # An empty list too, every time: a decision shows as a message, whatever was shown before.
        lines = self._lines(uri)
        found = [self._diagnostic(hunk, lines) for hunk in hunks]
        # The editor knows the file by its own spelling, which the hunks carry.
        self._client.publish_diagnostics(self._ledger.spelling(uri), found)

    def diagnostic(self, hunk: Hunk) -> lsp.Diagnostic:
        """The hunk as the editor shows it."""
        return self._diagnostic(hunk, self._lines(hunk.uri))

    def _lines(self, uri: str) -> Sequence[str]:
        buffer = self._workspace.buffer(uri)
        if buffer is not None:
            return buffer.lines
        return split_lines(self._ledger.base_text(uri) or "")

    def _diagnostic(self, hunk: Hunk, lines: Sequence[str]) -> lsp.Diagnostic:
        conflict = hunk.state is HunkState.CONFLICT
        return lsp.Diagnostic(
            range=self._range(hunk, lines),
            message=describe(hunk),
            severity=(
                lsp.DiagnosticSeverity.Warning if conflict else lsp.DiagnosticSeverity.Information
            ),
            code="conflict" if conflict else "proposal",
            source=SOURCE,
            data={"hunk": hunk.id},
        )

    def _range(self, hunk: Hunk, lines: Sequence[str]) -> lsp.Range:
        """Whole lines and never empty: some editors offer nothing at an empty range."""
        if hunk.kind is HunkKind.CREATE or (len(lines) == 1 and not lines[0]):
            return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
        first = min(hunk.range.start.line, len(lines) - 1)
        last = min(max(first, hunk.range.last_line), len(lines) - 1)
        # An addition behind the last line is shown on that line.
        if not lines[first] and first > 0 and first == len(lines) - 1:
            first = last = first - 1
        body = lines[last].rstrip("\r\n")
        end = Position(last, len(body)) if body else Position(last + 1, 0)
        place = Range(Position(first, 0), end)
        return to_lsp.range_(place, lines, self._workspace.encoding)


def describe(hunk: Hunk) -> str:
    """Summary and a short diff, safe to show: the model's text may hold control characters."""
    head = escape_line(hunk.summary or "A proposal")
    if hunk.state is HunkState.CONFLICT:
        head += f"\n(does not apply now: {hunk.reason})"
    if hunk.kind is HunkKind.CREATE:
        diff = [f"+{line}" for line in hunk.new.splitlines()]
    else:
        diff = [
            line
            for line in difflib.ndiff(hunk.old.splitlines(), hunk.new.splitlines())
            if not line.startswith("?")
        ]
        diff = [line[0] + line[2:] for line in diff]
    shown = diff[:MAX_DIFF_LINES]
    if len(diff) > MAX_DIFF_LINES:
        shown.append(f"… {len(diff) - MAX_DIFF_LINES} more lines")
    return "\n".join([head, *(escape(line) for line in shown)])
