"""`stet.context`, `stet.requestLog` and `stet.sendSelection`: what agents are sent.

`stet.context` changes the attachments of all later questions and their presets. `stet.requestLog`
(also `stet.ledger`) shows the request log as a document. `stet.sendSelection` names lines to Claude.
"""

from typing import Any, get_args

from stet.lsp.arguments import CommandArguments
from stet.lsp.claude_ide import NotConnected
from stet.lsp.lsp_errors import InvalidParams, RequestFailed, report_as
from stet.lsp.presentation.hunk_selection import resolve_location
from stet.lsp.preset_controller import MAX_DEPTH, ContextChange, ContextChangeRefused, UnknownPreset
from stet.lsp.startup import NOT_STARTED
from stet.lsp.state import ServerState
from stet.settings.values import Scope
from stet.workspace.snapshot import NotShown


def context(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Change the attachments of questions, or their presets; return the new state of both."""
    with CommandArguments("stet.context", values, main="add") as arguments:
        change = ContextChange(
            clear=arguments.flag("clear"),
            load=arguments.text("load"),
            remove=arguments.texts("remove"),
            add=arguments.texts("add"),
            scope=_scope(arguments),
            link_depth=_depth(arguments),
            save=arguments.text("save"),
            delete=arguments.text("delete"),
        )
    # The stored attachments and presets must be loaded first.
    if change != ContextChange() and not state.startup.is_loaded:
        raise RequestFailed(NOT_STARTED)
    with report_as(InvalidParams, UnknownPreset, ContextChangeRefused, message="stet.context: {}"):
        state.documents.presets.change(change)
    return state.documents.presets.state()


def _scope(arguments: CommandArguments) -> Any:  # one of the literals
    value = arguments.text("scope")
    known = get_args(Scope)
    if value is not None and value not in known:
        raise InvalidParams(
            f"stet.context: 'scope' must be one of {', '.join(known)}, not {value!r}"
        )
    return value


def _depth(arguments: CommandArguments) -> int | None:
    value = arguments.whole("linkDepth")
    if value is not None and not 0 <= value <= MAX_DEPTH:
        raise InvalidParams(
            f"stet.context: 'linkDepth' must be from 0 to {MAX_DEPTH}, not {value!r}"
        )
    return value


async def show_request_log(
    state: ServerState, values: tuple[object, ...], *, name: str = "stet.ledger"
) -> dict[str, object]:
    """Write the request log as a document and show it; stored entries are read in a worker
    thread.
    """
    CommandArguments(name, values).finish()
    with report_as(RequestFailed, OSError, message="can't write the request log: {}"):
        return {"uri": await state.agent_ui.request_log.open()}


async def send_selection(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Run `stet.sendSelection`: name the selected lines in the prompt of each Claude Code."""
    with CommandArguments("stet.sendSelection", values) as arguments:
        place = resolve_location(arguments, state.workspace)
    if place.uri is None:
        raise InvalidParams("stet.sendSelection needs 'uri' or 'file'")
    with report_as(RequestFailed, NotConnected, NotShown):
        n_sessions = await state.background.claude_ide.mention(place.uri, place.range)
    return {"sessions": n_sessions}
