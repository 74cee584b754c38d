"""What is noted around a command: blocks that another program has written, and that nothing can be kept."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from stet.lsp.lsp_errors import InvalidParams

if TYPE_CHECKING:
    from stet.lsp.state import ServerState

Handler = Callable[["ServerState", tuple[object, ...]], object]


def with_import(handler: Handler) -> Handler:
    """Import the blocks of the note that a command names by `uri` or `file` before calling `handler`.

    The command is then answered after the import; a command that needs no import is answered at once.
    """

    def handle(state: "ServerState", values: tuple[object, ...]) -> object:
        uri = _named_uri(state, values)
        if uri is None or not state.block_import.needs_import(uri):
            return handler(state, values)
        return _import_first(state, uri, lambda: handler(state, values))

    return handle


async def _import_first(state: "ServerState", uri: str, call: Callable[[], object]) -> object:
    await state.block_import.import_named(uri)
    return call()


def _named_uri(state: "ServerState", values: tuple[object, ...]) -> str | None:
    """Return the URI that the command names; None if it names none or the handler will refuse it."""
    # Imported here: the routing table needs this module before `initialize` is answered.
    from stet.lsp.arguments import CommandArguments
    from stet.lsp.presentation.command_location import resolve_uri

    try:
        return resolve_uri(CommandArguments("", values, main="hunk"), state.workspace)
    except InvalidParams:
        return None


def with_persistence_note(handler: Handler, *, writes_later: bool = False) -> Handler:
    """Add `notPersisted`, the reason, to the answer of `handler` where a kill would lose the decision.

    Args:
        handler: Of the command.
        writes_later: Whether the decision is written after the answer; then it is tried whether the
            disk takes anything.
    """

    def handle(state: "ServerState", values: tuple[object, ...]) -> object:
        answer = handler(state, values)
        if writes_later:
            state.store.probe()
        reason = state.store.not_persisted
        return {**answer, "notPersisted": reason} if reason and isinstance(answer, dict) else answer

    return handle
