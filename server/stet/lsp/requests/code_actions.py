"""`textDocument/codeAction`: decide on the hunks here, or ask about the selection.

Every action is a bare command with a title of its own: that is what all editors run, without
resolving and without checking versions. The edit is sent when the command comes, against the text
as it is then.

The answer is at hand, except where a line may hold an instruction: whether it is in a comment has to
be found out by reading the text.
"""

from collections.abc import Awaitable, Sequence

from lsprotocol import types as lsp

from stet.lsp import from_lsp
from stet.lsp.presentation.offered_actions import (
    QUICK_FIX,
    SOURCE,
    CommentCandidates,
    actions_on,
    command_action,
    comment_actions,
    find_candidates,
)
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN
from stet.settings.values import PromptSettings
from stet.text.document import MARKDOWN, TextDocument
from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource, inferred_range

PROMPTS = (
    PromptSettings("Document this", "Add documentation", mode="rewrite"),
    PromptSettings("Correct grammar and spelling", "Correct grammar and spelling", mode="rewrite"),
    PromptSettings("Find and fix a mistake here", "Find and fix a mistake here"),
    PromptSettings("Explain this", "Explain this", SOURCE, mode="ask"),
)
"""What is always offered."""
_AUTOMATIC = lsp.CodeActionTriggerKind.Automatic
MAX_CHOICE = 60
"""Of a choice in a title, so that the turn behind it can be seen."""


_Actions = list[lsp.CodeAction]


def code_actions(
    state: ServerState, params: lsp.CodeActionParams
) -> _Actions | Awaitable[_Actions]:
    """Return the actions that are available on these lines."""
    uri, workspace = params.text_document.uri, state.workspace
    buffer = workspace.buffer(uri)
    if buffer is None:
        comment_lines = (
            [] if params.context.trigger_kind is _AUTOMATIC else _chat_actions(state, uri)
        )
        return [action for action in comment_lines if _is_requested(action, params.context.only)]
    place = from_lsp.to_range(params.range, buffer.lines, workspace.encoding)
    workspace.activity.touched(uri, place, ActivitySource.REQUEST)
    automatic = params.context.trigger_kind is _AUTOMATIC
    waiting = [hunk for hunk in state.ledger.live(uri) if hunk.state in OPEN]
    here = [hunk for hunk in waiting if hunk.is_on_lines_of(place)]
    actions = _question_actions(state, uri, place, automatic=automatic)
    if here:
        actions += actions_on(
            here, waiting, state.ledger, state.publisher.diagnostic, state.server.editor
        )
    others: _Actions = []
    if not automatic:
        others = [] if here else _workspace_actions(state)
        others += _dead_link_actions(state, workspace.language(uri), uri)
        others += _prompt_actions(
            state, workspace.language(uri), uri, _question_ranges(state, params, place)
        )
    if (candidates := find_candidates(buffer.lines, place)) and (
        document := workspace.document(uri)
    ):
        return _with_comment_actions(state, document, candidates, params, (actions, others))
    return [one for one in (*actions, *others) if _is_requested(one, params.context.only)]


async def _with_comment_actions(
    state: ServerState,
    document: TextDocument,
    candidates: CommentCandidates,
    params: lsp.CodeActionParams,
    around: tuple[_Actions, _Actions],
) -> _Actions:
    """Return the actions in `around` with the actions for instructions between them."""
    known = await state.comment_check.lines(document)
    found = comment_actions(params.text_document.uri, candidates, known)
    first, last = around
    return [one for one in (*first, *found, *last) if _is_requested(one, params.context.only)]


def _question_ranges(
    state: ServerState, params: lsp.CodeActionParams, place: Range
) -> tuple[lsp.Range, lsp.Range | None]:
    """Return the range that a question is about and the range that is rewritten. The second is None
    if nothing is selected.
    """
    rewritten = None if place.is_empty else params.range
    if state.server.editor.selects_cursor and inferred_range(place).is_empty:
        # Its user has selected nothing: what rewrites is for the line.
        line = place.start.line
        rewritten = lsp.Range(lsp.Position(line, 0), lsp.Position(line + 1, 0))
    return params.range, rewritten


def _is_requested(action: lsp.CodeAction, only: Sequence[lsp.CodeActionKind | str] | None) -> bool:
    """Kinds are filtered by prefix: `refactor` asks for `refactor.rewrite.stet` too."""
    kind = str(getattr(action.kind, "value", action.kind))
    prefixes = [str(getattr(entry, "value", entry)) for entry in only or [""]]
    return any(entry in ("", kind) or kind.startswith(f"{entry}.") for entry in prefixes)


def _chat_actions(state: ServerState, uri: str) -> list[lsp.CodeAction]:
    """Return the actions in a chat's document: answer, send, begin another chat."""
    if state.chats.chat_of(uri) is None:
        return []
    top = Range(Position(0, 0), Position(0, 0))
    return [
        *_question_actions(state, uri, top, automatic=False),
        command_action("Send what I have written", "stet.send", {"uri": uri}, SOURCE),
        command_action("Begin a new chat", "stet.newChat", {}, SOURCE),
    ]


def _question_actions(
    state: ServerState, uri: str, place: Range, *, automatic: bool
) -> list[lsp.CodeAction]:
    """Return the answers to waiting turns. An automatic request gets only the turns that were asked
    from this place.
    """
    actions = []
    for turn_id, question, asked_from in state.publisher.pending_questions():
        if automatic and not (asked_from and asked_from.touches(uri, place)):
            continue
        actions += [
            command_action(
                f"{choice[:MAX_CHOICE]} (turn {turn_id})",
                "stet.answer",
                {"question": question.id, "choice": choice},
                QUICK_FIX,
            )
            for choice in question.choices
        ]
        if question.kind == "ask":
            title = f"Answer turn {turn_id} in words: {question.text}"
            actions.append(
                command_action(title, "stet.answer", {"question": question.id}, QUICK_FIX)
            )
    return actions


def _workspace_actions(state: ServerState) -> list[lsp.CodeAction]:
    waiting = sum(len(state.ledger.live(uri)) for uri in state.ledger.live_uris())
    if not waiting:
        return []
    plural = "s" if waiting != 1 else ""
    return [
        command_action(f"Go to the next of {waiting} pending hunk{plural}", "stet.next", {}, SOURCE)
    ]


def _dead_link_actions(state: ServerState, language: str, uri: str) -> list[lsp.CodeAction]:
    """In notes: look for dead links in all of the workspace, or take away what is shown."""
    actions = []
    if language.lower() == "markdown" or uri.lower().endswith(MARKDOWN):
        actions.append(command_action("Find dead links", "stet.deadLinks", {}, SOURCE))
    if state.dead_links.is_shown:
        actions.append(command_action("Hide dead links", "stet.deadLinks", {"clear": True}, SOURCE))
    return actions


def _prompt_actions(
    state: ServerState, language: str, uri: str, at: tuple[lsp.Range, lsp.Range | None]
) -> list[lsp.CodeAction]:
    """Return the questions that are always offered and the user's own questions for this language.

    Args:
        state: Of the server.
        language: Of the document.
        uri: Of the document.
        at: As `_places` gives it; without a place what rewrites is not offered.
    """
    question, rewritten = at
    return [
        command_action(
            prompt.title,
            "stet.ask",
            {
                "prompt": prompt.prompt,
                "mode": prompt.mode,
                "uri": uri,
                "range": _range_to_json(stretch),
            },
            prompt.kind,
        )
        for prompt in (*PROMPTS, *state.workspace.settings.prompts)
        if (stretch := rewritten if prompt.mode == "rewrite" else question) is not None
        and (not prompt.languages or language in prompt.languages)
    ]


def _range_to_json(stretch: lsp.Range) -> dict[str, object]:
    return {
        name: {"line": place.line, "character": place.character}
        for name, place in (("start", stretch.start), ("end", stretch.end))
    }
