"""Comments that ask for a turn: carried out when the user says so, or when a file is saved.

Opening a repository full of such comments must not set anything off. So on save, if the settings
want that at all, only those count that stand on lines changed since the document was opened, and
not those that an accepted hunk brought.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine
from typing import Any

from stet.agent.agent import Agent
from stet.agent.agent_events import AgentEvent, RoundStarted
from stet.agent.turn import MODES, Ask, CommentLocation
from stet.context.context_builder import EditorLocation
from stet.lsp.chat.chat_controller import DEFAULT_CHAT
from stet.lsp.editor_client import Client
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.text.ai_comments import AiComment, Marker, comment_text_on_line, marker_on_line
from stet.text.change import TextChange, touched_lines
from stet.text.document import TextDocument
from stet.text.escape import escape_line
from stet.text.position import Position, Range
from stet.workspace.comments.comment_finder import CommentsUnreadable, read_ai_comments
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace


class CommentRunner:
    """Starts the turns that comments ask for. Touched on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        agent: Callable[[], Agent],
        start: Callable[[Coroutine[Any, Any, object], str], None],
    ) -> None:
        """`agent` gives who answers, once it is there; `start` begins work in the background."""
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._agent = agent
        self._start = start
        self._started: dict[str, set[str]] = {}
        self._in_order: dict[str, asyncio.Lock] = {}

    def run(self, document: TextDocument, line: int, text: str, chat: str | None = None) -> str:
        """Do what the comment on a line (0-based) of `document`, which reads `text`, says.

        Gives the turn's id. Whether there is such a comment is found out when the turn begins.
        """
        lines = marker_on_line(text.rstrip("\r\n"))
        prompt = comment_text_on_line(text) or f"The comment on line {line + 1}"
        return self._ask(
            document,
            line,
            Ask(
                prompt=prompt,
                mode=MODES[lines or Marker.DO],
                place=EditorLocation(document.uri, Range(Position(line, 0), Position(line, 0))),
                chat=chat or DEFAULT_CHAT,
            ),
        )

    def saved(self, uri: str) -> None:
        """Carry out the instructions that the user has written in a saved document, if enabled."""
        document = self._workspace.document(uri)
        if document is None or not self._workspace.settings.instructions.on_save:
            return
        changes = self._workspace.changes_since_opened(uri)
        self._start(self._after_saving(document, changes), "comments of a saved file")

    def handle_event(self, event: AgentEvent) -> None:
        """Record a comment whose turn has started, so that a save does not ask for it again."""
        ask = event.turn.ask
        # Its words are known when its first round starts.
        if ask.comment is not None and isinstance(event, RoundStarted) and event.round == 1:
            self._started.setdefault(canonical(ask.comment.uri), set()).add(ask.prompt)

    async def _after_saving(self, document: TextDocument, changes: tuple[TextChange, ...]) -> None:
        # The snapshot is taken here: the workspace belongs to the event loop.
        snapshot = self._workspace.snapshot().asked_about(document.uri)
        name, key = snapshot.name_of(document.uri), canonical(document.uri)
        # Saved twice in a moment: what is gone in one text and there in the next is new.
        async with self._in_order.setdefault(key, asyncio.Lock()):
            try:
                comments = await read_ai_comments(document, name, snapshot.system)
                lines = await asyncio.to_thread(touched_lines, changes)
                users = [
                    comment
                    for comment in comments
                    if comment.text and self._is_users(comment, document, lines)
                ]
                if users:
                    await asyncio.to_thread(_check_shown, snapshot, document.uri)
            except (CommentsUnreadable, NotShown) as problem:
                self._client.show_message(f"Stet: {escape_line(str(problem))}")
                return
            self._begin_new(document, comments, users)

    def _begin_new(
        self,
        document: TextDocument,
        comments: tuple[AiComment, ...],
        users: list[AiComment],
    ) -> None:
        """Carry out what has not been since it was written; `comments` is all that stands there."""
        done = self._started.setdefault(canonical(document.uri), set())
        done &= {one.text for one in comments}  # what is gone may be written again
        for comment in users:
            if comment.text not in done:  # the same twice in one file is one thing to do
                done.add(comment.text)
                self._begin(document, comment)

    def _is_users(
        self, comment: AiComment, document: TextDocument, lines: tuple[range, ...]
    ) -> bool:
        """Whether the user has written or changed a comment since the document was opened."""
        first, last = (
            document.position_at(comment.start).line,
            document.position_at(comment.end).line,
        )
        if not any(first < part.stop and part.start <= last for part in lines):
            return False
        source = document.text[comment.start : comment.end]
        return not any(
            hunk.state is HunkState.ACCEPTED and source in hunk.new and source not in hunk.old
            for hunk in self._ledger.hunks(uri=document.uri)
        )

    def _begin(self, document: TextDocument, comment: AiComment) -> None:
        start = document.position_at(comment.start)
        stretch = Range(start, document.position_at(comment.end))
        place = EditorLocation(document.uri, stretch, caret=start)
        _ = self._ask(
            document,
            start.line,
            Ask(prompt=comment.text, mode=MODES[comment.marker], place=place, chat=DEFAULT_CHAT),
        )

    def _ask(self, document: TextDocument, line: int, ask: Ask) -> str:
        comment = CommentLocation(document.uri, line, document.revision)
        return self._agent().ask(dataclasses.replace(ask, comment=comment)).id


def _check_shown(snapshot: Snapshot, uri: str) -> None:
    """See whether a document may be shown to a model. Blocks on the disk.

    Raises:
        NotShown: If it may not.
    """
    _ = snapshot.document_with_blocks(uri)
