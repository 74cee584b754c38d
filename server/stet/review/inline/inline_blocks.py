"""Hunks that are shown as blocks in the text: insertion, removal and change of blocks.

The editor changes the text, and the text that the editor reports counts: a hunk is a block as soon
as its block is in the text.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import Protocol

from stet.review.errors import WrongHunkState
from stet.review.hunk_store import HunkStore
from stet.review.inline_sync import anchor_as_block, as_block_hunk, replace_anchor, replaced_text
from stet.review.proposal import WHOLE_FILE, Hunk, HunkState
from stet.review.rebase import catch_up
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.edit_plan import HunkEdit, plan_write
from stet.review.tracking.tracked_document import TrackedDocument
from stet.text.block_codec import InlineBlock, block_ids_in, form_for, render_block
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.lines import dominant_line_end, front_matter_end, line_end, line_ends, split_lines
from stet.text.reindent import adopt_known_line_ends


class BlockEditor(Protocol):
    """The port that has the editor change and remove blocks."""

    def reject(self, hunk_id: str, reason: str) -> None:
        """Schedule the removal of a rejected hunk's block, to run after this call."""
        ...

    async def amend(self, uri: str, texts: Mapping[str, str]) -> None:
        """Replace the agent's lines in the blocks of these hunks.

        Raises:
            ReviewError: If this failed; the hunks are unchanged.
        """
        ...

    async def clear(self, uri: str) -> None:
        """Remove all blocks of a file; their hunks remain pending without blocks."""
        ...


class InlineBlocks:
    """The part of the ledger with the hunks that are shown as blocks.

    Attributes:
        editor: The port to the editor; None before it is connected.
    """

    def __init__(self, store: HunkStore) -> None:
        """Create the blocks of the hunks in `store`."""
        self.editor: BlockEditor | None = None
        self._store = store

    def known(self) -> Mapping[str, frozenset[str]]:
        """Return, by canonical URI, the ids of blocks in the text or restorable by an undo."""
        return self._store.inline

    def placed(self, uri: str) -> tuple[InlineBlock, ...]:
        """Return the whole blocks of live hunks in a file, imported ones too, in order of place."""
        tracked = self._store.tracked(uri)
        return tuple(
            InlineBlock(one.block or one.hunk, one.first, one.end, one.current, one.merged)
            for one in (tracked.live if tracked else ())
            if isinstance(one, BlockAnchor) and one.merged is not None
        )

    def shown_blocks(self, uri: str) -> tuple[str, ...]:
        """Return the live hunks of a file that Stet has inserted as blocks, in order of place."""
        tracked = self._store.tracked(uri)
        live = tracked.live if tracked else ()
        return tuple(anchor.hunk for anchor in live if _is_stet_block(anchor))

    def is_whole(self, hunk_id: str) -> bool:
        """Return whether a hunk is in the text as a whole block."""
        tracked = self._store.tracked(self._store[hunk_id].uri)
        anchor = tracked.anchor(hunk_id) if tracked else None
        return isinstance(anchor, BlockAnchor) and anchor.merged is not None

    def reject(self, hunk_id: str, reason: str) -> bool:
        """Start to reject a hunk whose block is in the text; return False if there is no block.

        Raises:
            WrongHunkState: If there is no connection to the editor.
        """
        if not self.is_whole(hunk_id):
            return False
        if self.editor is None:
            raise WrongHunkState(
                f"{hunk_id} is shown in the text; its block must be removed with it"
            )
        self.editor.reject(hunk_id, reason)
        return True

    async def amend(self, uri: str, texts: Mapping[str, str]) -> None:
        """Replace the agent's lines in blocks of the file `uri`.

        Args:
            uri: The file.
            texts: By hunk, the text that replaces the agent's text.

        Raises:
            ReviewError: If this failed; the hunks are unchanged.
        """
        if self.editor is None:
            raise WrongHunkState(f"{', '.join(texts)} is shown in the text: edit it there")
        tracked, wanted = self._store.tracked(uri), dict(texts)
        for hunk_id, new in texts.items():
            if tracked is not None and self.is_whole(hunk_id):
                hunk = self._store.current(self._store[hunk_id])
                wanted[hunk_id] = normalize_line_ends(new, hunk, tracked)
        await self.editor.amend(uri, wanted)

    def release(self, hunk_id: str) -> None:
        """Turn the rest of an incomplete block into the user's text."""
        tracked = self._store.tracked(self._store[hunk_id].uri)
        anchor = tracked.anchor(hunk_id) if tracked else None
        if tracked is not None and isinstance(anchor, BlockAnchor):
            _ = tracked.remake(hunk_id, anchor.proposed)

    async def clear(self, uri: str) -> None:
        """Remove all blocks of a file from its text; `shown_blocks` returns those that remain."""
        if self.editor is not None and self.shown_blocks(uri):
            await self.editor.clear(uri)

    def showable(self, document: TextDocument) -> tuple[str, ...]:
        """Return the pending hunks of a document that can be shown as blocks.

        Left out are hunks of protected files, which need a separate approval to be written, hunks
        in the front matter of a note, which a block would break, and hunks whose id the text
        contains like a block's id, because the block would be ambiguous.
        """
        tracked = self._store.tracked(document.uri)
        top = front_matter_end(document.lines) if document.is_markdown else 0
        named = block_ids_in(document.text)
        return tuple(
            anchor.hunk
            for anchor in (tracked.live if tracked else ())
            if not isinstance(anchor, BlockAnchor)
            and anchor.merged is not None
            and not anchor.is_done
            and anchor.first >= top
            and anchor.hunk not in named
            and _is_showable(self._store[anchor.hunk])
        )

    def show(self, document: TextDocument, hunk_ids: Collection[str]) -> TextEdit | None:
        """Send an edit that inserts the blocks of these hunks, pending or in conflict.

        In a conflict the block represents the user's lines.

        Args:
            document: The current text.
            hunk_ids: The hunks; hunks with a block in the text already are left out.

        Returns:
            The edit; None if there is nothing to insert.
        """
        tracked = self._store.ensure_tracked(document)
        pieces, texts = [], {}
        wanted = set(hunk_ids) - block_ids_in(document.text)
        conflicts: dict[str, Anchor] = {}
        for anchor in tracked.live:
            if anchor.hunk not in wanted or isinstance(anchor, BlockAnchor):
                continue
            end = anchor.first if anchor.is_insertion else anchor.end
            before = replaced_text(anchor)
            after = anchor.proposed if anchor.merged is None else anchor.merged
            form = form_for(document, end, after)
            summary = self._store[anchor.hunk].summary
            text = render_block(anchor.hunk, before, after, form, summary)
            if text is not None and before != after and anchor.hunk not in block_ids_in(after):
                pieces.append(HunkEdit(anchor.hunk, anchor.first, end, text))
                texts[anchor.hunk] = before, after
                if anchor.merged is None:
                    conflicts[anchor.hunk] = copy(anchor)

        def settle(hunk: Hunk, place: tuple[int, int]) -> Hunk:
            before, after = texts[hunk.id]
            block = BlockAnchor(hunk.id, tracked.lines, place, before, after)
            block.conflict = conflicts.get(hunk.id)
            anchor_as_block(tracked, block)
            return dataclasses.replace(as_block_hunk(hunk, before, after), block="")

        return self._send(document, pieces, settle)

    def rewrite(self, document: TextDocument, texts: Mapping[str, str]) -> TextEdit | None:
        """Send an edit that replaces the offered lines in blocks.

        If mixed line ends make a block for the two texts impossible, the block is removed and
        the hunk is pending without a block.

        Args:
            document: The current text.
            texts: By hunk, the user's text; hunks without a whole block in the text are left out.

        Returns:
            The edit; None if the blocks offer these texts already.
        """
        tracked = self._store.ensure_tracked(document)
        blocks = {
            anchor.hunk: anchor
            for anchor in tracked.live
            if isinstance(anchor, BlockAnchor)
            and anchor.merged not in (None, texts.get(anchor.hunk, anchor.merged))
        }
        after = {
            hunk_id: _ended(texts[hunk_id], anchor, document) for hunk_id, anchor in blocks.items()
        }
        rendered = {
            hunk_id: render_block(
                anchor.block or hunk_id,
                anchor.current,
                after[hunk_id],
                form_for(document, anchor.end, after[hunk_id]),
                self._store[hunk_id].summary,
            )
            for hunk_id, anchor in blocks.items()
        }
        pieces = [
            HunkEdit(hunk_id, anchor.first, anchor.end, rendered[hunk_id] or anchor.current)
            for hunk_id, anchor in blocks.items()
        ]

        def settle(hunk: Hunk, place: tuple[int, int]) -> Hunk:
            last, new = blocks[hunk.id], after[hunk.id]
            amended = as_block_hunk(hunk, last.current, new)
            if rendered[hunk.id] is None:
                replace_anchor(tracked, Anchor(hunk.id, tracked.lines, place, last.current, new))
                return dataclasses.replace(amended, inline=False, block="")
            block = BlockAnchor(hunk.id, tracked.lines, place, last.current, new, last.block)
            block.conflict = last.conflict
            anchor_as_block(tracked, block)
            return amended

        return self._send(document, pieces, settle, decision=True)

    def take_out(
        self,
        document: TextDocument,
        hunk_ids: Collection[str],
        then: HunkState = HunkState.PENDING,
        reasons: Mapping[str, str] | None = None,
    ) -> TextEdit | None:
        """Send an edit that replaces the blocks of these hunks by the lines they represent.

        Args:
            document: The current text.
            hunk_ids: The hunks; hunks without a whole block in the text are left out.
            then: `PENDING`: the hunks remain pending without a block; `REJECTED`: the user rejects
                them.
            reasons: The user's reasons, by hunk.

        Returns:
            The edit; None if there is nothing to remove.
        """
        live = self._store.ensure_tracked(document).live
        blocks = [a for a in live if a.hunk in hunk_ids and isinstance(a, BlockAnchor)]
        whole = [anchor for anchor in blocks if anchor.merged is not None]
        return self._take_out(document, whole, then, reasons or {})

    def _take_out(
        self,
        document: TextDocument,
        blocks: Sequence[BlockAnchor],
        then: HunkState,
        reasons: Mapping[str, str],
    ) -> TextEdit | None:
        """Send an edit that replaces `blocks`, whole or not, by the lines they represent."""
        tracked = self._store.ensure_tracked(document)
        texts = {anchor.hunk: (anchor.current, anchor.proposed) for anchor in blocks}
        pieces = [
            HunkEdit(anchor.hunk, anchor.first, anchor.end, anchor.current) for anchor in blocks
        ]

        is_decided = then is not HunkState.PENDING

        def settle(hunk: Hunk, place: tuple[int, int]) -> Hunk:
            before, after = texts[hunk.id]
            anchor = Anchor(hunk.id, tracked.lines, place, before, after)
            if is_decided:
                tracked.settle(anchor)
            else:
                replace_anchor(tracked, anchor)
            reason = reasons.get(hunk.id, "")
            return dataclasses.replace(
                hunk, state=then, old=before, new=after, inline=is_decided, reason=reason
            )

        if is_decided:
            sent = [self._store[anchor.hunk] for anchor in blocks]
            self._store.set_transient(*(dataclasses.replace(h, state=HunkState.SENT) for h in sent))
        return self._send(document, pieces, settle, decision=is_decided)

    def apply_missing(self, tracked: TrackedDocument, text: str) -> None:
        """Handle a new text, without its blocks, of a document that was not open.

        The blocks were never saved, or the file was written again: the user has decided nothing.
        The hunks are pending without a block, as if the blocks had been removed before.

        Args:
            tracked: The document with its last known text.
            text: The new text.
        """
        if tracked.in_flight is not None or not self.shown_blocks(tracked.uri):
            return
        document, lines = TextDocument(tracked.uri, tracked.text), split_lines(text)
        changes = changes_between(tracked.text, text)
        effects = [effect for change in changes for effect in change.effects]
        missing = []
        for anchor in tracked.live:
            # If another program changes its own block, this is a decision.
            if isinstance(anchor, BlockAnchor) and not anchor.block:
                probe = copy(anchor)
                for effect in effects:
                    _ = probe.apply_change(effect)
                _ = probe.refresh(lines)
                if probe.left is not None:
                    missing.append(anchor)
        edit = self._take_out(document, missing, HunkState.PENDING, {})
        if edit is not None:
            catch_up(self._store, tracked, edit.apply(document.text))

    def _send(
        self,
        document: TextDocument,
        pieces: Sequence[HunkEdit],
        settle: Callable[[Hunk, tuple[int, int]], Hunk],
        *,
        decision: bool = False,
    ) -> TextEdit | None:
        """Send an edit.

        Args:
            document: The current text.
            pieces: The edits of the hunks; if there are none, no edit is sent.
            settle: Changes the anchor of a hunk whose piece has arrived on these lines, and returns
                the hunk to be saved.
            decision: Whether the user has decided the hunks.
        """
        if not pieces:
            return None
        tracked = self._store.ensure_tracked(document)

        def settle_all(places: Mapping[str, tuple[int, int]]) -> None:
            hunks = [settle(self._store[hunk_id], place) for hunk_id, place in places.items()]
            self._store.save(*hunks, decision=decision, anchors_of=tracked.uri)

        plan = plan_write(document, pieces, settle_all)
        tracked.send(document, plan)
        self._store.notify(document.uri)
        return plan.edit


def _ended(text: str, anchor: BlockAnchor, document: TextDocument) -> str:
    """Return the new text of a block, with a line end if lines follow the block."""
    if not text or line_end(text) or anchor.end >= len(document.lines):
        return text
    return text + (line_end(document.lines[anchor.end - 1]) or "\n")


def _is_stet_block(anchor: Anchor) -> bool:
    """Return whether a hunk is in the text as a block that Stet has inserted."""
    return isinstance(anchor, BlockAnchor) and not anchor.block


def _is_showable(hunk: Hunk) -> bool:
    return hunk.kind not in WHOLE_FILE and not hunk.protected and hunk.state is HunkState.PENDING


def normalize_line_ends(new: str, hunk: Hunk, track: TrackedDocument) -> str:
    r"""Return `new`, the user's text, with the document's line ends.

    A line that is in the hunk already keeps its line end there. Any other line gets the most
    frequent line end of the document, like a line of `edit_file`.

    Args:
        new: The user's text for the hunk.
        hunk: The current hunk.
        track: The hunk's document.
    """
    if new == hunk.new:
        return new
    anchor = track.anchor(hunk.id)
    assert anchor is not None, "a pending hunk of lines has an anchor"
    lines, first = track.lines, anchor.first
    end = first if anchor.is_insertion else anchor.end
    text = track.text
    default = dominant_line_end(text if line_ends(text) else hunk.new)
    above = line_end(lines[first - 1]) if first else ""
    new = adopt_known_line_ends(new, (hunk.new, hunk.old), default, above)
    # Without a line above, or with one without a line end, nothing else determines the end.
    is_alone = end == 0 or (anchor.is_insertion and end == len(lines) and bool(lines[-1]))
    if new and is_alone and not line_end(new):
        return new + default
    if new.endswith("\r") and end < len(lines) and lines[end].startswith("\n"):
        return new + "\n"  # otherwise the line below would be joined
    return new
