"""What every command that decides says beside its answer: whether the decision is on the disk."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stet.lsp.state import ServerState

Handler = Callable[["ServerState", tuple[object, ...]], object]


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
