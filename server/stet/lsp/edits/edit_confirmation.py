"""Wait for the text that the editor sends after an edit: it decides whether the edit was applied.

An edit may have been applied to another text than it was made for: some editors check no version.
If the user types while the edit is in flight, such an editor applies it at the same line and column
numbers of the newer text. The text that the editor sends shows this: a later text was changed at
those numbers, not at the intended place. Then the edit can be undone.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate, product

from stet.lsp.editor_client import ApplyOutcome, Client
from stet.review.ledger import ReviewLedger
from stet.review.proposal import LIVE, HunkState
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.lines import line_end, n_breaks
from stet.text.position import Position
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

MAX_CHANGES = 50
"""The most changes since the edit that are replayed."""
MAX_LINES = 5_000
"""The most lines of a large document that are replayed."""


def find_misapplied(
    document: TextDocument, edit: TextEdit, changes: Sequence[TextChange]
) -> TextDocument | None:
    """Return the user's text at the time when an edit was applied in the wrong place.

    Return None if the edit was not misapplied, or the user has typed after it.

    Args:
        document: The document that the edit was made for.
        edit: The edit as it was sent.
        changes: All changes of the text since then, in order.
    """
    if not 2 <= len(changes) <= MAX_CHANGES:
        return None
    if document.is_large:
        return _find_misapplied_nearby(document, edit, changes)
    texts = list(accumulate(changes, _text_after, initial=document))
    for n, comes_first in product(range(len(changes)), (False, True)):
        intended = _rebase_edit(edit, texts[:n], changes[:n], comes_first=comes_first)
        later = {text.text for text in texts[n + 1 :]}
        if intended is not None and intended.apply(texts[n].text) in later:
            return None  # the edit was applied at its intended place
    now = texts[-1].text
    original = (
        text
        for text in texts[1:-1]
        if _reinterpret_positions(document, edit, text).apply(text.text) == now
    )
    return next(original, None)


def _find_misapplied_nearby(
    document: TextDocument, edit: TextEdit, changes: Sequence[TextChange]
) -> TextDocument | None:
    """Find the user's text of a large document from the lines around the edit and the changes only.

    Return None also if these are more than `MAX_LINES`: the edit then counts as not applied.
    """
    places = [document.position_at(at) for one in edit.replacements for at in (one.start, one.end)]
    places += [at for change in changes for at in (change.range.start, change.range.end)]
    n_typed = sum(n_breaks(change.text) for change in changes)
    n_written = sum(n_breaks(one.text) for one in edit.replacements)
    n_taken = sum(change.range.end.line - change.range.start.line for change in changes)
    first = max(0, min(place.line for place in places) - n_typed - n_written - 1)
    last = max(place.line for place in places) + n_taken + 1
    end = min(len(document.lines), last + 1)
    if not edit.replacements or end - first > MAX_LINES:
        return None
    start = document.offset_at(Position(first, 0))
    about = TextDocument(document.uri, "".join(document.lines[first:end]))
    moved = (Replacement(one.start - start, one.end - start, one.text) for one in edit.replacements)
    shifted = [TextChange(change.range.shifted(-first), change.text) for change in changes]
    original = find_misapplied(about, TextEdit(tuple(moved)), shifted)
    if original is None:
        return None
    text = (*document.lines[:first], original.text, *document.lines[end:])
    return TextDocument(document.uri, "".join(text))


def _text_after(document: TextDocument, change: TextChange) -> TextDocument:
    start, end = document.offset_at(change.range.start), document.offset_at(change.range.end)
    return TextDocument(document.uri, document.text[:start] + change.text + document.text[end:])


def _reinterpret_positions(document: TextDocument, edit: TextEdit, other: TextDocument) -> TextEdit:
    """Return the edit at the same lines and columns of another text, clipped to its ends."""

    def moved(offset: int) -> int:
        return other.offset_at(document.position_at(offset))

    return TextEdit(
        tuple(Replacement(moved(one.start), moved(one.end), one.text) for one in edit.replacements)
    )


def _rebase_edit(
    edit: TextEdit,
    texts: Sequence[TextDocument],
    changes: Sequence[TextChange],
    *,
    comes_first: bool,
) -> TextEdit | None:
    """Return the edit rebased over changes, or None if a change overlaps the edit.

    Args:
        edit: The edit for the first of `texts`.
        texts: For each change, the text before it.
        changes: The changes, in order.
        comes_first: Whether lines that the edit inserts between two lines come before text typed
            there.
    """
    replacements = edit.replacements
    for text, change in zip(texts, changes, strict=True):
        start, end = text.offset_at(change.range.start), text.offset_at(change.range.end)
        shift = len(change.text) - (end - start)
        if any(start < replacement.end and end > replacement.start for replacement in replacements):
            return None
        between = end if comes_first and text.position_at(end).character == 0 else -1
        replacements = tuple(
            one
            if end > one.start or (one.start == one.end == between and line_end(one.text))
            else Replacement(one.start + shift, one.end + shift, one.text)
            for one in replacements
        )
    return TextEdit(replacements)


CONFIRM_SECONDS = 5.0
"""The time limit for the text after the editor has confirmed an edit; eglot waits half a second."""
CONFIRM_AFTER_CHANGE_SECONDS = 1.0
"""The time limit once other text has arrived: Neovim confirms an edit and then drops the edit."""
UNOPENED_SECONDS = 2.0
"""The time limit for a file that is not open to be opened or changed on the disk."""
DISK_POLL_SECONDS = 0.1
"""The interval at which the disk is read: a disk sends no events."""
OPENED_SECONDS = 2.0
"""The time limit for an editor to open a file that it has agreed to show."""


def shorten_timeout(limit: asyncio.Timeout) -> None:
    """Let a timeout end in at most `CONFIRM_AFTER_CHANGE_SECONDS`: other text has arrived."""
    soon = asyncio.get_running_loop().time() + CONFIRM_AFTER_CHANGE_SECONDS
    limit.reschedule(min(limit.when() or soon, soon))


_ACCEPTABLE = frozenset({HunkState.PENDING, HunkState.SENT})


class EditConfirmation:
    """The service that waits for sent edits to appear in the text of their documents."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, client: Client) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._shows = True
        self._expected: dict[str, set[str]] = {}

    async def wait_confirmed(
        self, document: TextDocument, edit: TextEdit, outcome: ApplyOutcome
    ) -> bool:
        """Wait until the text contains the whole edit, or the time is up; return whether it does.

        Args:
            document: The document that the edit was made for.
            edit: The edit as it was sent.
            outcome: The editor's answer.
        """
        unseen = document.version is None
        if not outcome.applied:
            # Some editors deny an edit that they have applied.
            if self.find_misapplied(document, edit) is not None:
                return False
            is_applied = self._ledger.outbox.arrived(document.uri)
            return is_applied or (unseen and await self._is_on_disk(document.uri))
        if unseen and not await self._show_and_wait(document):
            return self._ledger.outbox.arrived(document.uri)
        return await self._wait_in_document(document, edit)

    def is_open(self, uri: str) -> bool:
        """Return whether the document is open: the editor has sent its text."""
        return self._workspace.document(uri) is not None

    async def wait_for_text(self, uri: str, text: str) -> bool:
        """Wait until a document has this text, or the time is up; return whether it has."""
        with suppress(TimeoutError), self._changes_of(uri) as changed:
            async with asyncio.timeout(CONFIRM_SECONDS):
                while (now := self._workspace.document(uri)) is not None and now.text != text:
                    changed.clear()
                    await changed.wait()
                return now is not None
        return False

    async def wait_arrived(self, uris: Iterable[str], seconds: float) -> None:
        """Wait until the edits that were sent for some documents have arrived, or the time is
        up.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for uri in uris:
                    with self._changes_of(uri) as changed:
                        while not self._ledger.outbox.arrived(uri):
                            changed.clear()
                            await changed.wait()

    @contextmanager
    def _changes_of(self, uri: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set whenever the text or the hunks of a document change."""
        changed = asyncio.Event()

        def hunks_changed(other: str) -> None:
            if canonical(other) == canonical(uri):
                changed.set()

        self._ledger.subscribe(hunks_changed)
        try:
            yield changed
        finally:
            self._ledger.unsubscribe(hunks_changed)

    def find_misapplied(self, document: TextDocument, edit: TextEdit) -> TextDocument | None:
        """Return the user's text before the edit was applied in the wrong place, or None if the
        edit was not misapplied.
        """
        changes = self._workspace.changes_since(document.uri, document.revision)
        if document.version is None or changes is None:
            return None
        return find_misapplied(document, edit, changes)

    async def _wait_in_document(self, document: TextDocument, edit: TextEdit) -> bool:
        """Wait for the text of an open document; return whether it contains the edit."""
        now = self._workspace.document(document.uri)
        version = document.version if document.version is not None or now is None else now.version
        with suppress(TimeoutError), self._changes_of(document.uri) as changed:
            async with asyncio.timeout(CONFIRM_SECONDS) as limit:
                while self.find_misapplied(document, edit) is None:
                    if self._ledger.outbox.arrived(document.uri):
                        return True
                    now = self._workspace.document(document.uri)
                    if now is not None and now.version != version:
                        shorten_timeout(limit)
                    changed.clear()
                    await changed.wait()
        return False

    async def _show_and_wait(self, document: TextDocument) -> bool:
        """Wait until a file that was not open when its edit was sent is open; return whether it is.

        Most editors open the file to edit it, if they use Stet for such files; some edit it on the
        disk. Otherwise the edit may be in a buffer that the editor has not reported: so the editor
        is asked to show the file, which changes nothing. If the editor does not open it even then,
        it is not asked for later files.
        """
        uri = document.uri
        if await self._wait_opened(uri, UNOPENED_SECONDS) or self._ledger.outbox.arrived(uri):
            return self.is_open(uri)
        if not self._shows or await self._disk_text(uri) not in {None, document.text}:
            return False
        if not await self._client.show_document(uri, take_focus=False):
            return False
        self._shows = await self._wait_opened(uri, OPENED_SECONDS)
        return self._shows

    async def _wait_opened(self, uri: str, seconds: float) -> bool:
        """Wait until a file is open, or the edit is on the disk; return whether the file is
        open.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not self.is_open(uri) and loop.time() < end:
            if await self._is_on_disk(uri):
                break
            await asyncio.sleep(DISK_POLL_SECONDS)
        return self.is_open(uri)

    async def _is_on_disk(self, uri: str) -> bool:
        """Read the text from the disk, as the editor may have written the file itself. Return
        whether the edit has arrived.
        """
        text = await self._disk_text(uri)
        if text is None:
            return False
        self._ledger.on_disk(uri, text)
        return self._ledger.outbox.arrived(uri)

    async def _disk_text(self, uri: str) -> str | None:
        path = path_of(uri)
        if path is None:
            return None
        system = self._workspace.snapshot().system
        try:
            return decode(await asyncio.to_thread(system.read_bytes, path, MAX_FILE_BYTES))
        except OSError:
            return None

    def expect(self, uri: str, hunk_ids: Iterable[str]) -> None:
        """Watch hunks whose edit was not confirmed in time: they become accepted as soon as the
        text contains them.
        """
        if not self._expected:
            self._ledger.subscribe(self._hunks_changed)
        self._expected.setdefault(canonical(uri), set()).update(hunk_ids)
        # The edit may be in the text already, if this was not visible before.
        self._hunks_changed(uri)

    def _hunks_changed(self, uri: str) -> None:
        """Schedule a check whether the text contains the expected hunks of a document."""
        if canonical(uri) in self._expected:
            # Check later: the ledger is still processing the change of the text.
            asyncio.get_running_loop().call_soon(self._check, uri)

    def _check(self, uri: str) -> None:
        expected, document = self._expected.get(canonical(uri)), self._workspace.document(uri)
        if document is None and (text := self._ledger.base_text(uri)) is not None:
            document = TextDocument(uri, text)
        if expected is None or document is None or self._ledger.outbox.is_sent(uri):
            return
        hunks = [self._ledger.hunk(hunk_id) for hunk_id in expected]
        expected -= {hunk.id for hunk in hunks if hunk.state not in LIVE}
        there = [h.id for h in hunks if h.state in _ACCEPTABLE and h.old == h.new]
        if there:
            # The text contains these hunks, so sending them accepts them at once.
            self._ledger.outbox.send(document, there)
            expected -= set(there)
        if not expected:
            del self._expected[canonical(uri)]
            if not self._expected:
                self._ledger.unsubscribe(self._hunks_changed)
