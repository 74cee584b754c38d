"""The in-text review style: what is pending stands in the text, for users who have asked for that.

A turn's hunks are put into the text when the turn is over, so that its line numbers hold while it
works; an edit of a file that has blocks in it takes them out first. Where the editor refuses, the
hunks stay in the margin, which always works.
"""

import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any

from lsprotocol import types as lsp

from stet.agent.agent_events import AgentEvent, TurnEnded
from stet.lsp.editor_client import Client
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.edits.edit_errors import EditError
from stet.review.errors import WrongHunkState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import LIVE, OPEN, HunkState
from stet.settings.values import Settings
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

Start = Callable[[Coroutine[Any, Any, None], str], None]


class InlineStyle:
    """Has the editor put blocks into texts and take them out; a `BlockEditor` for the ledger."""

    def __init__(
        self,
        ledger: ReviewLedger,
        delivery: EditApplier,
        client: Client,
        settings: Callable[[], Settings],
        start: Start,
    ) -> None:
        """Create the style. `settings` returns the settings in force; `start` begins a task after
        the current answer.
        """
        self._ledger = ledger
        self._delivery = delivery
        self._client = client
        self._settings = settings
        self._start = start
        self._rejected: dict[str, dict[str, str]] = {}
        self._cleared: dict[str, str] = {}
        ledger.blocks.editor = self

    def handle_event(self, event: AgentEvent) -> None:
        """Handle an event of a turn: at its end, write its proposals into the text if the user
        wants that.
        """
        if not isinstance(event, TurnEnded) or self._settings().edit.review_style != "inline":
            return
        hunks = self._ledger.hunks(turn=event.turn.id)
        self._show([*(hunk.uri for hunk in hunks if hunk.state in LIVE), *self._cleared.values()])
        self._cleared = {}

    def restored(self, hunk_ids: Iterable[str]) -> None:
        """Show restored hunks, which are pending again, as blocks if the user wants that."""
        if self._settings().edit.review_style == "inline":
            self._show([self._ledger.hunk(hunk_id).uri for hunk_id in hunk_ids])

    def markers(self, hunk_id: str) -> None:
        """Put a conflict into the text, to be sorted out there."""
        self._start(self._mark(hunk_id), f"mark {hunk_id}")

    def reject(self, hunk_id: str, reason: str) -> None:
        """Have the block of a hunk that the user does not want taken out; those of a file together."""
        uri = self._ledger.hunk(hunk_id).uri
        waiting = self._rejected.setdefault(canonical(uri), {})
        if not waiting:
            self._start(self._take_out_rejected(uri), f"reject in {uri}")
        waiting[hunk_id] = reason

    async def amend(self, uri: str, texts: Mapping[str, str]) -> None:
        """Have the blocks of these hunks offer other lines than the agent wrote.

        Raises:
            WrongHunkState: If it could not be done; the hunks are as they were.
        """
        seen = {hunk_id: self._ledger.hunk(hunk_id).hash for hunk_id in texts}

        def edit_of(document: TextDocument) -> TextEdit | None:
            for hunk_id, new in texts.items():
                hunk = self._ledger.hunk(hunk_id)
                if hunk.new == new:
                    continue
                if hunk.hash != seen[hunk_id]:
                    raise EditError("It has been changed meanwhile.")
                if not self._ledger.blocks.is_whole(hunk_id):
                    _ = self._ledger.amend(hunk_id, new)
            return self._ledger.blocks.rewrite(document, texts)

        try:
            await self._delivery.write(uri, edit_of, "Stet: amend")
        except EditError as reason:
            raise WrongHunkState(str(reason)) from reason

    async def clear(self, uri: str) -> None:
        """Have all blocks of a file taken out; their hunks wait on in the margin."""

        def edit_of(document: TextDocument) -> TextEdit | None:
            return self._ledger.blocks.take_out(document, self._ledger.blocks.shown_blocks(uri))

        self._cleared[canonical(uri)] = uri
        try:
            await self._delivery.write(uri, edit_of, "Stet: take pending blocks out")
        except EditError as reason:
            log.warning("%s: its blocks stay: %s", uri, reason)

    def _show(self, uris: Iterable[str]) -> None:
        for uri in {canonical(uri): uri for uri in uris}.values():
            self._start(self._show_all(uri), f"show blocks in {uri}")

    async def _show_all(self, uri: str) -> None:
        def edit_of(document: TextDocument) -> TextEdit | None:
            blocks = self._ledger.blocks
            return blocks.show(document, blocks.showable(document))

        try:
            await self._delivery.write(uri, edit_of, "Stet: show what is pending")
        except EditError as reason:
            log.warning("%s: its hunks stay in the margin: %s", uri, reason)

    async def _mark(self, hunk_id: str) -> None:
        hunk = self._ledger.hunk(hunk_id)
        await self._apply_for_user(hunk.uri, self._edit_showing({hunk_id}), f"Stet: {hunk.summary}")

    def _edit_showing(self, hunk_ids: Collection[str]) -> Callable[[TextDocument], TextEdit | None]:
        def edit_of(document: TextDocument) -> TextEdit | None:
            edit = self._ledger.blocks.show(document, hunk_ids)
            if edit is None:
                raise EditError(
                    "These lines can't be shown with markers: their line ends are mixed, or a line of "
                    "the file reads like one of the marks."
                )
            return edit

        return edit_of

    async def _take_out_rejected(self, uri: str) -> None:
        reasons = self._rejected.pop(canonical(uri))

        def edit_of(document: TextDocument) -> TextEdit | None:
            for hunk_id, reason in reasons.items():
                is_block = self._ledger.blocks.is_whole(hunk_id)
                if not is_block and self._ledger.hunk(hunk_id).state in OPEN:
                    self._ledger.reject(hunk_id, reason)  # its block has been taken out meanwhile
            return self._ledger.blocks.take_out(document, reasons, HunkState.REJECTED, reasons)

        await self._apply_for_user(uri, edit_of, "Stet: reject")

    async def _apply_for_user(
        self, uri: str, edit_of: Callable[[TextDocument], TextEdit | None], label: str
    ) -> None:
        """Have an edit made that the user asked for; what is in the way they are told."""
        try:
            await self._delivery.write(uri, edit_of, label)
        except EditError as reason:
            log.warning("%s: %s", uri, reason)
            self._client.show_message(f"Stet: not done. {reason}", lsp.MessageType.Warning)
