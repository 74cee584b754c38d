"""Edits that come about after all: the user said yes, the editor gave no sign, then there it stood."""

import asyncio
from collections.abc import Iterable

from stet.review.ledger import ReviewLedger
from stet.review.proposal import LIVE, HunkState
from stet.text.document import TextDocument
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

_ACCEPTABLE = frozenset({HunkState.PENDING, HunkState.SENT})


class LateConfirmation:
    """Accepted hunks that wait again because they were not seen in the text in time."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._expected: dict[str, set[str]] = {}
        ledger.subscribe(self._note)

    def expect(self, uri: str, hunk_ids: Iterable[str]) -> None:
        """From now on these count as accepted once the text reads as they want it."""
        self._expected.setdefault(canonical(uri), set()).update(hunk_ids)
        self._note(uri)  # it may stand there already, where that could not be told before

    def _note(self, uri: str) -> None:
        if canonical(uri) in self._expected:
            # Not now: the ledger is in the middle of following the text.
            asyncio.get_running_loop().call_soon(self._check, uri)

    def _check(self, uri: str) -> None:
        waiting = self._expected.get(canonical(uri), set())
        document = self._document(uri)
        if document is None or self._ledger.outbox.is_sent(uri):
            return
        hunks = [self._ledger.hunk(hunk_id) for hunk_id in waiting]
        waiting -= {hunk.id for hunk in hunks if hunk.state not in LIVE}
        there = [h.id for h in hunks if h.state in _ACCEPTABLE and h.old == h.new]
        if there:
            # It changes nothing any more, so they are accepted at once.
            self._ledger.outbox.send(document, there)
            waiting -= set(there)
        if not waiting:
            self._expected.pop(canonical(uri), None)

    def _document(self, uri: str) -> TextDocument | None:
        """The text that the hunks of a file stand in, open or not."""
        if (opened := self._workspace.document(uri)) is not None:
            return opened
        text = self._ledger.base_text(uri)
        return None if text is None else TextDocument(uri, text)
