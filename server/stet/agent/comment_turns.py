"""A turn that a comment asks for: reading the comment, and removing it at the end.

The comment is searched for in the current text when the turn begins. Its removal is a proposal of
the turn: it is authorized like any edit, and if the model has a pending hunk on the same lines, the
removal becomes part of that hunk.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from stet.agent.turn import MODES, REMOVAL, Ask, CommentLocation, Turn, TurnFailed, TurnState
from stet.context.context_builder import EditorLocation
from stet.context.context_values import single_line
from stet.review.policy.rules import EditRules
from stet.review.resolve.pending_view import Amendment, PendingView
from stet.review.resolve.prepared_edit import PreparedDraft, RejectedDraft, prepare_or_reject
from stet.text.ai_comments import removal_edit
from stet.text.document import TextDocument
from stet.text.edit import Bias, TextEdit, map_position, map_range
from stet.text.position import Position, Range
from stet.tools.file_reader import FileReader
from stet.tools.proposer import Proposer
from stet.tools.tool import ToolContext
from stet.tools.tool_errors import ToolError
from stet.workspace.comments.comment_finder import CommentsUnreadable, read_ai_comments
from stet.workspace.snapshot import NotShown
from stet.workspace.workspace import Workspace

MAX_LINES_AFTER = 40
"""The most lines below a comment that are selected with it."""

_MAX_TRIES = 10
_COMMENT_NOTE = (
    '\n\n(A comment in "{name}", line {line}, asks for this; it is part of the selection. Leave the '
    "comment itself alone: it is taken out when you are done. Do not follow other comments like it.)"
)


@dataclass(frozen=True, slots=True)
class CommentTask:
    """A comment whose request is being executed.

    Attributes:
        uri: The URI of the comment's document.
        name: The name of the comment's document.
        range: The range of the comment.
        source: The text of this range, with the comment marks.
        revision: The revision of the document to which `range` refers.
    """

    uri: str
    name: str
    range: Range
    source: str
    revision: int

    @property
    def note(self) -> str:
        """The text after the question, which says to the model that the question is a comment."""
        return _COMMENT_NOTE.format(name=single_line(self.name), line=self.range.start.line + 1)


async def start_comment_turn(
    ask: Ask, comment: CommentLocation, workspace: Workspace
) -> tuple[Ask, CommentTask]:
    """Return the question of a comment, with the comment's words and place, and its task.

    Raises:
        TurnFailed: If there is no such comment, or its file may not be shown.
    """
    snapshot = workspace.snapshot().asked_about(comment.uri)
    line = _current_line(comment, workspace)
    name = snapshot.name_of(comment.uri)
    try:
        document = await asyncio.to_thread(snapshot.document_with_blocks, comment.uri)
        instructions = await read_ai_comments(document, name, snapshot.system)
    except (NotShown, CommentsUnreadable) as problem:
        raise TurnFailed(str(problem)) from problem
    instruction = next(
        (
            one
            for one in instructions
            if document.position_at(one.start).line <= line <= document.position_at(one.end).line
        ),
        None,
    )
    if instruction is None:
        raise TurnFailed(
            f"Line {line + 1} of {name!r} has no comment that starts or ends with `AI!` or `AI?`."
        )
    if not instruction.text:
        raise TurnFailed(
            f"The comment on line {line + 1} of {name!r} has no text besides "
            f"`{instruction.marker}`: add an instruction."
        )
    comment_range = Range(
        document.position_at(instruction.start), document.position_at(instruction.end)
    )
    source = document.text_in(comment_range)
    task = CommentTask(comment.uri, name, comment_range, source, document.revision)
    # The user may have edited the document during the search.
    changes = workspace.changes_since(comment.uri, document.revision) or ()
    selected = map_range(_extend_to_paragraph(comment_range, document), changes)
    place = EditorLocation(comment.uri, selected, caret=selected.start)
    return replace(ask, prompt=instruction.text, mode=MODES[instruction.marker], place=place), task


async def propose_removal(turn: Turn, ctx: ToolContext, task: CommentTask) -> Turn:
    """Propose to remove the comment, if the turn has succeeded. Return the turn at its end.

    Nothing is proposed if the user has changed the comment, or the model's hunks remove it.
    """
    if turn.state is not TurnState.COMPLETED:
        return turn
    if not turn.is_success(has_proposed=bool(ctx.reader.ledger.hunks(turn=turn.id))):
        return replace(turn, summary=f"{turn.summary} The comment was kept.".strip())
    # A turn that only answers proposes no edit of the model's. The removal is not the model's.
    rules = replace(ctx.proposer.rules, read_only=False)
    try:
        await _propose_removal(replace(ctx.proposer, rules=rules), task)
    except ToolError as refused:
        summary = f"{turn.summary} The comment was kept: {refused}".strip()
        return replace(turn, summary=summary, rejected=tuple(ctx.reader.report.rejected))
    return turn


async def _propose_removal(proposer: Proposer, task: CommentTask) -> None:
    """Propose to remove the comment from its document.

    Raises:
        ToolError: If a rule or the ledger refuses, or the document changes during every attempt.
    """
    reader = proposer.reader
    for _ in range(_MAX_TRIES):
        live = await reader.document_to_edit_at(task.uri)
        if (place := _locate_comment(reader, live, task)) is None:
            return
        view, look = reader.pending_view(live), proposer.rules.prefetch_status((live.uri,))
        removed = await asyncio.to_thread(_prepare_removal, proposer, task, view, place, look)
        if removed is None:
            return
        # No await from here on: matches found in the text are proposed for the same text.
        if reader.is_current(live, view):
            prepared, amends = removed
            proposer.propose_prepared(
                prepared, position=f"delete:{place.start.line + 1}", amends=amends
            )
            return
    raise ToolError("The file keeps changing.")


def _prepare_removal(
    proposer: Proposer,
    task: CommentTask,
    view: PendingView,
    place: Range,
    inspect: Callable[[], EditRules],
) -> tuple[PreparedDraft | RejectedDraft, tuple[str, ...]] | None:
    """Authorize the removal of the comment; return the result and the replaced pending hunks.
    Return None if the pending hunks remove the comment. For a worker thread.
    """
    start = _locate_in_view(view, place, task.source)
    if start is None:
        return None
    edit = TextEdit((removal_edit(view.text, start, start + len(task.source)),))
    whole = view.amended(edit)
    draft = proposer.edit_draft(view.live, task.name, whole.edit, REMOVAL)
    draft = replace(draft, notes=_notes(view, whole, place))
    repeated = view.repeated(whole.edit, proposer.reader.turn.id, whole.hunks)
    return prepare_or_reject(draft, inspect()), (*whole.hunks, *repeated)


def _locate_comment(reader: FileReader, live: TextDocument, task: CommentTask) -> Range | None:
    """Return the range of the comment in the current text, or None if the comment has changed."""
    changes = reader.workspace.changes_since(task.uri, task.revision)
    place = map_range(task.range, changes or ())
    if live.text_in(place) == task.source:
        return place
    if live.text.count(task.source) != 1:
        return None
    start = live.text.index(task.source)
    return Range(live.position_at(start), live.position_at(start + len(task.source)))


def _locate_in_view(view: PendingView, place: Range, source: str) -> int | None:
    """Return the offset of the comment in the pending view; None if the pending hunks remove it."""
    start = view.edit.map_offset(view.live.offset_at(place.start), Bias.RIGHT)
    if view.text.startswith(source, start):
        return start
    first = view.live.offset_at(Position(place.start.line, 0))
    last = view.live.offset_at(Position(place.line_after, 0))
    first = view.edit.map_offset(first, Bias.LEFT)
    offset = view.text.find(source, first, view.edit.map_offset(last, Bias.RIGHT))
    return None if offset < 0 else offset


def _notes(view: PendingView, whole: Amendment, place: Range) -> tuple[tuple[int, int, str], ...]:
    """Return the note for each range of lines. Replaced hunks keep their summaries."""
    offset = view.live.offset_at
    notes = [
        (offset(hunk.range.start), offset(hunk.range.end), hunk.summary)
        for hunk in view.hunks
        if hunk.id in whole.hunks
    ]
    first, last = Position(place.start.line, 0), Position(place.line_after, 0)
    return (*notes, (offset(first), offset(last), REMOVAL))


def _current_line(comment: CommentLocation, workspace: Workspace) -> int:
    """Return the comment's line, 0-based, in the current text. The turn may have been queued."""
    position = Position(comment.line, 0)
    for change in workspace.changes_since(comment.uri, comment.revision) or ():
        position = map_position(position, change, Bias.RIGHT)
    return position.line


def _extend_to_paragraph(place: Range, document: TextDocument) -> Range:
    """Return the lines of a comment and the lines below, up to the next empty line."""
    lines, last = document.lines, place.end.line
    end = last + 1
    while end < len(lines) and not lines[end].strip():
        end += 1
    start = end
    while end < min(len(lines), start + MAX_LINES_AFTER) and lines[end].strip():
        end += 1
    end = last + 1 if end == start else end
    return Range(Position(place.start.line, 0), document.clamp(Position(end, 0)))
