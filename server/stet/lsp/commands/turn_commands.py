"""The commands of turns: `stet.ask`, `turn`, `cancel`, `steer`, `answer`, `showContext`, `status`,
`runComment`.

`stet.runComment` (also `stet.carryOut`) starts the turn for a comment in the text.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Sequence

from stet import __version__
from stet.agent.agent import NotRunning, UnknownTurn
from stet.agent.turn import FINAL_STATES, Ask, Mode, TurnFailed
from stet.agent.turn_runner import NoPendingQuestion, UnknownQuestion
from stet.llm.model import estimate_tokens
from stet.lsp.arguments import CommandArguments
from stet.lsp.chat.chat_controller import DEFAULT_CHAT
from stet.lsp.lsp_errors import InvalidParams, RequestFailed, report_as
from stet.lsp.presentation.generated_documents import render_context_document
from stet.lsp.presentation.hunk_selection import resolve_location, resolve_uri, stored_document
from stet.lsp.presentation.serialize import turn_to_json
from stet.lsp.preset_controller import UnknownPreset
from stet.lsp.routing import WaitTurn, call_in_turn
from stet.lsp.startup import NOT_STARTED
from stet.lsp.state import ServerState
from stet.review.proposal import HunkState
from stet.text.document import TextDocument


def ask(state: ServerState, values: tuple[object, ...]) -> object:
    """Queue a question; the turn runs after this answer.

    The turn waits until the server is ready. With a preset the answer waits too, until presets are
    loaded.
    """
    with CommandArguments("stet.ask", values, main="prompt") as arguments:
        question, preset = _parse_ask(arguments, state)

    def start() -> dict[str, object]:
        return {"turn": state.agent.ask(_with_attachments(state, question, preset)).id}

    wait_turn = state.startup.readiness.enqueue() if preset is not None else None
    return start() if wait_turn is None else call_in_turn(wait_turn, start)


def turn(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Return the state of a turn."""
    with CommandArguments("stet.turn", values, main="turn") as arguments:
        turn_id = arguments.required("turn")
    with report_as(InvalidParams, UnknownTurn):
        return turn_to_json(state.agent.turn(turn_id), state.ledger)


def cancel(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Stop a turn, or all turns."""
    with CommandArguments("stet.cancel", values, main="turn") as arguments:
        turn_id = arguments.text("turn")
    with report_as(InvalidParams, UnknownTurn):
        return {"turns": list(state.agent.cancel(turn_id))}


def steer(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Steer a running turn; the model is sent the text in the next round, another agent as its
    next prompt.
    """
    with CommandArguments("stet.steer", values, main="prompt") as arguments:
        turn_id, prompt = arguments.text("turn"), arguments.required("prompt")
    with report_as(InvalidParams, UnknownTurn), report_as(RequestFailed, NotRunning):
        answering = state.agent.steer(prompt, turn_id)
    state.agent_ui.chats.show_queued(state.agent.turn(answering))
    return {"turn": answering}


def answer(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Answer the question of a turn; without an answer, show the question and how to answer it
    again.
    """
    with CommandArguments("stet.answer", values, main="text") as arguments:
        question, text = arguments.text("question"), arguments.text("text")
        choice = arguments.text("choice")
    if text is not None and choice is not None:
        raise InvalidParams("stet.answer accepts 'text' or 'choice', not both")
    reply = choice if choice is not None else text
    questions = state.agent.questions
    with report_as(InvalidParams, UnknownQuestion), report_as(RequestFailed, NoPendingQuestion):
        if reply is None:
            turn_id, _ = questions.waiting(question)
            state.agent_ui.turn_view.remind(state.agent.turn(turn_id))
            return {"turn": turn_id}
        return {"turn": questions.reply(reply, question, is_choice=choice is not None)}


def show_context(state: ServerState, values: tuple[object, ...]) -> Awaitable[dict[str, object]]:
    """Return exactly what a question would send, and send nothing. Read the disk in a worker
    thread.

    With `show` the result is opened as a document, for editors that show no answers of commands.
    """
    with CommandArguments("stet.showContext", values, main="prompt") as arguments:
        is_shown = arguments.flag("show")
        question, preset = _parse_ask(arguments, state)
    answer = _build_context(state, question, preset, state.startup.readiness.enqueue())
    return _show_answer(state, answer, question.prompt) if is_shown else answer


async def _show_answer(
    state: ServerState, answer: Awaitable[dict[str, object]], prompt: str
) -> dict[str, object]:
    """Write the answer as a document and show it; return the answer with the document's URI."""
    context = await answer
    text, task = render_context_document(prompt, context), "show what would be sent"
    generated = state.documents.generated
    with report_as(RequestFailed, OSError, message="can't write the context preview: {}"):
        return {**context, "uri": await generated.show(state.client, "context", text, task)}


async def _build_context(
    state: ServerState, question: Ask, preset: str | None, wait_turn: WaitTurn | None
) -> dict[str, object]:
    if wait_turn is not None:
        await wait_turn()
    await state.startup.wait_settings()
    question = _with_attachments(state, question, preset)
    if name := question.external_agent(state.workspace.settings.agents.default):
        raise RequestFailed(
            f"the agent {name} would answer: what it sends to its model is not known to Stet"
        )
    answerer = state.startup.pipeline
    if answerer is None:
        raise RequestFailed(NOT_STARTED)
    await state.documents.block_import.import_asked(question)
    with report_as(RequestFailed, TurnFailed):
        parts = await answerer.preview(question, state.agent.session(question.chat))
    tokens = [estimate_tokens(text) for _, text in parts]
    sections = [
        {"name": name, "text": text, "tokens": n}
        for (name, text), n in zip(parts, tokens, strict=True)
    ]
    return {"sections": sections, "tokens": sum(tokens)}


def status(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Return whether the server is ready, the model in use, and the number of hunks to decide."""
    CommandArguments("stet.status", values).finish()
    choice = state.startup.choice
    hunks = state.ledger.hunks()
    return {
        "ready": state.startup.is_loaded,
        "version": __version__,
        "model": choice.model if choice else None,
        "provider": choice.provider if choice else None,
        "why": state.startup.model_reason,
        "notPersisted": state.store.not_persisted or None,
        "index": state.background.index_view.to_json(),
        "agents": state.background.external_agents.to_json(),
        "mcpServers": _mcp_servers(state),
        "otherEditors": state.background.other_editors.to_json(),
        "bridges": {"opencode": state.background.opencode.to_json()},
        "completion": state.background.completions.to_json(),
        "turns": [turn.id for turn in state.agent.turns() if turn.state not in FINAL_STATES],
        "pending": sum(hunk.state is HunkState.PENDING for hunk in hunks),
        "conflicts": sum(hunk.state is HunkState.CONFLICT for hunk in hunks),
    }


def _mcp_servers(state: ServerState) -> list[dict[str, object]]:
    """Return the MCP servers of the settings with their states."""
    pipeline = state.startup.pipeline
    known = pipeline.mcp.servers.states() if pipeline and pipeline.mcp else {}
    return [
        {"name": one.name, **known.get(one.name, {"state": "off", "tools": 0})}
        for one in state.workspace.settings.mcp_servers
    ]


def _with_attachments(state: ServerState, question: Ask, preset: str | None) -> Ask:
    """Return a question with attachments: those of the preset if there is one, else the current."""
    if preset is None:
        return dataclasses.replace(question, attachments=state.workspace.attachments)
    if not state.startup.is_loaded:
        raise RequestFailed(NOT_STARTED)
    with report_as(InvalidParams, UnknownPreset):
        attachments = state.documents.presets.preset_attachments(preset)
        return dataclasses.replace(question, attachments=attachments)


def _parse_ask(arguments: CommandArguments, state: ServerState) -> tuple[Ask, str | None]:
    """Return the question of a command, without attachments, and the name of its preset."""
    prompt = arguments.required("prompt")
    mode = arguments.one_of("mode", Mode, Mode.AGENT)
    projects = {file.prompt for file in state.workspace.settings.prompts if file.project}
    question = Ask(
        prompt=prompt,
        mode=mode,
        chat=arguments.text("chat") or DEFAULT_CHAT,
        place=resolve_location(arguments, state.workspace, state.review.diff_documents),
        disabled_tools=arguments.switches("disabledTools"),
        disabled_groups=arguments.switches("disabledGroups"),
        is_users=prompt not in projects,
        agent=arguments.text("agent") or state.agent.agent_of_question(mode),
    )
    return question, arguments.text("preset")


def run_comment(
    state: ServerState, values: tuple[object, ...], *, name: str = "stet.carryOut"
) -> dict[str, object] | Awaitable[dict[str, object]]:
    """Start the turn for the comment on a line, by default the cursor's; the turn runs after the
    answer.

    A file that is not open is first read in a worker thread.

    Args:
        state: The state of the server.
        values: The arguments as the editor sent them.
        name: The name by which the command was called, for error messages.
    """
    with CommandArguments(name, values) as arguments:
        uri, line = resolve_uri(arguments, state.workspace), arguments.number("line")
        chat = arguments.text("chat")
    activity = state.workspace.snapshot().activity
    if uri is None:
        uri = activity.active
    if uri is None:
        raise InvalidParams(f"{name} needs a location: `uri` or `file`, and `line`")
    if line is None:
        selection = activity.selection_of(uri)
        if selection is None:
            raise InvalidParams(f"{name} needs `line`: the cursor position is unknown")
        line = selection.cursor.line + 1
    document, buffer = state.workspace.document(uri), state.workspace.buffer(uri)
    if document is None or buffer is None:
        return _start_from_disk(state, uri, line, chat)
    # Use the buffer's lines: splitting a very long text takes long.
    return _start_comment(state, document, buffer.lines, line, chat)


async def _start_from_disk(
    state: ServerState, uri: str, line: int, chat: str | None
) -> dict[str, object]:
    document = await asyncio.to_thread(stored_document, uri, state.workspace.snapshot())
    return _start_comment(state, document, document.lines, line, chat)


def _start_comment(
    state: ServerState, document: TextDocument, lines: Sequence[str], line: int, chat: str | None
) -> dict[str, object]:
    if line > len(lines):
        n_lines = len(lines) - (lines[-1] == "")
        raise InvalidParams(f"line {line} is past the end: the file has {n_lines} lines")
    return {"turn": state.agent_ui.comment_runner.run(document, line - 1, lines[line - 1], chat)}
