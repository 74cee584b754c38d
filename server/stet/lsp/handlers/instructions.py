"""`stet.carryOut`: do what a comment in the text says, or answer it."""

from stet.lsp.arguments import Arguments
from stet.lsp.errors import InvalidParams
from stet.lsp.showing.places import document_of, uri_of
from stet.lsp.state import ServerState


def carry_out(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Carry out the comment on a line, by default where the cursor is; the turn runs behind this."""
    arguments = Arguments("stet.carryOut", given)
    uri, line = uri_of(arguments, state.workspace), arguments.number("line")
    chat = arguments.text("chat")
    arguments.finish()
    activity = state.workspace.snapshot().activity
    if uri is None:
        uri = activity.active
    if uri is None:
        raise InvalidParams("stet.carryOut needs a place: `uri` or `file`, and `line`")
    document = document_of(uri, state.workspace)
    if line is None:
        selection = activity.selection_of(uri)
        if selection is None:
            raise InvalidParams(
                "stet.carryOut needs `line`: the editor has not told where the cursor is"
            )
        line = selection.cursor.line + 1
    if line > max(document.n_lines, len(document.lines)):
        raise InvalidParams(f"line {line} is behind the end: the text has {document.n_lines} lines")
    return {"turn": state.comments.carry_out(document, line - 1, chat)}
