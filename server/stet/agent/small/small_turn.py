"""A turn with a small model: few tools, short prompts, a worked example, and the usual loop."""

from dataclasses import replace

from stet.agent.loop import TurnServices, run_turn
from stet.agent.prompts import prompt
from stet.agent.small.grammar_model import GrammarConstrainedModel, to_plain_messages, window
from stet.agent.small.worked_example import question, worked_example
from stet.agent.toolbox import Toolbox
from stet.agent.turn import Ask, Mode, Turn, TurnFailed
from stet.llm.model import Message
from stet.text.document import TextDocument
from stet.text.lines import without_end
from stet.tools.tool import ToolContext

SMALL_TOOLS = frozenset({"read_file", "edit_file", "done"})
MAX_FILES = 4
"""The most files that the model may choose from: the active file and other shown files."""
MAX_REQUEST = 1000
"""The most characters of a question, so that the example, a file and the answers fit as well."""


async def run_small(turn: Turn, services: TurnServices) -> Turn:
    """Run a turn to its end with a small model under a grammar.

    Earlier turns of the chat are not sent, because they do not fit.

    Raises:
        TurnStopped: As `run_turn`; also if there is no file, or if the question is too long.
        ModelError: If a request fails.
    """
    ctx, ask = services.toolbox.ctx, turn.ask
    if len(ask.prompt) > MAX_REQUEST:
        raise TurnFailed(
            f"The prompt has {len(ask.prompt)} characters; the embedded model accepts at most "
            f"{MAX_REQUEST}. Shorten it, or configure a larger model."
        )
    files = _files(ctx)
    if ask.mode is Mode.ASK:
        services = replace(services, toolbox=Toolbox((), ctx))
        return await run_turn(turn, _answer_messages(ask, files), services)
    if not files:
        raise TurnFailed("The embedded model can only edit an open file: open it first.")
    tools = tuple(tool for tool in services.toolbox.tools if tool.name in SMALL_TOOLS)
    services = replace(
        services,
        model=GrammarConstrainedModel(services.model, ctx, files, _line(ask), ask.prompt),
        toolbox=Toolbox(tools, ctx),
    )
    return await run_turn(turn, _edit_messages(ask, files), services)


def preview_small(ask: Ask, ctx: ToolContext) -> list[tuple[str, str]]:
    """Return the role and the text of each message of a turn's first request."""
    files = _files(ctx)
    if ask.mode is Mode.ASK:
        messages = _answer_messages(ask, files)
    else:
        messages = list(to_plain_messages(_edit_messages(ask, files))) if files else []
    return [(message.role, message.content) for message in messages]


def _edit_messages(ask: Ask, files: dict[str, TextDocument]) -> list[Message]:
    """Return the first messages of a turn that proposes edits."""
    system = Message("system", prompt("small"))
    return [system, *worked_example(), Message("user", question(next(iter(files)), ask.prompt))]


def _answer_messages(ask: Ask, files: dict[str, TextDocument]) -> list[Message]:
    """Return the messages of a turn that only answers. The file is sent with the question."""
    question_text = ask.prompt
    for name, document in list(files.items())[:1]:
        shown = window(document, _line(ask), ask.prompt)
        lines = document.lines[shown.first : shown.end]
        text = "".join(f"{without_end(line)}\n" for line in lines)
        question_text = f"File: {name}\n<file>\n{text}</file>\n{ask.prompt}"
    return [Message("system", prompt("small_ask")), Message("user", question_text)]


def _files(ctx: ToolContext) -> dict[str, TextDocument]:
    """Return the shown files by name, the file of the question first."""
    snapshot = ctx.reader.snapshot()
    named = ((snapshot.name_of(document.uri), document) for document in ctx.reader.shown.values())
    # A name with a line end would break the line of a call.
    files = [(name, document) for name, document in named if name.isprintable()]
    return dict(files[:MAX_FILES])


def _line(ask: Ask) -> int | None:
    """Return the first selected line, 0-based, or None if there is no selection."""
    selected = ask.place.range
    return None if selected is None or selected.is_empty else selected.start.line
