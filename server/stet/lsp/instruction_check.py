"""Whether what looks like an instruction is one: a string or a fence may read like a comment.

Comments are found by a process of its own. What it has found is kept for a text as long as the text
is the same, so that a cursor that moves in it costs nothing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from stet.text.ai_comments import AiComment
from stet.text.document import TextDocument
from stet.workspace.comments.comment_finder import CommentsUnreadable, read_ai_comments
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

MAX_KEPT = 32
"""Texts of which it is kept where their instructions are."""

InstructionLines = tuple[range, ...]
"""The lines (0-based) of each comment that holds an instruction."""
_Spawn = Callable[
    [Coroutine[Any, Any, InstructionLines | None], str], "asyncio.Task[InstructionLines | None]"
]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is known of a text, or is being found out.

    Attributes:
        document: The text.
        work: Finds its instructions.
    """

    document: TextDocument
    work: "asyncio.Task[InstructionLines | None]"


class InstructionCheck:
    """Finds the instructions of open documents. Touched on the event loop only."""

    def __init__(self, workspace: Workspace, spawn: _Spawn) -> None:
        self._workspace = workspace
        self._spawn = spawn
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def lines(self, document: TextDocument) -> InstructionLines | None:
        """Return the lines of the instructions in an open document.

        None if they can't be found: the text is too long or takes too long, or is an older one by now.
        """
        work = self._work(document)
        _ = await asyncio.wait({work})
        return None if work.cancelled() else work.result()

    def _work(self, document: TextDocument) -> "asyncio.Task[InstructionLines | None]":
        """Return what finds the instructions, begun if it is not yet, and no longer for an older text."""
        key = canonical(document.uri)
        kept = self._kept.pop(key, None)
        if kept is None or kept.document != document or kept.work.cancelled():
            if kept is not None:
                kept.work.cancel()
            kept = _Kept(document, self._spawn(self._find(document), "looking for instructions"))
        self._kept[key] = kept
        while len(self._kept) > MAX_KEPT:
            _, oldest = self._kept.popitem(last=False)
            oldest.work.cancel()
        return kept.work

    async def _find(self, document: TextDocument) -> InstructionLines | None:
        snapshot = self._workspace.snapshot()
        name = snapshot.name_of(document.uri)
        try:
            found = await read_ai_comments(document, name, snapshot.system)
        except (CommentsUnreadable, OSError):
            return None  # whoever carries it out is told why
        # Splitting a long text takes long.
        return await asyncio.to_thread(_lines_of, document, found)


def _lines_of(document: TextDocument, found: tuple[AiComment, ...]) -> InstructionLines:
    """Return the lines that each instruction is on."""
    places = ((document.position_at(one.start), document.position_at(one.end)) for one in found)
    return tuple(range(start.line, end.line + 1) for start, end in places)
