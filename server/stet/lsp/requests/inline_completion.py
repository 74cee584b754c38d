"""`textDocument/inlineCompletion`: the text that the completion model continues the cursor with."""

from lsprotocol import types as lsp

from stet.lsp import convert
from stet.lsp.state import ServerState
from stet.text.position import Range
from stet.workspace.activity import ActivitySource


async def inline_completion(
    state: ServerState, params: lsp.InlineCompletionParams
) -> lsp.InlineCompletionList:
    """Return at most one completion. Without one the list is empty, never null: Neovim keeps the
    completion that it shows at null.
    """
    uri = params.text_document.uri
    workspace = state.workspace
    buffer = workspace.buffer(uri)
    if buffer is None:
        return lsp.InlineCompletionList([])
    at = convert.to_position(params.position, buffer.lines, workspace.encoding)
    workspace.activity.touched(uri, Range(at, at), ActivitySource.REQUEST)
    start, inserted = at, ""
    if (chosen := params.context.selected_completion_info) is not None:
        # The item that is selected in the editor's menu of completions: it comes first.
        replaced = convert.to_range(chosen.range, buffer.lines, workspace.encoding)
        if replaced.end != at or replaced.start.line != at.line:
            return lsp.InlineCompletionList([])
        start, inserted = replaced.start, chosen.text
    stretch = convert.to_wire_range(Range(start, at), buffer.lines, workspace.encoding)
    is_automatic = params.context.trigger_kind == lsp.InlineCompletionTriggerKind.Automatic
    text = await state.background.completions.complete(
        uri, Range(start, at), inserted, delay=is_automatic
    )
    if not text:
        return lsp.InlineCompletionList([])
    return lsp.InlineCompletionList([lsp.InlineCompletionItem(f"{inserted}{text}", range=stretch)])
