"""Blocks in the text: hunks that are shown as blocks, and blocks that another program has written.

`InlineStyle` (`edit.reviewStyle: "inline"`) inserts the blocks of a turn when the turn is over, so
that line numbers stay valid while it runs. An edit of a file removes the file's blocks first. If
the editor refuses the blocks, the hunks are shown in the margin only, which always works.

`BlockImport` searches for blocks when a note is opened or saved or a block is typed, and in a note
that is not open when the user names it or the agent proposes a change of it. A worker thread
searches; the ledger imports the blocks on the event loop, after the hunks of earlier runs are
restored, so that the block of a hunk is not imported twice. Notes that the agent only reads are
left out: "accept all" would accept changes that the user has not asked about.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from stet.agent.agent_events import AgentEvent, TurnEnded
from stet.agent.turn import Ask
from stet.lsp.editor_client import Client
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.edits.edit_sender import EditError
from stet.review.errors import WrongHunkState
from stet.review.inline.imported_hunks import AUTHOR, BlockDraft, find_blocks_in
from stet.review.ledger import ReviewLedger
from stet.review.proposal import LIVE, OPEN, HunkState
from stet.text.document import TextDocument
from stet.text.edit import TextChange, TextEdit
from stet.text.stripped_document import SIGN
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical, is_tracked
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)


class InlineStyle:
    """The `BlockEditor` of the ledger, which inserts and removes blocks in the editor's texts."""

    def __init__(
        self, workspace: Workspace, ledger: ReviewLedger, delivery: EditApplier, client: Client
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._delivery = delivery
        self._client = client
        self._rejected: dict[str, dict[str, str]] = {}
        self._cleared: dict[str, str] = {}
        ledger.blocks.editor = self

    @property
    def _is_wanted(self) -> bool:
        return self._workspace.settings.edit.review_style == "inline"

    def handle_event(self, event: AgentEvent) -> None:
        """Handle an event of a turn: at its end, insert the blocks of its hunks if this is
        enabled.
        """
        if not isinstance(event, TurnEnded) or not self._is_wanted:
            return
        hunks = self._ledger.hunks(turn=event.turn.id)
        self._show([*(hunk.uri for hunk in hunks if hunk.state in LIVE), *self._cleared.values()])
        self._cleared = {}

    def restored(self, hunk_ids: Iterable[str]) -> None:
        """Insert the blocks of restored hunks, which are pending again, if this is enabled."""
        if self._is_wanted:
            self._show([self._ledger.hunk(hunk_id).uri for hunk_id in hunk_ids])

    def markers(self, hunk_id: str) -> None:
        """Start to insert the conflict markers of a hunk, so that the user can resolve it in the
        text.
        """
        self._client.start(self._mark(hunk_id), f"mark {hunk_id}")

    def reject(self, hunk_id: str, reason: str) -> None:
        """Start to reject a hunk and remove its block; one edit removes all such blocks of a
        file.
        """
        uri = self._ledger.hunk(hunk_id).uri
        waiting = self._rejected.setdefault(canonical(uri), {})
        if not waiting:
            self._client.start(self._take_out_rejected(uri), f"reject in {uri}")
        waiting[hunk_id] = reason

    async def amend(self, uri: str, texts: Mapping[str, str]) -> None:
        """Replace the proposed text of hunks, in their blocks too; `texts` is by hunk id.

        Raises:
            WrongHunkState: If this was not possible; the hunks are then unchanged.
        """
        seen = {hunk_id: self._ledger.hunk(hunk_id).hash for hunk_id in texts}

        def edit_of(document: TextDocument) -> TextEdit | None:
            for hunk_id, new in texts.items():
                hunk = self._ledger.hunk(hunk_id)
                if hunk.new == new:
                    continue
                if hunk.hash != seen[hunk_id]:
                    raise EditError("It has changed since.")
                if not self._ledger.blocks.is_whole(hunk_id):
                    _ = self._ledger.amend(hunk_id, new)
            return self._ledger.blocks.rewrite(document, texts)

        try:
            await self._delivery.write(uri, edit_of, "Stet: amend")
        except EditError as reason:
            raise WrongHunkState(str(reason)) from reason

    async def clear(self, uri: str) -> None:
        """Remove all blocks of a file; their hunks stay pending in the margin."""

        def edit_of(document: TextDocument) -> TextEdit | None:
            return self._ledger.blocks.take_out(document, self._ledger.blocks.shown_blocks(uri))

        self._cleared[canonical(uri)] = uri
        await self._write(uri, edit_of, "Stet: remove pending blocks")

    def _show(self, uris: Iterable[str]) -> None:
        blocks = self._ledger.blocks

        def edit_of(document: TextDocument) -> TextEdit | None:
            return blocks.show(document, blocks.showable(document))

        for uri in {canonical(uri): uri for uri in uris}.values():
            work = self._write(uri, edit_of, "Stet: show pending hunks")
            self._client.start(work, f"show blocks in {uri}")

    async def _mark(self, hunk_id: str) -> None:
        hunk = self._ledger.hunk(hunk_id)

        def edit_of(document: TextDocument) -> TextEdit:
            edit = self._ledger.blocks.show(document, {hunk_id})
            if edit is None:
                raise EditError(
                    "These lines can't be shown with markers: the line endings are mixed, or a "
                    "line looks like a marker."
                )
            return edit

        await self._write(hunk.uri, edit_of, f"Stet: {hunk.summary}", is_asked=True)

    async def _take_out_rejected(self, uri: str) -> None:
        reasons = self._rejected.pop(canonical(uri))

        def edit_of(document: TextDocument) -> TextEdit | None:
            for hunk_id, reason in reasons.items():
                is_block = self._ledger.blocks.is_whole(hunk_id)
                if not is_block and self._ledger.hunk(hunk_id).state in OPEN:
                    self._ledger.reject(hunk_id, reason)  # its block was removed meanwhile
            return self._ledger.blocks.take_out(document, reasons, HunkState.REJECTED, reasons)

        await self._write(uri, edit_of, "Stet: reject", is_asked=True)

    async def _write(
        self,
        uri: str,
        edit_of: Callable[[TextDocument], TextEdit | None],
        label: str,
        *,
        is_asked: bool = False,
    ) -> None:
        """Apply an edit. If this fails, the text is unchanged: log the reason, and inform the user
        if they requested the edit (`is_asked`).
        """
        try:
            await self._delivery.write(uri, edit_of, label)
        except EditError as reason:
            log.warning("%s: its hunks stay as they are shown: %s", uri, reason)
            if is_asked:
                self._client.warn(f"Stet: failed. {reason}")


MOMENT_SECONDS = 0.1
"""The time for which changes are collected."""
_MOST_NAMED = 5
"""The most unreadable blocks that one message names."""
_MOST_TEXT = 20_000_000
"""The most characters of a note; hunks in a longer one would delay the server at each change."""
_LONG_LINE = 10_000
"""The most characters of a line that may begin a block."""


class BlockImport:
    """The import of blocks from the editor's notes into the ledger; used on the event loop only.

    Attributes:
        notes: The canonical URIs of the open documents that may hold blocks.
    """

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, client: Client) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self.notes: set[str] = set()
        self._may_begin = False
        self._is_looking = False
        self._due: dict[str, bool] = {}
        self._current = ""
        self._watched: set[str] = set()
        self._proposed: dict[str, frozenset[str]] = {}
        """By canonical URI of a closed note, the agent's hunks at its last import."""
        self._reported: set[tuple[str, str]] = set()

    async def import_restored(self) -> None:
        """Import blocks from documents that were opened before the hunks of earlier runs were
        restored.
        """
        self._may_begin = True
        await self._import_due()

    def opened(self, uri: str) -> None:
        """Handle a document that was opened or saved: import its blocks and report unreadable
        ones.
        """
        if self._is_note(uri):
            self.notes.add(canonical(uri))
            self._schedule_import(uri, notify=True)
        else:
            self.notes.discard(canonical(uri))

    def changed(self, uri: str, changes: Iterable[TextChange], lines: Sequence[str]) -> None:
        """Handle a change of one of the `notes`; this runs at every keystroke.

        Args:
            uri: The URI of the note.
            changes: The changes, in order.
            lines: The lines of the note after the changes.
        """
        if canonical(uri) in self._watched or any(
            SIGN in change.text or _may_begin_block(lines, change.range.start.line)
            for change in changes
        ):
            self._schedule_import(uri, notify=False)

    def closed(self, uri: str) -> None:
        """Handle a document that was closed."""
        self.notes.discard(canonical(uri))
        self._watched.discard(canonical(uri))

    def needs_import(self, uri: str) -> bool:
        """Return whether `import_named` may find blocks in a document: the document is a note that
        is not open, or an open note that has changed since the last import.
        """
        if not self._may_begin or not self._is_note(uri):
            return False
        key = canonical(uri)
        is_open = self._workspace.buffer(uri) is not None
        return not is_open or key == self._current or key in self._due

    async def import_named(self, uri: str) -> None:
        """Import the blocks of a note that the user has named."""
        if not self.needs_import(uri):
            return
        if self._workspace.buffer(uri) is None:
            await self._import_closed(uri, self._workspace.snapshot().asked_about(uri))
        else:
            await self._import_open(uri, notify=self._due.pop(canonical(uri), False))

    async def import_asked(self, ask: Ask) -> None:
        """Import the blocks of the notes that a question names: its own document and attached
        files.
        """
        attached = ask.attachments or self._workspace.attachments
        about = [ask.place.uri] if ask.place.uri else []
        for uri in (*about, *(attached.files if attached else ())):
            await self.import_named(uri)

    def hunks_changed(self, uri: str) -> None:
        """Import the blocks of a closed note for which the agent has proposed a change."""
        if not self._may_begin or self._workspace.buffer(uri) is not None or not self._is_note(uri):
            return
        key, hunks = canonical(uri), self._ledger.live(uri)
        proposed = frozenset(hunk.id for hunk in hunks if hunk.author != AUTHOR)
        is_new = not proposed <= self._proposed.get(key, frozenset())
        self._proposed[key] = proposed
        if is_new:
            work = self._import_closed(uri, self._workspace.snapshot())
            self._client.start(work, "blocks in a closed note")

    def _is_note(self, uri: str) -> bool:
        """Return whether a document may hold blocks: by its name and language, not its text."""
        language = self._workspace.language(uri)
        return is_tracked(uri) and TextDocument(uri, "", language_id=language).is_markdown

    def _schedule_import(self, uri: str, *, notify: bool) -> None:
        key = canonical(uri)
        self._due[key] = notify or self._due.get(key, False)
        if self._may_begin and not self._is_looking:
            self._client.start(self._import_due(), "blocks in notes")

    async def _import_due(self) -> None:
        if self._is_looking:
            return
        self._is_looking = True
        now = asyncio.get_running_loop().time
        try:
            while self._due:
                began, due = now(), tuple(self._due)
                for uri in due:
                    self._current = uri
                    if (notify := self._due.pop(uri, None)) is not None:
                        await self._import_open(uri, notify=notify)
                self._current = ""
                if self._due:
                    # A slow search is not repeated without a pause while the user types.
                    await asyncio.sleep(max(MOMENT_SECONDS, now() - began))
        finally:
            self._is_looking, self._current = False, ""

    async def _import_closed(self, uri: str, snapshot: Snapshot) -> None:
        """Import the blocks of a note that is not open."""
        draft = await asyncio.to_thread(_find_on_disk, uri, snapshot)
        if self._workspace.buffer(uri) is not None:
            await self._import_open(uri, notify=True)
        elif draft is not None:
            if self._ledger.is_tracked(uri):
                self._ledger.on_disk(uri, draft.document.text)
            _ = self._ledger.import_blocks(draft, draft.document)
            self._report(draft)

    async def _import_open(self, uri: str, *, notify: bool) -> None:
        document = self._workspace.document(uri)
        if document is None:
            return
        snapshot = self._workspace.snapshot()
        draft = await asyncio.to_thread(find_blocks_in, document, snapshot)
        now, buffer = self._workspace.document(uri), self._workspace.buffer(uri)
        if now is None or buffer is None:
            return
        if buffer.size > _MOST_TEXT:
            self._report_too_long(draft, buffer.size)
            return
        if draft.blocks or draft.bad:
            self._watched.add(canonical(uri))
        else:
            self._watched.discard(canonical(uri))
        if not self._ledger.import_blocks(draft, now):
            self._schedule_import(uri, notify=notify)
        elif notify:
            self._report(draft)

    def _report(self, draft: BlockDraft) -> None:
        """Report unreadable blocks to the user, each block once."""
        document = draft.document
        fresh = []
        for bad in draft.bad:
            # A block that has moved in the file is the same block.
            beginning = "".join(document.lines[bad.line : bad.line + 3])[:_LONG_LINE]
            if self._is_unreported(document, f"{bad.problem}\n{beginning}"):
                fresh.append(bad)
        if not fresh:
            return
        name = self._workspace.snapshot().name_of(document.uri)
        message = "; ".join(f"line {bad.line + 1}: {bad.problem}" for bad in fresh[:_MOST_NAMED])
        more = f"; and {len(fresh) - _MOST_NAMED} more" if len(fresh) > _MOST_NAMED else ""
        log.warning("%s: %s blocks of another program can't be read", document.uri, len(fresh))
        self._client.warn(
            f"Stet: {name}: an `{SIGN}` block is invalid and was left unchanged: {message}{more}"
        )

    def _report_too_long(self, draft: BlockDraft, size: int) -> None:
        """Report once that the blocks of a note are not imported because the note is too long."""
        if draft.blocks and self._is_unreported(draft.document, "too long"):
            name = self._workspace.snapshot().name_of(draft.document.uri)
            self._client.warn(
                f"Stet: {name} has {size:,} characters; `{SIGN}` blocks become hunks only in "
                f"notes of at most {_MOST_TEXT:,} characters. Split the note to review them."
            )

    def _is_unreported(self, document: TextDocument, what: str) -> bool:
        """Return whether `what` is reported for a document for the first time, and record it."""
        known = (canonical(document.uri), what)
        is_news = known not in self._reported
        self._reported.add(known)
        return is_news


def _find_on_disk(uri: str, snapshot: Snapshot) -> BlockDraft | None:
    """Return the blocks of a file; None if the file can't or must not be read. Block on the
    disk.
    """
    try:
        document = snapshot.document_with_blocks(uri)
    except NotShown:
        return None
    return find_blocks_in(document, snapshot)


def _may_begin_block(lines: Sequence[str], number: int) -> bool:
    """Return whether a line may begin a block."""
    line = lines[number] if number < len(lines) else ""
    return len(line) <= _LONG_LINE and SIGN in line
