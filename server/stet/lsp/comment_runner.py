"""Comments with instructions for the agent: find their lines, and start their turns.

`CommentCheck` distinguishes a comment from a string or a fence that looks like one. A separate
process finds comments; its result is cached while the text is the same, so moving the cursor costs
nothing.

`CommentRunner` starts a turn when the user requests it or, if the settings allow it, when a file is
saved. Opening a repository full of such comments must not start turns, so a save counts only
comments on lines that were changed since the document was opened, and not comments that an accepted
hunk added.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from stet.agent.agent import Agent
from stet.agent.agent_events import AgentEvent, RoundStarted
from stet.agent.turn import MODES, Ask, CommentLocation
from stet.context.context_builder import EditorLocation
from stet.lsp.chat.chat_controller import DEFAULT_CHAT
from stet.lsp.editor_client import Client
from stet.lsp.tasks import Spawn
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.text.ai_comments import AiComment, Marker, instruction_on_line
from stet.text.document import TextDocument
from stet.text.edit import TextChange, touched_lines
from stet.text.escape import escape_line
from stet.text.position import Position, Range
from stet.workspace.comments.comment_finder import CommentsUnreadable, read_ai_comments
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

MAX_CACHED = 32
"""The most texts whose instruction lines are cached."""

CommentLines = tuple[range, ...]
"""The lines (0-based) of each comment that holds an instruction."""


@dataclass(frozen=True, slots=True)
class _CachedCheck:
    """The search for the instructions of one text, running or done.

    Attributes:
        document: The text.
        work: The task that finds the instructions.
    """

    document: TextDocument
    work: "asyncio.Task[CommentLines | None]"


class CommentCheck:
    """The cached search for instructions in open documents; used on the event loop only."""

    def __init__(self, workspace: Workspace, spawn: Spawn[CommentLines | None]) -> None:
        self._workspace = workspace
        self._spawn = spawn
        self._cached: OrderedDict[str, _CachedCheck] = OrderedDict()

    async def lines(self, document: TextDocument) -> CommentLines | None:
        """Return the lines of the instructions in an open document.

        Return None if they can't be found: the text is too long, takes too long or has changed.
        """
        work = self._work(document)
        _ = await asyncio.wait({work})
        return None if work.cancelled() else work.result()

    def _work(self, document: TextDocument) -> "asyncio.Task[CommentLines | None]":
        """Return the task that finds the instructions; start it if needed, cancel one for an older
        text.
        """
        key = canonical(document.uri)
        cached = self._cached.pop(key, None)
        if cached is None or cached.document != document or cached.work.cancelled():
            if cached is not None:
                cached.work.cancel()
            cached = _CachedCheck(document, self._spawn(self._find(document), "checking comments"))
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
            return None  # starting the turn reports why
        # Splitting a long text takes long.
        return await asyncio.to_thread(_lines_of, document, comments)


def _lines_of(document: TextDocument, comments: tuple[AiComment, ...]) -> CommentLines:
    """Return the lines of each instruction."""
    ranges = [_range_of(document, comment) for comment in comments]
    return tuple(range(stretch.start.line, stretch.end.line + 1) for stretch in ranges)


def _range_of(document: TextDocument, comment: AiComment) -> Range:
    return Range(document.position_at(comment.start), document.position_at(comment.end))


class CommentRunner:
    """The service that starts turns for comments; used on the event loop only."""

    def __init__(
        self, workspace: Workspace, ledger: ReviewLedger, client: Client, agent: Agent
    ) -> None:
        """Create the runner; `agent` runs the turns."""
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._agent = agent
        self._started: dict[str, set[str]] = {}
        self._in_order: dict[str, asyncio.Lock] = {}

    def run(self, document: TextDocument, line: int, text: str, chat: str | None = None) -> str:
        """Start the turn for the comment on a line (0-based) of `document`, whose text is `text`.

        Return the turn's id. The turn itself checks that the line is in a comment.
        """
        marker, instruction = instruction_on_line(text)
        prompt = instruction or f"The comment on line {line + 1}"
        place = Range(Position(line, 0), Position(line, 0))
        return self._ask(document, place, marker or Marker.DO, prompt, chat or DEFAULT_CHAT)

    def saved(self, uri: str) -> None:
        """Start turns for the instructions that the user has written in a saved document, if
        enabled.
        """
        document = self._workspace.document(uri)
        if document is None or not self._workspace.settings.instructions.on_save:
            return
        changes = self._workspace.changes_since_opened(uri)
        self._client.start(self._after_saving(document, changes), "comments of a saved file")

    def handle_event(self, event: AgentEvent) -> None:
        """Record a comment whose turn has started, so that a save does not start a turn again."""
        ask = event.turn.ask
        # The text of the comment is known when the first round starts.
        if ask.comment is not None and isinstance(event, RoundStarted) and event.round == 1:
            self._started.setdefault(canonical(ask.comment.uri), set()).add(ask.prompt)

    async def _after_saving(self, document: TextDocument, changes: tuple[TextChange, ...]) -> None:
        # Take the snapshot here: the workspace belongs to the event loop.
        snapshot = self._workspace.snapshot().asked_about(document.uri)
        name, key = snapshot.name_of(document.uri), canonical(document.uri)
        # Handle saves in order: a comment that is missing in one text and present in the next is new.
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
                    # Check whether the document may be shown to a model.
                    _ = await asyncio.to_thread(snapshot.document_with_blocks, document.uri)
            except (CommentsUnreadable, NotShown) as problem:
                self._client.show_message(f"Stet: {escape_line(str(problem))}")
                return
            self._begin_new(document, comments, users)

    def _begin_new(
        self, document: TextDocument, comments: tuple[AiComment, ...], users: list[AiComment]
    ) -> None:
        """Start turns for the user's comments without a turn; `comments` are all in the text."""
        done = self._started.setdefault(canonical(document.uri), set())
        done &= {one.text for one in comments}  # a removed comment may be written again
        for comment in users:
            if comment.text not in done:  # two equal comments in one file are one task
                done.add(comment.text)
                stretch = _range_of(document, comment)
                _ = self._ask(document, stretch, comment.marker, comment.text, DEFAULT_CHAT)

    def _is_users(
        self, comment: AiComment, document: TextDocument, lines: tuple[range, ...]
    ) -> bool:
        """Return whether the user has written or changed a comment since the document was
        opened.
        """
        stretch = _range_of(document, comment)
        first, last = stretch.start.line, stretch.end.line
        if not any(first < part.stop and part.start <= last for part in lines):
            return False
        source = document.text[comment.start : comment.end]
        return not any(
            hunk.state is HunkState.ACCEPTED and source in hunk.new and source not in hunk.old
            for hunk in self._ledger.hunks(uri=document.uri)
        )

    def _ask(
        self, document: TextDocument, stretch: Range, marker: Marker, prompt: str, chat: str
    ) -> str:
        """Start the turn for a comment at `stretch`; return the turn's id."""
        start = stretch.start
        comment = CommentLocation(document.uri, start.line, document.revision)
        place = EditorLocation(document.uri, stretch, caret=start)
        ask = Ask(prompt=prompt, mode=MODES[marker], place=place, chat=chat, comment=comment)
        return self._agent.ask(ask).id
