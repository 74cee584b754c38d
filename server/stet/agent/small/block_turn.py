"""A turn of a model that writes changed functions in fenced blocks."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from stet.agent.agent_events import AgentEvent, CodeWritten
from stet.agent.loop import TurnServices, run_turn
from stet.agent.prompts import prompt
from stet.agent.small.block_model import BlockModel
from stet.agent.small.code_blocks import PATH
from stet.agent.small.edit_target import (
    code_names,
    fits,
    is_short,
    lines_at,
    named_lines,
    outline_of,
)
from stet.agent.turn import Ask, Mode, Turn
from stet.llm.model import CHARACTERS_PER_TOKEN, Message
from stet.search.word_search import SearchMode, SearchQuery
from stet.text.document import TextDocument, ending_of
from stet.text.lines import without_end
from stet.text.position import Range
from stet.text.render import fence_for
from stet.tools.tool import ToolContext, ToolError

MAX_FILES = 4
"""The most files that a question shows: that of the question, and those that its words name."""
MAX_SEARCHED = 8
"""The most files that are searched for a definition."""
MAX_LINES = 250
"""The most lines of one file, around the place that the question is about."""
MAX_CHARACTERS = 10_000
"""The most characters of one file."""


async def run_blocks(turn: Turn, services: TurnServices) -> Turn:
    """Run a turn to its end. Earlier turns of the chat are not sent.

    Raises:
        TurnStopped: As `run_turn`.
        ModelError: If a request fails.
    """
    ctx, ask = services.toolbox.ctx, turn.ask
    await read_named_files(ask, ctx)
    messages = await block_messages(ask, ctx, services.model.context_tokens)
    for message in messages[1:]:
        ctx.proposer.untrusted.add("the context of your question", message.content)
    latest = turn

    def emit(event: AgentEvent) -> None:
        nonlocal latest
        latest = event.turn
        services.emit(event)

    model = BlockModel(
        services.model,
        ctx,
        ask.prompt,
        lambda n_lines, line: emit(CodeWritten(latest, n_lines, line)),
        may_edit=ask.mode is Mode.AGENT,
    )
    return await run_turn(turn, messages, replace(services, model=model, emit=emit))


async def read_named_files(ask: Ask, ctx: ToolContext) -> None:
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


async def block_messages(ask: Ask, ctx: ToolContext, window: int | None) -> list[Message]:
    """Return the first messages of a turn: the instructions, then the files and the question.

    `window` is the number of tokens that the model can read, or None if it is not known.
    """
    files = _files(ask, ctx)
    limit = MAX_CHARACTERS
    if window is not None:  # the answer may be as long as a file
        limit = min(limit, window * CHARACTERS_PER_TOKEN // (3 * max(1, len(files))))
    question = await asyncio.to_thread(_question, ask, files, _selected_range(ask, ctx), limit)
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
    ask: Ask, files: Mapping[str, TextDocument], selected: Range | None, limit: int
) -> str:
    """Return the files, the place in the first of them, and the request. Takes long."""
    parts: list[str] = []
    for number, (name, document) in enumerate(files.items()):
        outline = outline_of(document)
        place = selected if number == 0 else None
        line = None if place is None else place.start.line
        named = named_lines(document, outline, ask.prompt, line)
        # On the first line the cursor is where the editor has put it.
        around = named or (lines_at(outline, line) if line else None)
        lines = around if around and fits(document, around) else None
        if is_short(document) or lines is None:
            lines = _shown_lines(document, around[0] if around else line or 0, limit)
        parts.append(_file_text(name, document, lines))
        if place is not None and not place.is_empty:
            last = place.end.line + (1 if place.end.character else 0)
            parts.append(f"Selected:\n\n{_block(document, place.start.line, last)}")
        elif place is not None and named is None:
            inner = [one for one in outline if one.first <= place.start.line < one.end]
            parts += [f"The cursor is in `{inner[-1].name}`."] if inner else []
    return "\n\n".join((*parts, ask.prompt))


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


def _file_text(name: str, document: TextDocument, lines: tuple[int, int]) -> str:
    """Return lines of a file (0-based, half-open) as they are shown."""
    is_whole = lines == (0, document.n_lines)
    where = "" if is_whole else f", lines {lines[0] + 1} to {lines[1]}"
    return f"The file {name}{where}:\n\n{_block(document, *lines)}"


def _block(document: TextDocument, first: int, end: int) -> str:
    lines = "".join(f"{without_end(line)}\n" for line in document.lines[first:end])
    fence = fence_for(lines)
    return f"{fence}{ending_of(document.uri).removeprefix('.')}\n{lines}{fence}"


def _shown_lines(document: TextDocument, line: int, limit: int) -> tuple[int, int]:
    """Return the lines to show (0-based, half-open), around a line.

    `limit` is the most characters of them.
    """
    if document.n_lines <= MAX_LINES and not document.is_large and len(document.text) <= limit:
        return 0, document.n_lines
    line = min(line, document.n_lines - 1)
    first, end, size = line, line, 0
    while end - first < MAX_LINES:
        candidate = (
            end if end - line <= 2 * (line - first) and end < document.n_lines else first - 1
        )
        if candidate < 0:
            candidate = end
        if candidate >= document.n_lines:
            break
        size += len(document.lines[candidate])
        if size > limit:
            break
        first, end = min(first, candidate), max(end, candidate + 1)
    return first, end
