"""Advice at the end of a turn that should have proposed something and has not."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stet.agent.small.code_blocks import block_edits, code_blocks
from stet.agent.turn import Mode, Turn, TurnState
from stet.llm.model_profiles import ModelProfile
from stet.text.document import TextDocument, ending_of
from stet.tools.tool import ToolContext

SMALL_MODEL = (
    "Nothing was proposed. Select the function and use rewrite, which small models do best, or "
    "choose a larger model."
)
NO_CALLS = (
    "The model wrote the change as text and called no tool, so nothing was proposed. If it never "
    'calls one, its server ignores tools: set model.toolCalls to "text", or use rewrite on the '
    "selected lines."
)
NO_CALLS_AS_TEXT = (
    "The model wrote the change as text and called no tool, so nothing was proposed. Use rewrite on "
    "the selected lines, or choose another model."
)

NO_PLACE = (
    "Nothing was proposed: the code in the answer replaces nothing in the files that the model was "
    "shown. Name the function to change, or select it and use rewrite."
)


async def with_advice(turn: Turn, ctx: ToolContext, profile: ModelProfile) -> Turn:
    """Return an ended turn with a note on what to do if the model should have proposed something.

    That is so if a small model says that it is done, if a model that has called no tool answers
    with changed code of a file that it was shown, or if a model that writes blocks of code answers
    with one that fits no place.
    """
    if turn.ask.mode is not Mode.AGENT or turn.state is not TurnState.COMPLETED:
        return turn
    if any(run.hunks for run in turn.tool_calls):
        return turn
    if profile.edits == "blocks":  # an answer to a question may have an example
        is_question = turn.ask.prompt.rstrip().endswith("?")
        return turn if is_question or not code_blocks(turn.answer) else _with_note(turn, NO_PLACE)
    if turn.tool_calls:
        is_done = turn.tool_calls[-1].tool == "done"
        return _with_note(turn, SMALL_MODEL) if profile.is_short and is_done else turn
    shown = [document for document in ctx.reader.shown.values() if not document.is_large]
    if not await asyncio.to_thread(_has_changed_code, turn.answer, shown):
        return turn
    is_text = ctx.reader.workspace.settings.model.tool_calls == "text"
    return _with_note(turn, NO_CALLS_AS_TEXT if is_text else NO_CALLS)


def _with_note(turn: Turn, note: str) -> Turn:
    return replace(turn, notes=(*turn.notes, note))


def _has_changed_code(answer: str, documents: Sequence[TextDocument]) -> bool:
    """Return whether a block of an answer changes one of the documents. Takes long."""
    return any(
        block_edits(block.text, document.text, ending_of(document.uri))
        for block in code_blocks(answer)
        for document in documents
    )
