"""A turn of a model that writes changed functions in fenced blocks."""

import re
from dataclasses import replace

from stet.agent.loop import TurnServices, run_turn
from stet.agent.prompts import prompt
from stet.agent.small.block_model import BlockModel
from stet.agent.small.code_blocks import PATH
from stet.agent.turn import Ask, Mode, Turn
from stet.llm.model import CHARACTERS_PER_TOKEN, Message
from stet.outline.definition import with_plain_ends
from stet.outline.indent_outline import definitions_in
from stet.text.document import TextDocument, ending_of
from stet.text.lines import without_end
from stet.text.render import fence_for
from stet.tools.tool import ToolContext, ToolError

MAX_FILES = 4
"""The most files that a question shows: that of the question, and those that its words name."""
MAX_LINES = 250
"""The most lines of one file, around the place that the question is about."""
MAX_CHARACTERS = 10_000
"""The most characters of one file."""
_WORD = re.compile(r"\w+")


async def run_blocks(turn: Turn, services: TurnServices) -> Turn:
    """Run a turn to its end. Earlier turns of the chat are not sent.

    Raises:
        TurnStopped: As `run_turn`.
        ModelError: If a request fails.
    """
    ctx, ask = services.toolbox.ctx, turn.ask
    await read_named_files(ask, ctx)
    messages = block_messages(ask, ctx, services.model.context_tokens)
    for message in messages[1:]:
        ctx.proposer.untrusted.add("the context of your question", message.content)
    model = BlockModel(services.model, ctx, ask.prompt, may_edit=ask.mode is Mode.AGENT)
    return await run_turn(turn, messages, replace(services, model=model))


async def read_named_files(ask: Ask, ctx: ToolContext) -> None:
    """Read the files that the words of a question name, if they exist and may be shown."""
    for path in dict.fromkeys(PATH.findall(ask.prompt)):
        try:
            document = await ctx.reader.read(path)
        except ToolError:
            continue  # the word may be something else, such as `os.path`
        await ctx.reader.learn_around(document, 0, document.n_lines)


def block_messages(ask: Ask, ctx: ToolContext, window: int | None) -> list[Message]:
    """Return the first messages of a turn: the instructions, then the files and the question.

    `window` is the number of tokens that the model can read, or None if it is not known.
    """
    files = _files(ask, ctx)
    limit = MAX_CHARACTERS
    if window is not None:  # the answer may be as long as a file
        limit = min(limit, window * CHARACTERS_PER_TOKEN // (3 * max(1, len(files))))
    parts = [_file_text(ask, name, document, limit) for name, document in files.items()]
    system = prompt("ask_blocks" if ask.mode is Mode.ASK else "agent_blocks")
    return [Message("system", system), Message("user", "\n\n".join((*parts, ask.prompt)))]


def _files(ask: Ask, ctx: ToolContext) -> dict[str, TextDocument]:
    """Return the files to show by name: that of the question, then those that its words name."""
    snapshot, named = ctx.reader.snapshot(), set(PATH.findall(ask.prompt))
    attached = set(ask.attachments.files) if ask.attachments else set()
    first, found = ask.place.uri or snapshot.activity.active, {}
    for document in sorted(ctx.reader.shown.values(), key=lambda one: one.uri != first):
        name = snapshot.name_of(document.uri)
        is_named = any(name == one or name.endswith(f"/{one}") for one in named)
        if document.uri == first or is_named or document.uri in attached:
            found[name] = document
    return dict(list(found.items())[:MAX_FILES])


def _file_text(ask: Ask, name: str, document: TextDocument, limit: int) -> str:
    """Return a file as it is shown, with the selected lines again if lines are selected."""
    first, end = _shown_lines(ask, document, limit)
    is_whole = (first, end) == (0, document.n_lines)
    where = "" if is_whole else f", lines {first + 1} to {end}"
    text = f"The file {name}{where}:\n\n{_block(document, first, end)}"
    selected = ask.place.range
    if document.uri != ask.place.uri or selected is None or selected.is_empty:
        return text
    last = selected.end.line + (1 if selected.end.character else 0)
    return f"{text}\n\nSelected:\n\n{_block(document, selected.start.line, last)}"


def _block(document: TextDocument, first: int, end: int) -> str:
    lines = "".join(f"{without_end(line)}\n" for line in document.lines[first:end])
    fence = fence_for(lines)
    return f"{fence}{ending_of(document.uri).removeprefix('.')}\n{lines}{fence}"


def _shown_lines(ask: Ask, document: TextDocument, limit: int) -> tuple[int, int]:
    """Return the lines to show (0-based, half-open), around what the question is about.

    `limit` is the most characters of them.
    """
    if document.n_lines <= MAX_LINES and not document.is_large and len(document.text) <= limit:
        return 0, document.n_lines
    line = _named_line(ask.prompt, document)
    if line is None and document.uri == ask.place.uri and ask.place.range is not None:
        line = ask.place.range.start.line
    line = line or 0
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


def _named_line(prompt_text: str, document: TextDocument) -> int | None:
    """Return the first line of a definition that the question names, or None."""
    if document.is_large:
        return None
    words, text = set(_WORD.findall(prompt_text)), with_plain_ends(document.text)
    found = definitions_in(text, text.split("\n"), ending_of(document.uri))
    return next((one.first for one in found if one.name in words), None)
