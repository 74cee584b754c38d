"""An edit that is looked for in a worker thread, and proposed for the very text it was found in."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stet.review.prepared_edit import PreparedEdit, RejectedDraft, prepare_or_reject
from stet.review.rules import EditRules
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.tools.desk import Desk
from stet.tools.errors import ToolError

_TRIES = 10
"""Somebody who types leaves a gap between two keys sooner than that."""


@dataclass(frozen=True, slots=True)
class FoundEdit:
    """What is to be proposed of a file.

    Attributes:
        edit: That; nothing in it where the file already says so.
        summary: One line for the user.
    """

    edit: TextEdit
    summary: str


Found = TypeVar("Found", bound=FoundEdit)


async def find_edit(
    desk: Desk,
    file: str,
    bind: Callable[[TextDocument], Callable[[], Found]],
    *,
    position: str,
) -> tuple[Found, PreparedEdit | RejectedDraft]:
    """An edit of a file as it is now, and what the gate says of it, for `Desk.propose`; nothing
    has been awaited since.

    Args:
        desk: Where it is to be proposed.
        file: The file, as a model names it.
        bind: Is given the text on the event loop, and gives what finds the edit in a worker thread.
        position: Where, for the user who is told of a refusal.

    Raises:
        ToolError: If the file may not be edited, or is changed all the time; and what the search
            raises.
    """
    for _ in range(_TRIES):
        live = await desk.live(file, position=position)
        find, look = bind(live), desk.rules.prefetch_status((live.uri,))
        found, ready = await asyncio.to_thread(_made_ready, desk, live, file, find, look)
        if desk.is_now(live) and not desk.ledger.blocks.shown_blocks(live.uri):
            return found, ready
    raise ToolError(f"{file!r} is being changed. Try again later.")


def _made_ready(
    desk: Desk,
    live: TextDocument,
    name: str,
    find: Callable[[], Found],
    look: Callable[[], EditRules],
) -> tuple[Found, PreparedEdit | RejectedDraft]:
    """The edit, looked for, and what the gate says once it has looked; for a worker thread."""
    found = find()
    draft = desk.draft(live, name, found.edit, found.summary)
    return found, prepare_or_reject(draft, look())
