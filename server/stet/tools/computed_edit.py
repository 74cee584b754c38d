"""An edit that is looked for in a worker thread, and proposed for the very text it was found in."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stet.review.policy.rules import EditRules
from stet.review.resolve.prepared_edit import PreparedEdit, RejectedDraft, prepare_or_reject
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.tools.tool_context import ToolContext
from stet.tools.tool_errors import ToolError

_MAX_TRIES = 10
"""Somebody who types leaves a gap between two keys sooner than that."""


@dataclass(frozen=True, slots=True)
class ComputedEdit:
    """What is to be proposed of a file.

    Attributes:
        edit: That; nothing in it where the file already says so.
        summary: One line for the user.
    """

    edit: TextEdit
    summary: str


EditT = TypeVar("EditT", bound=ComputedEdit)


async def compute_edit(
    ctx: ToolContext,
    file: str,
    bind: Callable[[TextDocument], Callable[[], EditT]],
    *,
    position: str,
) -> tuple[EditT, PreparedEdit | RejectedDraft]:
    """Return an edit of a file's current text and the answer of its authorization. Both are for
    `ToolContext.propose_prepared`; nothing has been awaited since the text was checked.

    Args:
        ctx: Where it is to be proposed.
        file: The file, as a model names it.
        bind: Is given the text on the event loop, and gives what finds the edit in a worker thread.
        position: Where, for the user who is told of a refusal.

    Raises:
        ToolError: If the file may not be edited, or is changed all the time; and what the search
            raises.
    """
    for _ in range(_MAX_TRIES):
        document = await ctx.document_to_edit(file, position=position)
        find, inspect = bind(document), ctx.rules.prefetch_status((document.uri,))
        computed, prepared = await asyncio.to_thread(
            _compute_and_prepare, ctx, document, file, find, inspect
        )
        if ctx.is_latest_text(document) and not ctx.ledger.blocks.shown_blocks(document.uri):
            return computed, prepared
    raise ToolError(f"{file!r} is being changed. Try again later.")


def _compute_and_prepare(
    ctx: ToolContext,
    document: TextDocument,
    name: str,
    find: Callable[[], EditT],
    inspect: Callable[[], EditRules],
) -> tuple[EditT, PreparedEdit | RejectedDraft]:
    """Find the edit, inspect the rules and authorize the edit, for a worker thread."""
    computed = find()
    draft = ctx.edit_draft(document, name, computed.edit, computed.summary)
    return computed, prepare_or_reject(draft, inspect())
