"""`textDocument/hover` and `textDocument/documentHighlight`: the hunks under the cursor.

Some editors send one of these requests whenever the cursor rests, so both record the user's
position. Without a hunk, both answer null at once, so they never delay the language's own server.
"""

from lsprotocol import types as lsp

from stet.lsp import convert
from stet.lsp.presentation.serialize import hover_text
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN
from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource


def hover(state: ServerState, params: lsp.HoverParams) -> lsp.Hover | None:
    """Return the diff of the hunks under the cursor, or null."""
    uri = params.text_document.uri
    place = _record_position(state, uri, params.position, ActivitySource.HOVER)
    if place is None:
        return None
    here = Range(place, place)
    hunks = [hunk for hunk in state.ledger.live(uri) if hunk.state in OPEN]
    markdown = state.server.editor.hover_markdown
    texts = [hover_text(hunk, markdown=markdown) for hunk in hunks if hunk.is_on_lines_of(here)]
    if not texts:
        return None
    if markdown:
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(texts)))
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.PlainText, "\n\n".join(texts)))


def document_highlight(state: ServerState, params: lsp.DocumentHighlightParams) -> None:
    """Record the position of the cursor. Nothing is highlighted."""
    _record_position(state, params.text_document.uri, params.position, ActivitySource.REQUEST)


def _record_position(
    state: ServerState, uri: str, place: lsp.Position, source: ActivitySource
) -> Position | None:
    workspace = state.documents.workspace_of(uri)
    buffer = workspace.buffer(uri)
    if buffer is None:
        return None
    at = convert.to_position(place, buffer.lines, workspace.encoding)
    workspace.activity.touched(uri, Range(at, at), source)
    return at
