"""`stet.ledger`: what was sent to whom, as a document to read."""

from stet.lsp.arguments import Arguments
from stet.lsp.errors import RequestFailed
from stet.lsp.state import ServerState


async def ledger(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Write and show it; what earlier runs have kept is read in a worker."""
    Arguments("stet.ledger", given).finish()
    try:
        return {"uri": await state.sent.open()}
    except OSError as error:
        raise RequestFailed(f"what was sent can't be written down: {error}") from error
