"""A turn in the mode `rewrite`: the selected lines become other lines, as a proposal.

A model of ordinary size gets the lines and the instruction and answers with the new lines. One so
small that it loses lines on the way (the embedded one) is given less to do: see
`stet.agent.rewriting`.
"""

import asyncio
import dataclasses

from stet.agent.errors import TurnFailed
from stet.agent.events import ToolEnded
from stet.agent.loop import Crew
from stet.agent.rewriting.documentation import document_lines, wants_documentation
from stet.agent.rewriting.oneshot import rewrite_lines
from stet.agent.rewriting.passage import Passage, Writer
from stet.agent.rewriting.prose import correct_lines, wants_correction
from stet.agent.rewriting.syntax import syntax_problem
from stet.agent.turn import ToolRun, ToolState, Turn, TurnState
from stet.review.instruction import BadInstruction, carry
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.tools.base import Desk, ToolError

_CALL = "rewrite"
_WRITTEN_OVER = "You have changed the selected lines meanwhile, so nothing is proposed. Ask again."


async def run_rewrite(turn: Turn, crew: Crew) -> Turn:
    """Rewrite the turn's selection and propose the result.

    Raises:
        TurnFailed: With a sentence, if there is no selection or the result is of no use.
        ModelError: If the model can't be asked.
    """
    desk = crew.toolbox.desk
    shown, lines = _selection(turn, desk)
    name = desk.snapshot().name_of(shown.uri)
    passage = Passage.of(shown, name, lines, turn.ask.prompt)
    writer = Writer(turn, crew.model, crew.emit)
    if crew.model.constrained and wants_correction(passage):
        text = await correct_lines(passage, writer)
    elif crew.model.constrained and wants_documentation(passage):
        text = await document_lines(passage, writer)
    else:
        text = await rewrite_lines(passage, writer)
    await _check(shown, passage, text)
    turn = writer.turn
    try:
        live = await desk.live_at(shown.uri)
        edit = carry(passage.edit(text), shown, desk.changes_since_shown(live), live)
        hunks = desk.propose(
            live, passage.name, edit, turn.ask.prompt, position=f"replace:{passage.first_line}"
        )
    except (BadInstruction, ToolError) as error:
        problem = _WRITTEN_OVER if isinstance(error, BadInstruction) else str(error)
        turn = dataclasses.replace(turn, rejected=tuple(desk.rejected))
        crew.emit(ToolEnded(turn, ToolRun(_CALL, _CALL, ToolState.ERROR, passage.name, problem)))
        raise TurnFailed(problem) from error
    count = f"{len(hunks)} hunk{'s' if len(hunks) != 1 else ''}"
    return turn.ended(
        TurnState.COMPLETED, summary=f"Proposed {count} in {passage.name}: {turn.ask.prompt}"
    )


def _selection(turn: Turn, desk: Desk) -> tuple[TextDocument, Range]:
    """The document as it was when the turn began, and the selected lines, whole."""
    place = turn.ask.place
    shown = desk.was_shown(place.uri) if place.uri else None
    if shown is None:
        raise TurnFailed("There is no file to rewrite in, or it may not be shown to a model.")
    if place.range is None or place.range.is_empty:
        raise TurnFailed("Select the lines to rewrite, then ask again.")
    start = shown.clamp(Position(place.range.start.line, 0))
    end = shown.clamp(Position(place.range.last_line + 1, 0))
    if start == end:
        raise TurnFailed("Select the lines to rewrite, then ask again: there are none there.")
    return shown, Range(start, end)


async def _check(shown: TextDocument, passage: Passage, text: str) -> None:
    """Refuse a result nobody would want to review."""
    if text == passage.text:
        raise TurnFailed(
            "The model gave the text back unchanged; say more precisely what to change."
        )
    # A parser may take its time on a long file.
    problem = await asyncio.to_thread(
        syntax_problem, passage.language, shown.text, passage.edit(text)
    )
    if problem:
        raise TurnFailed(f"The model's text was refused: {problem}. Ask again, or select less.")
