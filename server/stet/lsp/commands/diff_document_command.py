"""`stet.review`: what waits as a unified diff that the user may edit; acted on when it is saved."""

from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import RequestFailed
from stet.lsp.presentation.command_location import resolve_uri
from stet.lsp.presentation.hunk_selection import find_hunk
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN


def open_diff_document(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Open the page of all that waits, or of one turn, file, group or hunk."""
    arguments = CommandArguments("stet.review", values)
    turn, group, hunk_id = (arguments.text(name) for name in ("turn", "group", "hunk"))
    uri = resolve_uri(arguments, state.workspace)
    arguments.finish()
    state.disk_watch.check_unwatched()
    named = (find_hunk(state.ledger, hunk_id),) if hunk_id else None
    hunks = [
        hunk
        for hunk in named or state.ledger.hunks(uri=uri, turn=turn)
        if hunk.state in OPEN and group in {None, hunk.group}
    ]
    if not hunks:
        raise RequestFailed("nothing is pending there")
    try:
        return {"uri": state.diff_documents.open(hunks)}
    except OSError as error:
        raise RequestFailed(f"the review can't be written: {error}") from error
