"""A turn in the mode `rewrite`: propose a new text for exactly the selected characters.

A model gets the selection, the text around it and the instruction, and answers with the new text of
the selection. A model that obeys grammars is an embedded one, which loses lines in long texts: it
corrects prose line by line, and documents code by one sentence for each function. `RewriteForm` says
what a model gets. See `stet.agent.rewriting`.
"""

import ast
import asyncio
import json
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import replace

from stet.agent.agent_events import (
    CodeWritten,
    RetryScheduled,
    RoundCompleted,
    RoundStarted,
    TextDelta,
    ToolEnded,
)
from stet.agent.code_progress import CodeProgress
from stet.agent.loop import TurnServices
from stet.agent.rewriting import documentation, function_rewrite, oneshot, prose
from stet.agent.rewriting.documentation import wants_documentation
from stet.agent.rewriting.prose import wants_correction
from stet.agent.rewriting.rewrite_passage import (
    RewriteForm,
    RewritePassage,
    RewritePlan,
    passage_at,
)
from stet.agent.turn import Ask, LimitReached, Turn, TurnFailed, TurnState, check_refusal
from stet.llm.model import Request, StopReason, estimate_prompt
from stet.privacy.redactor import UnknownMark
from stet.review.resolve.edit_instruction import InvalidInstruction
from stet.review.resolve.edit_resolver import rebase_edit
from stet.review.resolve.prepared_edit import PreparedDraft, RejectedDraft, prepare_or_reject
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextChange, TextEdit, map_range
from stet.text.position import Position, Range
from stet.text.render import counted
from stet.tools.tool import ToolContext
from stet.tools.tool_errors import ToolError
from stet.tools.tool_state import ToolRun, ToolState
from stet.workspace.safe_excerpt import redactor_of
from stet.workspace.snapshot import Snapshot


def _python(text: str) -> None:
    with warnings.catch_warnings():
        # The parser's warnings about the user's file are not reported.
        warnings.simplefilter("ignore")
        ast.parse(text)


_READERS: dict[str, Callable[[str], object]] = {
    "python": _python,
    "json": json.loads,
    "toml": tomllib.loads,
}


def syntax_problem(language: str, before: str, edit: TextEdit) -> str:
    """Return the syntax error that `edit` causes, in a few words.

    Return "" if there is none, if the text had one before, or if the language is not checked.
    """
    if (read := _READERS.get(language)) is None or _problem(read, before):
        return ""
    problem = _problem(read, edit.apply(before))
    return f"it is not valid {language.capitalize()} ({problem})" if problem else ""


def _problem(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except (ValueError, SyntaxError, RecursionError) as error:
        return str(error) or type(error).__name__
    return ""


_AUTHOR_CALL = "rewrite"
_MAX_TRIES = 10
_SELECT = "Select the text to rewrite, then ask again."
_SELECTION_CHANGED = (
    "The selected text changed in the meantime, so nothing was proposed. Ask again."
)


async def run_rewrite(turn: Turn, services: TurnServices, form: RewriteForm) -> Turn:
    """Rewrite the turn's selection and propose the result.

    Raises:
        LimitReached: If the requests would exceed the cost limit.
        TurnFailed: If there is no selection, or the result can't be proposed.
        ModelError: If the model can't be asked.
    """
    ctx = services.toolbox.ctx
    shown = ctx.reader.shown.last(turn.ask.place.uri) if turn.ask.place.uri else None
    model, snapshot = services.model, ctx.reader.snapshot()
    passage = await asyncio.to_thread(
        select_passage, turn.ask, shown, snapshot, obeys_grammar=model.obeys_grammar
    )
    assert shown is not None, "there is no passage without its document"
    plan = create_rewrite_plan(passage, form, obeys_grammar=model.obeys_grammar)
    prompt = sum(estimate_prompt(request.messages) for request in plan.requests)
    if why := services.limits.cost_exceeded_reason(turn.usage, None, prompt):
        raise LimitReached(why)
    await services.confirm(turn, prompt)
    answers = []
    for step, request in enumerate(plan.requests, 1):
        services.emit(RoundStarted(turn, step, len(plan.requests)))
        turn, answer = await _ask(turn, request, services)
        answers.append(answer)
    text = _restore_secrets(plan.finish(answers), shown, ctx)
    await _check(shown, passage, text)
    try:
        prepared = await _prepare_rewrite(turn.ask.prompt, ctx, shown, passage, text)
        hunks = ctx.proposer.propose_prepared(prepared, position=f"replace:{passage.first_line}")
    except (InvalidInstruction, ToolError) as error:
        problem = _SELECTION_CHANGED if isinstance(error, InvalidInstruction) else str(error)
        turn = replace(turn, rejected=tuple(ctx.reader.report.rejected))
        run = ToolRun(_AUTHOR_CALL, _AUTHOR_CALL, ToolState.ERROR, passage.name, problem)
        services.emit(ToolEnded(turn, run))
        raise TurnFailed(problem) from error
    count = counted(len(hunks), "hunk")
    summary = f"Proposed {count} in {passage.name}: {turn.ask.prompt}"
    return turn.ended(TurnState.COMPLETED, summary=summary)


async def _ask(turn: Turn, request: Request, services: TurnServices) -> tuple[Turn, str]:
    """Run one round. Return the turn after the round, and the answer.

    Raises:
        TurnFailed: If the answer is cut or refused.
        ModelError: If the model can't be asked.
    """
    progress = CodeProgress(
        lambda n_lines, line: services.emit(CodeWritten(turn, n_lines, line)),
        services.toolbox.ctx.reader.workspace.redactor,
        begins_in_code=True,
    )
    completion = await services.model.complete(
        request,
        on_text=progress.passing_on(lambda text: services.emit(TextDelta(turn, text))),
        on_wait=progress.restarting(lambda reason: services.emit(RetryScheduled(turn, reason))),
    )
    after = turn.with_usage(completion)
    services.emit(RoundCompleted(after))
    if completion.stop_reason is StopReason.LENGTH:
        raise TurnFailed(
            "The model's answer was cut off, so nothing was proposed. Select less, or choose a "
            "larger model."
        )
    check_refusal(completion)
    return after, completion.text


def create_rewrite_plan(
    passage: RewritePassage, form: RewriteForm, *, obeys_grammar: bool
) -> RewritePlan:
    """Return the plan of the rewrite for a model that obeys grammars or not.

    Raises:
        TurnFailed: If the passage can't be rewritten.
    """
    is_tiny = form is RewriteForm.TINY
    if obeys_grammar and wants_correction(passage):
        return prose.plan(passage)
    if obeys_grammar and wants_documentation(passage):
        return documentation.plan(passage, is_tiny=is_tiny)
    if form is RewriteForm.FUNCTION and function_rewrite.fits(passage):
        return function_rewrite.plan(passage)
    return oneshot.plan(passage, is_tiny=is_tiny)


def select_passage(
    ask: Ask, shown: TextDocument | None, snapshot: Snapshot, *, obeys_grammar: bool
) -> RewritePassage:
    """Find the selected characters in the document as it was when the turn began.

    Searching a long selection for secrets takes long: call this in a worker thread.

    Args:
        ask: The question, with its place.
        shown: The document as the model may see it; None if there is no document.
        snapshot: The snapshot of the workspace.
        obeys_grammar: Whether the model obeys grammars, so that documentation is one sentence that
            is inserted beside whole lines.

    Raises:
        TurnFailed: If there is no such document, nothing is selected, or part of a secret is
            selected.
    """
    place = ask.place
    if shown is None:
        raise TurnFailed("No file to rewrite in, or it may not be shown to a model.")
    if place.range is None or place.range.is_empty:
        raise TurnFailed(_SELECT)
    real = snapshot.document(shown.uri) or shown
    selected = snapshot.shown_range(real, place.range)
    selected = Range(shown.clamp(selected.start), shown.clamp(selected.end))
    if selected.is_empty:
        raise TurnFailed(f"{_SELECT} Nothing is selected there.")
    name = snapshot.name_of(shown.uri)
    redactor = redactor_of(snapshot)
    passage = passage_at(shown, name, selected, ask.prompt, redactor)
    if obeys_grammar and not wants_correction(passage) and wants_documentation(passage):
        # Documentation is inserted beside whole lines; the selected text stays unchanged.
        end = shown.clamp(Position(selected.last_line + 1, 0))
        whole = Range(Position(selected.start.line, 0), end)
        passage = passage_at(shown, name, whole, ask.prompt, redactor)
    return passage


def _restore_secrets(text: str, shown: TextDocument, ctx: ToolContext) -> str:
    """Return the model's text, with marks replaced by the file's own secrets.

    Raises:
        TurnFailed: If a mark refers to no secret in the file.
    """
    try:
        return ctx.reader.workspace.redactor.restore(text, shown.text)
    except UnknownMark as error:
        raise TurnFailed(f"The model's text was rejected: {error}") from error


async def _prepare_rewrite(
    summary: str, ctx: ToolContext, shown: TextDocument, passage: RewritePassage, text: str
) -> PreparedDraft | RejectedDraft:
    """Prepare the edit that sets the passage to `text` in the current file.

    The edit fits the file until the caller awaits.

    Raises:
        InvalidInstruction: If the user has edited the passage.
        ToolError: If the file may not be edited, or changes during every attempt.
    """
    for _ in range(_MAX_TRIES):
        live = await ctx.reader.document_to_edit_at(shown.uri)
        view, changes = ctx.reader.pending_view(live), ctx.reader.changes_since_shown(live)
        look = ctx.proposer.rules.prefetch_status((live.uri,))
        # In a thread: comparing a long file takes long.
        edit = await asyncio.to_thread(_rebase_edit, passage, text, shown, changes, live)
        draft = ctx.proposer.edit_draft(live, passage.name, edit, summary)
        rules = await asyncio.to_thread(look)
        prepared = await asyncio.to_thread(prepare_or_reject, draft, rules)
        if ctx.reader.is_current(live, view):
            return prepared
    raise ToolError("The file keeps changing. Ask again later.")


def _rebase_edit(
    passage: RewritePassage,
    text: str,
    shown: TextDocument,
    changes: tuple[TextChange, ...],
    live: TextDocument,
) -> TextEdit:
    """Return the edit of the current text that replaces the passage by `text`.

    Raises:
        InvalidInstruction: If the user has edited the passage.
    """
    if passage.is_part_of_line:
        place = map_range(passage.place, changes)
        first, last = live.offset_at(place.start), live.offset_at(place.end)
        if live.text[first:last] == passage.text:
            return TextEdit((Replacement(first, last, text),))
    return rebase_edit(passage.edit(text), shown, changes, live)


async def _check(shown: TextDocument, passage: RewritePassage, text: str) -> None:
    """Refuse an unchanged text, and one that breaks the syntax of the file.

    Raises:
        TurnFailed: If the text is refused.
    """
    if text == passage.text:
        raise TurnFailed(
            "The model returned the text unchanged; be more specific about what to change."
        )
    edit = passage.edit(text)
    # In a thread: parsing a long file takes long.
    if problem := await asyncio.to_thread(syntax_problem, passage.language, shown.text, edit):
        raise TurnFailed(f"The model's text was rejected: {problem}. Ask again, or select less.")
