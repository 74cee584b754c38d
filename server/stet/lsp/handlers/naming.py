"""Commands that name a note find the blocks of other programs there, though it is not open."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from stet.lsp.arguments import Arguments
from stet.lsp.errors import InvalidParams
from stet.lsp.showing.places import uri_of

if TYPE_CHECKING:
    from stet.lsp.state import ServerState

Handler = Callable[["ServerState", tuple[object, ...]], object]


def looking_at_named(handler: Handler) -> Handler:
    """Have a note that a command names by `uri` or `file` looked at before `handler` is called.

    Where that is needed the command is answered later; any other answers at once.
    """

    def handle(state: "ServerState", given: tuple[object, ...]) -> object:
        uri = _named(state, given)
        if uri is None or not state.imports.must_look_at(uri):
            return handler(state, given)
        return _after_look(state, uri, lambda: handler(state, given))

    return handle


async def _after_look(state: "ServerState", uri: str, call: Callable[[], object]) -> object:
    await state.imports.look_at(uri)
    return call()


def _named(state: "ServerState", given: tuple[object, ...]) -> str | None:
    """The document that is named; None if none is, or in a way that the handler will refuse."""
    try:
        return uri_of(Arguments("", given, main="hunk"), state.workspace)
    except InvalidParams:
        return None
