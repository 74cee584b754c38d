"""`stet.runComment`, also `stet.carryOut`: do what a comment in the text says, or answer it."""

import asyncio
from collections.abc import Awaitable, Sequence

from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import InvalidParams
from stet.lsp.presentation.command_location import resolve_uri, stored_document
from stet.lsp.state import ServerState
from stet.text.document import TextDocument


def run_comment(
    state: ServerState, values: tuple[object, ...], *, name: str = "stet.carryOut"
) -> dict[str, object] | Awaitable[dict[str, object]]:
    """Carry out the comment on a line, by default where the cursor is; the turn runs behind this.

    A file that is not open is read in a worker first.

    Args:
        state: The server's.
        values: The arguments as the editor sent them.
        name: The name by which the command was called, for its errors.
    """
    arguments = CommandArguments(name, values)
    uri, line = resolve_uri(arguments, state.workspace), arguments.number("line")
    chat = arguments.text("chat")
    arguments.finish()
    activity = state.workspace.snapshot().activity
    if uri is None:
        uri = activity.active
    if uri is None:
        raise InvalidParams(f"{name} needs a place: `uri` or `file`, and `line`")
    if line is None:
        selection = activity.selection_of(uri)
        if selection is None:
            raise InvalidParams(f"{name} needs `line`: the editor has not told where the cursor is")
        line = selection.cursor.line + 1
    document, buffer = state.workspace.document(uri), state.workspace.buffer(uri)
    if document is None or buffer is None:
        return _start_from_disk(state, uri, line, chat)
    # Its lines are split already, and there may be very many.
    return _start_turn(state, document, buffer.lines, line, chat)


async def _start_from_disk(
    state: ServerState, uri: str, line: int, chat: str | None
) -> dict[str, object]:
    document = await asyncio.to_thread(stored_document, uri, state.workspace.snapshot())
    return _start_turn(state, document, document.lines, line, chat)


def _start_turn(
    state: ServerState, document: TextDocument, lines: Sequence[str], line: int, chat: str | None
) -> dict[str, object]:
    if line > len(lines):
        n_lines = len(lines) - (lines[-1] == "")
        raise InvalidParams(f"line {line} is behind the end: the text has {n_lines} lines")
    return {"turn": state.comment_runner.run(document, line - 1, lines[line - 1], chat)}
