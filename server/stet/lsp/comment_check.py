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

MAX_CACHED = 32
"""Texts of which it is kept where their instructions are."""

CommentLines = tuple[range, ...]
"""The lines (0-based) of each comment that holds an instruction."""
_Spawn = Callable[
    [Coroutine[Any, Any, CommentLines | None], str], "asyncio.Task[CommentLines | None]"
]


@dataclass(frozen=True, slots=True)
class _CachedCheck:
    """What is known of a text, or is being found out.

    Attributes:
        document: The text.
        work: Finds its instructions.
    """

    document: TextDocument
    work: "asyncio.Task[CommentLines | None]"


class CommentCheck:
    """Finds the instructions of open documents. Touched on the event loop only."""

    def __init__(self, workspace: Workspace, spawn: _Spawn) -> None:
        self._workspace = workspace
        self._spawn = spawn
        self._cached: OrderedDict[str, _CachedCheck] = OrderedDict()

    async def lines(self, document: TextDocument) -> CommentLines | None:
        """Return the lines of the instructions in an open document.

        None if they can't be found: the text is too long or takes too long, or is an older one by now.
        """
        work = self._work(document)
        _ = await asyncio.wait({work})
        return None if work.cancelled() else work.result()

    def _work(self, document: TextDocument) -> "asyncio.Task[CommentLines | None]":
        """Return what finds the instructions, begun if it is not yet, and no longer for an older text."""
        key = canonical(document.uri)
        cached = self._cached.pop(key, None)
        if cached is None or cached.document != document or cached.work.cancelled():
            if cached is not None:
                cached.work.cancel()
            cached = _CachedCheck(
                document, self._spawn(self._find(document), "looking for instructions")
            )
        self._cached[key] = cached
        while len(self._cached) > MAX_CACHED:
            _, oldest = self._cached.popitem(last=False)
            oldest.work.cancel()
        return cached.work

    async def _find(self, document: TextDocument) -> CommentLines | None:
        snapshot = self._workspace.snapshot()
        name = snapshot.name_of(document.uri)
        try:
            comments = await read_ai_comments(document, name, snapshot.system)
        except (CommentsUnreadable, OSError):
            return None  # whoever carries it out is told why
        # Splitting a long text takes long.
        return await asyncio.to_thread(_lines_of, document, comments)


def _lines_of(document: TextDocument, comments: tuple[AiComment, ...]) -> CommentLines:
    """Return the lines that each instruction is on."""
    places = (
        (document.position_at(comment.start), document.position_at(comment.end))
        for comment in comments
    )
    return tuple(range(start.line, end.line + 1) for start, end in places)
