"""`stet.requestLog`, also `stet.ledger`: what was sent to whom, as a document to read."""

from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import RequestFailed
from stet.lsp.state import ServerState


async def show_request_log(
    state: ServerState, values: tuple[object, ...], *, name: str = "stet.ledger"
) -> dict[str, object]:
    """Write the document and show it; what earlier runs have stored is read in a worker."""
    CommandArguments(name, values).finish()
    try:
        return {"uri": await state.request_log.open()}
    except OSError as error:
        raise RequestFailed(f"what was sent can't be written down: {error}") from error
