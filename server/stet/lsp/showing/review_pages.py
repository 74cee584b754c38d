"""Review pages in the editor: written, shown, and acted on when the user saves one.

A page stays as the user leaves it: what is on it then is what still waits. So nothing is ever
written into a page that is open; a new review beside it gets a file of its own.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from lsprotocol import types as lsp

from stet.lsp.client import Client
from stet.lsp.showing.own_documents import OwnDocuments
from stet.review.diff_document import ReviewPage, Verdicts, page_name, verdicts
from stet.review.errors import ReviewError
from stet.review.ledger import ReviewLedger
from stet.review.overview import overview
from stet.review.proposal import OPEN, Hunk
from stet.review.shown import as_shown
from stet.system.system import System
from stet.text.escape import escape_line
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

_PREFIX = "review"
_UNKNOWN = "This review is not of this session, or its first line is gone. Nothing was done."
_MOVED_ON = "it is another one than the page shows by now; `stet.review` shows it anew"


class ReviewPages:
    """All pages that were shown since the start, by the name in their first line."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        system: System,
        own: OwnDocuments,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._system = system
        self._own = own
        self._pages: dict[str, ReviewPage] = {}

    def open(self, hunks: Sequence[Hunk]) -> str:
        """Write and show the page of these hunks, which wait for a decision; gives its URI.

        Raises:
            OSError: If it can't be written.
        """
        snapshot = self._workspace.snapshot()
        texts = {hunk.uri: self._text(hunk.uri) for hunk in hunks}
        page = overview([as_shown(hunk, snapshot) for hunk in hunks], texts, snapshot.name_of)
        self._pages[page.name] = page
        file = self._free_name(page)
        uri = self._system.write_own(file, page.text).as_uri()
        self._client.start(self._client.show_document(uri), "show the review")
        return uri

    def saved(self, uri: str) -> None:
        """A document of Stet's own was saved: if it is a page, what it says is done."""
        document = self._own.document(uri)
        if document is None or not Path(document.uri).name.startswith(_PREFIX):
            return
        name = page_name(document.text)
        page = self._pages.get(name) if name else None
        if page is None:
            self._client.show_message(f"Stet: {_UNKNOWN}", lsp.MessageType.Warning)
            return
        self._carry_out(page, verdicts(page, document.text))

    def _carry_out(self, page: ReviewPage, said: Verdicts) -> None:
        shown = {section.hunk.id: section.hunk for section in page.sections}
        refused = list(said.refused)
        n_rejected = n_amended = 0
        for hunk_id in said.rejected:
            if self._ledger.hunk(hunk_id).state in OPEN:
                self._ledger.reject(hunk_id)
                n_rejected += 1
        for hunk_id, new in said.amended:
            if self._ledger.hunk(hunk_id).new == new:
                continue
            try:
                shown[hunk_id] = self._amended(shown[hunk_id], new)
                n_amended += 1
            except ReviewError as error:
                refused.append((hunk_id, str(error)))
        sections = [dataclasses.replace(s, hunk=shown[s.hunk.id]) for s in page.sections]
        self._pages[page.name] = dataclasses.replace(page, sections=tuple(sections))
        self._tell(n_rejected, n_amended, refused)

    def _amended(self, shown: Hunk, new: str) -> Hunk:
        """The hunk with another text to write.

        Raises:
            ReviewError: If it is not the one that was shown any more, or can't be amended.
        """
        now = self._ledger.hunk(shown.id)
        if now.state not in OPEN:
            raise ReviewError(f"it is {now.state} already")
        if now.hash != shown.hash:
            raise ReviewError(_MOVED_ON)
        return self._ledger.amend(shown.id, new)

    def _tell(self, n_rejected: int, n_amended: int, refused: list[tuple[str, str]]) -> None:
        counts = ((n_rejected, "rejected"), (n_amended, "amended"))
        done = [f"{n} hunk{'s' if n > 1 else ''} {what}" for n, what in counts if n]
        said = [", ".join(done)] if done else []
        said += [f"{hunk_id} is left alone: {escape_line(why)}" for hunk_id, why in refused]
        if said:
            kind = lsp.MessageType.Warning if refused else lsp.MessageType.Info
            self._client.show_message(f"Stet: {'; '.join(said)}.", kind)

    def _text(self, uri: str) -> str:
        document = self._workspace.shown(uri)
        return document.text if document else self._ledger.base_text(uri) or ""

    def _free_name(self, page: ReviewPage) -> str:
        """A file for a page: not one that the editor has open with something else.

        The roots are part of it, because servers of other workspaces write there as well.
        """
        roots = "\n".join(canonical(root.path.as_uri()) for root in self._workspace.roots)
        stem = f"{_PREFIX}-{sha256(roots.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        names = (f"{stem}{'' if n == 1 else f'-{n}'}.diff" for n in itertools.count(1))
        folder = self._system.state_folder()
        opened = ((name, self._own.document((folder / name).as_uri())) for name in names)
        return next(name for name, old in opened if old is None or old.text == page.text)
