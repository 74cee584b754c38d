"""`textDocument/codeLens`: accept and reject, above each hunk.

Each lens is a command with the id and the hash of the hunk, as a code action is: nothing is
resolved later, and a hunk that has changed meanwhile is refused.
"""

from lsprotocol import types as lsp

from stet.lsp.presentation.serialize import label
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN, Hunk, HunkState


def code_lenses(state: ServerState, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    """Return the lenses of a document; an empty list if it has no open hunks."""
    uri = params.text_document.uri
    if (buffer := state.workspace.buffer(uri)) is None:
        return []
    range_of = state.review.publisher.hunk_range
    hunks = [hunk for hunk in state.ledger.live(uri) if hunk.state in OPEN]
    return [
        lsp.CodeLens(place, lsp.Command(title, command, arguments=[named]))
        for hunk, place in ((hunk, range_of(hunk, buffer.lines)) for hunk in hunks)
        for title, command, named in _lens_commands(hunk)
    ]


def _lens_commands(hunk: Hunk) -> list[tuple[str, str, dict[str, object]]]:
    named: dict[str, object] = {"hunk": hunk.id, "hash": hunk.hash}
    yes: dict[str, object] = {"protected": True} if hunk.protected else {}
    if hunk.state is HunkState.CONFLICT:
        ways = (
            (f"Conflict: {label(hunk)} | Keep yours", "mine"),
            ("Take the proposal", "theirs"),
            ("Keep both", "markers"),
            ("Retry", "retry"),
        )
        return [(way, "stet.resolve", {"hunk": hunk.id, "how": how, **yes}) for way, how in ways]
    accept = f"Accept: {label(hunk)}"
    return [(accept, "stet.accept", named | yes), ("Reject", "stet.reject", named)]
