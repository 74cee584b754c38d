"""`textDocument/codeLens`: accept and reject, above each hunk.

Each lens is a bare command that names the hunk and its content, as code actions do: nothing is
resolved later, and a hunk replaced meanwhile is refused.
"""

from lsprotocol import types as lsp

from stet.lsp.presentation.serialize import label
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN, Hunk, HunkState


def code_lenses(state: ServerState, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    """Return the lenses of a document, or an empty list without hunks."""
    uri = params.text_document.uri
    if state.workspace.buffer(uri) is None:
        return []
    hunks = [hunk for hunk in state.ledger.live(uri) if hunk.state in OPEN]
    return [
        lsp.CodeLens(place, lsp.Command(title, command, arguments=[named]))
        for hunk, place in ((hunk, state.review.publisher.hunk_range(hunk)) for hunk in hunks)
        for title, command, named in _lens_commands(hunk)
    ]


def _lens_commands(hunk: Hunk) -> list[tuple[str, str, dict[str, object]]]:
    named: dict[str, object] = {"hunk": hunk.id, "hash": hunk.hash}
    if hunk.state is HunkState.CONFLICT:
        return [
            (
                f"Conflict: {label(hunk)} | Keep mine",
                "stet.resolve",
                _resolve_arguments(hunk, "mine"),
            ),
            ("Take theirs", "stet.resolve", _resolve_arguments(hunk, "theirs")),
            ("Do it again", "stet.resolve", _resolve_arguments(hunk, "retry")),
        ]
    accepting = named | {"protected": True} if hunk.protected else named
    return [(f"Accept: {label(hunk)}", "stet.accept", accepting), ("Reject", "stet.reject", named)]


def _resolve_arguments(hunk: Hunk, how: str) -> dict[str, object]:
    return {"hunk": hunk.id, "how": how} | ({"protected": True} if hunk.protected else {})
