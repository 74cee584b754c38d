"""`stet.deadLinks`: links that lead to no file, as diagnostics."""

from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import InvalidParams
from stet.lsp.presentation.command_location import resolve_uri
from stet.lsp.presentation.dead_link_marks import DeadLinkScope
from stet.lsp.state import ServerState
from stet.workspace.paths import PathRefused


def dead_links(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Look for them in a file, below a folder or everywhere, or take what is shown away."""
    arguments = CommandArguments("stet.deadLinks", values, main="file")
    uri, folder = resolve_uri(arguments, state.workspace), arguments.text("folder")
    clears = arguments.flag("clear")
    arguments.finish()
    if (uri is not None) + (folder is not None) + clears > 1:
        raise InvalidParams("give one of `uri`, `file`, `folder` and `clear`, or none of them")
    if clears:
        state.dead_links.clear()
        return {}
    try:
        top = state.workspace.snapshot().locate(folder).path if folder else None
    except PathRefused as refused:
        raise InvalidParams(str(refused)) from refused
    if folder and top is None:
        raise InvalidParams(f"{folder!r} is no folder")
    state.dead_links.ask(DeadLinkScope(uri, top))
    return {}
