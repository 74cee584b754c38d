"""A turn of a model that writes changed functions in fenced blocks."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from stet.agent.agent_events import AgentEvent, CodeWritten
from stet.agent.loop import TurnServices, run_turn
from stet.agent.prompts import prompt
from stet.agent.small.block_model import BlockModel
from stet.agent.small.code_blocks import PATH
from stet.agent.small.edit_target import (
    Lines,
    code_names,
    fits,
    is_short,
    lines_at,
    named_lines,
    outline_of,
)
from stet.agent.small.file_by_file import FileByFileModel, first_question
from stet.agent.small.name_uses import SpreadChange, find_spread_change
from stet.agent.small.related_code import RelatedCode
from stet.agent.small.shown_lines import fenced_lines, file_text, lines_around
from stet.agent.turn import Ask, Mode, Turn
from stet.llm.model import CHARACTERS_PER_TOKEN, Message
from stet.outline.definition import Definition
from stet.search.word_search import SearchMode, SearchQuery
from stet.text.document import TextDocument
from stet.text.position import Range
from stet.tools.tool import ToolContext, ToolError

MAX_FILES = 4
"""The most files that a question shows: that of the question, and those that its words name."""
MAX_SEARCHED = 8
"""The most files that are searched for a definition."""
MAX_CHARACTERS = 10_000
"""The most characters of one file."""
_NO_LINES: Mapping[str, Lines] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """What a turn sends first.

    Attributes:
        messages: The instructions, then the files and the question.
        spread: The files that are shown one after the other; empty if all are in the question.
    """

    messages: list[Message]
    spread: SpreadChange


async def run_blocks(turn: Turn, services: TurnServices) -> Turn:
    """Run a turn to its end. Earlier turns of the chat are not sent.

    Raises:
        TurnStopped: As `run_turn`.
        ModelError: If a request fails.
    """
    ctx, ask = services.toolbox.ctx, turn.ask
    plan = await plan_blocks(ask, ctx, services.model.context_tokens)
    for message in plan.messages[1:]:
        ctx.proposer.untrusted.add("the context of your question", message.content)
    latest = turn = replace(turn, notes=(*turn.notes, *plan.spread.notes))

    def emit(event: AgentEvent) -> None:
        nonlocal latest
        latest = event.turn
        services.emit(event)

    def on_code(n_lines: int, line: str) -> None:
        emit(CodeWritten(latest, n_lines, line))

    def block_model(file: str | None = None) -> BlockModel:
        return BlockModel(services.model, ctx, ask, on_code, file)

    files = plan.spread.files
    model = FileByFileModel(block_model, ctx, files) if files else block_model()
    return await run_turn(turn, plan.messages, replace(services, model=model, emit=emit))


async def plan_blocks(ask: Ask, ctx: ToolContext, window: int | None) -> BlockPlan:
    """Read the files that a question is about, and return what is sent first.

    `window` is the number of tokens that the model can read, or None if it is not known.
    """
    await _read_named_files(ask, ctx)
    files, selected = _files(ask, ctx), _selected_range(ask, ctx)
    document = next(iter(files.values()), None)
    if document is None or document.is_large:
        return BlockPlan(await block_messages(ask, ctx, window), SpreadChange())
    if ask.mode is Mode.AGENT and (selected is None or selected.is_empty):
        spread = await find_spread_change(ask.prompt, document, ctx)
        if len(spread.files) > 1 or (spread.files and not is_short(document)):
            question = first_question(ask.prompt, spread.files[0])
            system = Message("system", prompt("agent_blocks"))
            return BlockPlan([system, Message("user", question)], spread)
    related = RelatedCode(ctx)
    outline = await asyncio.to_thread(outline_of, document)
    lines, _ = _question_lines(document, outline, ask.prompt, selected)
    await related.find_used(document, lines or (0, document.n_lines))
    return BlockPlan(await block_messages(ask, ctx, window, related.lines), SpreadChange())


async def _read_named_files(ask: Ask, ctx: ToolContext) -> None:
    """Read the files that the words of a question name, if they exist and may be shown.

    If a name of code is defined in no shown file, read the file that defines it, too.
    """
    for path in dict.fromkeys(PATH.findall(ask.prompt)):
        try:
            document = await ctx.reader.read(path)
        except ToolError:
            continue  # the word may be something else, such as `os.path`
        await ctx.reader.learn_around(document, 0, document.n_lines)
    wanted = " ".join(code_names(ask.prompt))
    if not wanted or any([await _defines(one, wanted) for one in ctx.reader.shown.values()]):
        return
    query = SearchQuery(wanted, SearchMode.KEYWORD)
    results = await ctx.searcher.search(ctx.reader.snapshot(), query)
    for name in list(dict.fromkeys(passage.name for passage in results.passages))[:MAX_SEARCHED]:
        try:
            document = await ctx.reader.peek(name)
        except ToolError:
            continue  # removed since, or may not be shown
        if await _defines(document, wanted):
            await ctx.reader.read(name)
            return


async def _defines(document: TextDocument, names: str) -> bool:
    """Return whether a document defines one of the names in a text."""
    outline = await asyncio.to_thread(outline_of, document)
    return named_lines(document, outline, names, None) is not None


async def block_messages(
    ask: Ask, ctx: ToolContext, window: int | None, related: Mapping[str, Lines] = _NO_LINES
) -> list[Message]:
    """Return the first messages of a turn: the instructions, then the files and the question.

    `window` is the number of tokens that the model can read, or None if it is not known. `related`
    has the lines to show of other files.
    """
    files = _files(ask, ctx)
    limit = MAX_CHARACTERS
    if window is not None:  # the answer may be as long as a file
        limit = min(limit, window * CHARACTERS_PER_TOKEN // (3 * max(1, len(files))))
    selected = _selected_range(ask, ctx)
    question = await asyncio.to_thread(_question, ask, files, selected, related, limit)
    system = prompt("ask_blocks" if ask.mode is Mode.ASK else "agent_blocks")
    return [Message("system", system), Message("user", question)]


def _selected_range(ask: Ask, ctx: ToolContext) -> Range | None:
    """Return the selection in the file of the question, perhaps empty; None if it is not known."""
    if ask.place.range is not None:
        return ask.place.range
    activity = ctx.reader.snapshot().activity
    uri = ask.place.uri or activity.active
    selection = activity.selection_of(uri) if uri else None
    return selection.ranges[0] if selection else None


def _question(
    ask: Ask,
    files: Mapping[str, TextDocument],
    selected: Range | None,
    related: Mapping[str, Lines],
    limit: int,
) -> str:
    """Return the files, the place in the first of them, and the request. Takes long."""
    parts: list[str] = []
    for number, (name, document) in enumerate(files.items()):
        outline = outline_of(document)
        place = selected if number == 0 else None
        around, is_named = _question_lines(document, outline, ask.prompt, place)
        lines = around if around and fits(document, around) else None
        if name in related:
            lines = related[name]
        elif is_short(document) or lines is None:
            line = 0 if place is None else place.start.line
            lines = lines_around(document, around[0] if around else line, limit)
        parts.append(file_text(name, document, lines))
        if place is not None and not place.is_empty:
            first, end = _selected_lines(document, outline, place, ask.mode)
            parts.append(f"Selected:\n\n{fenced_lines(document, first, end)}")
        elif place is not None and not is_named:
            inner = [one for one in outline if one.first <= place.start.line < one.end]
            parts += [f"The cursor is in `{inner[-1].name}`."] if inner else []
    return "\n\n".join((*parts, ask.prompt))


def _selected_lines(
    document: TextDocument, outline: Sequence[Definition], place: Range, mode: Mode
) -> Lines:
    """Return the lines of a selection; for an edit, those of the function around the selection.

    A small model that is shown a part of a function writes a part of it, which fits no place. Some
    editors always have a selection, of one character at least.
    """
    first = place.start.line
    end = place.end.line + (1 if place.end.character else 0)
    around = lines_at(outline, first) if mode is Mode.AGENT else None
    if around is None or not around[0] <= first < end <= around[1] or not fits(document, around):
        return first, end
    return around


def _question_lines(
    document: TextDocument, outline: Sequence[Definition], request: str, place: Range | None
) -> tuple[Lines | None, bool]:
    """Return the lines that a request is about, None for all, and whether its words name them."""
    line = None if place is None else place.start.line
    named = named_lines(document, outline, request, line)
    if named is not None:
        return named, True
    # On the first line the cursor is where the editor has put it.
    return (lines_at(outline, line) if line else None), False


def _files(ask: Ask, ctx: ToolContext) -> dict[str, TextDocument]:
    """Return the files to show by name: that of the question, then those that its words name."""
    snapshot, named = ctx.reader.snapshot(), set(PATH.findall(ask.prompt))
    attached = set(ask.attachments.files) if ask.attachments else set()
    first, found = ask.place.uri or snapshot.activity.active, {}
    for document in sorted(ctx.reader.shown.values(), key=lambda one: one.uri != first):
        name = snapshot.name_of(document.uri)
        is_named = any(name == one or name.endswith(f"/{one}") for one in named)
        is_read = name in ctx.reader.report.files_read
        if document.uri == first or is_named or is_read or document.uri in attached:
            found[name] = document
    return dict(list(found.items())[:MAX_FILES])
