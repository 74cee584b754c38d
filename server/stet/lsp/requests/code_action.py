"""`textDocument/codeAction`: decide on the hunks here, run a comment, or ask about the selection.

Actions on single hunks come first, then those on the hunks of a function, file and turn. Every
action is a command with a title: all editors run such an action, without resolving it and without
checking versions. The edit is sent when the command arrives, for the text at that time.

The answer is immediate, unless a line may be a comment with an instruction: the text must be parsed
to find out whether the line is in a comment.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial

from lsprotocol import types as lsp

from stet.agent.turn import STET
from stet.lsp import convert
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.comment_runner import CommentLines
from stet.lsp.state import ServerState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, Hunk, HunkKind, HunkState
from stet.review.resolve.prepared_edit import group_label
from stet.settings.values import PromptSettings
from stet.text.ai_comments import Marker, instruction_on_line
from stet.text.document import MARKDOWN
from stet.text.escape import escape_line
from stet.text.position import Position, Range
from stet.text.render import counted
from stet.workspace.activity import ActivitySource, inferred_range

QUICK_FIX = lsp.CodeActionKind.QuickFix.value
SOURCE = "source.stet"
REWRITE = "refactor.rewrite.stet"
MAX_TITLE = 80
_ActionSpec = tuple[str, str, Mapping[str, object]]
"""The title, the command and its arguments."""
_CONFLICT_WAYS = (
    ("Keep yours, drop", "mine"),
    ("Take the proposal:", "theirs"),
    ("Keep both, with conflict markers:", "markers"),
    ("Retry", "retry"),
)
MAX_LINES = 200
"""The most lines of a selection that are searched for comments."""
MAX_REPLACED = 3
"""The most replaced hunks at a place that are offered."""
_OFFERS = {
    Marker.DO: ("Run comment instruction", REWRITE),
    Marker.ANSWER: ("Answer comment", SOURCE),
}

CommentCandidates = Mapping[Marker, Sequence[int]]
"""By marker, the lines (0-based) that seem to hold a comment with the marker."""
PROMPTS = (
    PromptSettings("Document", "Add documentation", mode="rewrite"),
    PromptSettings("Correct grammar and spelling", "Correct grammar and spelling", mode="rewrite"),
    PromptSettings("Find and fix a bug", "Find and fix a mistake here"),
    PromptSettings("Explain", "Explain this", SOURCE, mode="ask"),
)
"""The prompts that are always offered."""
_AUTOMATIC = lsp.CodeActionTriggerKind.Automatic
MAX_CHOICE = 60
"""The most characters of a choice in a title, so that the turn's id after it is visible."""


_Actions = list[lsp.CodeAction]


def code_actions(
    state: ServerState, params: lsp.CodeActionParams
) -> _Actions | Awaitable[_Actions]:
    """Return the actions that are available on these lines."""
    uri, workspace = params.text_document.uri, state.workspace
    buffer = workspace.buffer(uri)
    automatic = params.context.trigger_kind is _AUTOMATIC
    if buffer is None:
        return _requested(params, [] if automatic else _chat_actions(state, uri))
    place = convert.to_range(params.range, buffer.lines, workspace.encoding)
    workspace.activity.touched(uri, place, ActivitySource.REQUEST)
    waiting = [hunk for hunk in state.ledger.live(uri) if hunk.state in OPEN]
    here = [hunk for hunk in waiting if hunk.is_on_lines_of(place)]
    actions = _question_actions(state, uri, place, automatic=automatic)
    if here:
        diagnostic = partial(state.review.publisher.diagnostic, lines=buffer.lines)
        actions += actions_on(here, waiting, state.ledger, diagnostic, state.server.editor)
    others: _Actions = []
    if not automatic:
        others = _replaced_actions(state.ledger, uri, place)
        others += [] if here else _workspace_actions(state)
        others += _dead_link_actions(state, uri)
        others += _prompt_actions(state, params, place)
    candidates, document = find_candidates(buffer.lines, place), workspace.document(uri)
    if candidates and document:

        async def with_comment_actions() -> _Actions:
            known = await state.agent_ui.comment_check.lines(document)
            found = comment_actions(uri, candidates, known)
            return _requested(params, [*actions, *found, *others])

        return with_comment_actions()
    return _requested(params, [*actions, *others])


def _requested(params: lsp.CodeActionParams, actions: _Actions) -> _Actions:
    """Return the actions of the requested kinds: `refactor` includes `refactor.rewrite.stet`."""
    only = params.context.only or [""]
    prefixes = [str(getattr(entry, "value", entry)) for entry in only]

    def is_requested(kind: str) -> bool:
        return any(entry in ("", kind) or kind.startswith(f"{entry}.") for entry in prefixes)

    return [action for action in actions if is_requested(str(action.kind))]


def _chat_actions(state: ServerState, uri: str) -> list[lsp.CodeAction]:
    """Return the actions in a chat's document: answer, send, begin another chat."""
    if state.agent_ui.chats.chat_of(uri) is None:
        return []
    top = Range(Position(0, 0), Position(0, 0))
    return [
        *_question_actions(state, uri, top, automatic=False),
        command_action("Send message", "stet.send", {"uri": uri}, SOURCE),
        command_action("Start a new chat", "stet.newChat", {}, SOURCE),
        *_agent_actions(state, uri),
    ]


def _agent_actions(state: ServerState, uri: str) -> Iterator[lsp.CodeAction]:
    """Yield the actions that choose who answers in a chat: each agent of the settings, in an editor
    without buttons.
    """
    servers = state.workspace.settings.agents.servers
    if servers and state.client.has_buttons:
        yield command_action("Choose who answers", "stet.chooseAgent", {"uri": uri}, SOURCE)
    elif servers:
        for name in (STET, *(one.name for one in servers)):
            arguments = {"agent": name, "uri": uri}
            yield command_action(f"Let {name} answer", "stet.chooseAgent", arguments, SOURCE)


def _question_actions(
    state: ServerState, uri: str, place: Range, *, automatic: bool
) -> list[lsp.CodeAction]:
    """Return the actions that answer questions of turns. For an automatic request, return only
    those of turns that were asked from this place.
    """
    actions = []
    for turn_id, question, asked_from in state.review.publisher.pending_questions():
        if automatic and not (asked_from and asked_from.touches(uri, place)):
            continue
        named = {"question": question.id}
        answers = [
            (f"{choice[:MAX_CHOICE]} (turn {turn_id})", named | {"choice": choice})
            for choice in question.choices
        ]
        if question.kind == "ask":
            answers.append((f"Answer turn {turn_id} in your own words: {question.text}", named))
        actions += [
            command_action(title, "stet.answer", fields, QUICK_FIX) for title, fields in answers
        ]
    return actions


def _replaced_actions(ledger: ReviewLedger, uri: str, place: Range) -> list[lsp.CodeAction]:
    """Return the actions that restore the latest replaced hunks at a place.

    A hunk whose replacement is in the text is left out: it was made for another text.
    """
    replaced = [hunk for hunk in ledger.replaced(uri) if hunk.is_on_lines_of(place)]
    replaced.sort(key=lambda hunk: hunk.changed, reverse=True)
    return [
        command_action(
            f"Restore the replaced hunk ({hunk.id}): {hunk.summary}",
            "stet.restore",
            {"hunk": hunk.id},
            QUICK_FIX,
        )
        for hunk in replaced[:MAX_REPLACED]
    ]


def _workspace_actions(state: ServerState) -> list[lsp.CodeAction]:
    waiting = sum(len(state.ledger.live(uri)) for uri in state.ledger.live_uris())
    if not waiting:
        return []
    title = f"Go to next of {counted(waiting, 'pending hunk')}"
    return [command_action(title, "stet.next", {}, SOURCE)]


def _dead_link_actions(state: ServerState, uri: str) -> list[lsp.CodeAction]:
    """Return the actions that find dead links (in a note), and that hide those which are shown."""
    actions = []
    if state.workspace.language(uri).lower() == "markdown" or uri.lower().endswith(MARKDOWN):
        actions.append(command_action("Find dead links", "stet.deadLinks", {}, SOURCE))
    if state.review.dead_links.is_shown:
        actions.append(command_action("Hide dead links", "stet.deadLinks", {"clear": True}, SOURCE))
    return actions


def _prompt_actions(
    state: ServerState, params: lsp.CodeActionParams, place: Range
) -> list[lsp.CodeAction]:
    """Return the actions of the built-in prompts and of the user's prompts for this language.

    Prompts that rewrite are offered only for a selection.
    """
    uri, rewritten = params.text_document.uri, None if place.is_empty else params.range
    if state.server.editor.selects_cursor and inferred_range(place).is_empty:
        # The user has selected nothing: prompts that rewrite apply to the line.
        line = place.start.line
        rewritten = lsp.Range(lsp.Position(line, 0), lsp.Position(line + 1, 0))
    language, actions = state.workspace.language(uri), []
    for prompt in (*PROMPTS, *state.workspace.settings.prompts):
        stretch = rewritten if prompt.mode == "rewrite" else params.range
        if stretch is None or (prompt.languages and language not in prompt.languages):
            continue
        named = {"prompt": prompt.prompt, "mode": prompt.mode, "uri": uri}
        arguments = {**named, "range": convert.range_to_json(stretch)}
        actions.append(command_action(prompt.title, "stet.ask", arguments, prompt.kind))
    return actions


def command_action(
    title: str, command: str, arguments: Mapping[str, object], kind: str
) -> lsp.CodeAction:
    """Return an action that runs a command; the title is shortened and safe to show."""
    text = escape_line(f"Stet: {title}")
    text = text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1] + "…"
    return lsp.CodeAction(
        title=text,
        kind=kind,
        command=lsp.Command(title=text, command=command, arguments=[arguments]),
    )


def actions_on(
    here: Sequence[Hunk],
    in_file: Sequence[Hunk],
    ledger: ReviewLedger,
    diagnostic: Callable[[Hunk], lsp.Diagnostic],
    editor: ClientCapabilities,
) -> list[lsp.CodeAction]:
    """Return the actions for some hunks, in the order in which they are offered.

    Args:
        here: The hunks at the place, all open.
        in_file: All open hunks of their file, in order of place.
        ledger: The ledger, which contains the hunks of other files.
        diagnostic: A function that returns the diagnostic of a hunk, which is added to its actions.
        editor: The capabilities of the editor.
    """
    actions = []
    for hunk, spec in _action_specs(here, in_file, ledger, editor):
        action = command_action(*spec, QUICK_FIX)
        action.diagnostics = [diagnostic(hunk)]
        action.is_preferred = (spec[1] == "stet.accept" and "hunk" in spec[2]) or None
        if editor.llm_tag:
            action.tags = [lsp.CodeActionTag.LlmGenerated]
        actions.append(action)
    return actions


def _action_specs(
    here: Sequence[Hunk], in_file: Sequence[Hunk], ledger: ReviewLedger, editor: ClientCapabilities
) -> Iterator[tuple[Hunk, _ActionSpec]]:
    """Yield each action with the hunk to whose diagnostic it belongs."""
    numbers = {hunk.id: n for n, hunk in enumerate(in_file, 1)}
    for hunk in here:
        what = f"hunk {numbers[hunk.id]}/{len(in_file)} ({hunk.id})"
        yield from ((hunk, offer) for offer in _single_actions(hunk, what))
    by_turn = {
        turn: [hunk for hunk in ledger.hunks(turn=turn) if hunk.state in OPEN]
        for turn in dict.fromkeys(hunk.turn for hunk in here)
    }
    for group, hunk in {hunk.group: hunk for hunk in reversed(here)}.items():
        together = [other for other in by_turn[hunk.turn] if other.group == group]
        offers = _group_actions(together, _in_group(group, together), {"group": group})
        yield from ((hunk, offer) for offer in offers)
    what = f"all {len(in_file)} hunks in this file"
    yield from ((here[0], spec) for spec in _group_actions(in_file, what, {"uri": here[0].uri}))
    for turn, waiting in by_turn.items():
        yield from ((here[0], offer) for offer in _turn_actions(turn, waiting, editor))


def _single_actions(hunk: Hunk, what: str) -> Iterator[_ActionSpec]:
    named: dict[str, object] = {"hunk": hunk.id, "hash": hunk.hash}
    yes: dict[str, object] = {"protected": True} if hunk.protected else {}
    if hunk.state is HunkState.PENDING:
        yield f"Accept {what}: {hunk.summary}", "stet.accept", named | yes
    else:
        for title, how in _CONFLICT_WAYS:
            resolving: dict[str, object] = {"hunk": hunk.id, "how": how}
            yield f"{title} {what}", "stet.resolve", resolving | yes
    yield f"Reject {what}", "stet.reject", named
    yield f"Show diff of {what}", "stet.review", {"hunk": hunk.id}


def _group_actions(
    hunks: Sequence[Hunk], what: str, named: dict[str, object]
) -> Iterator[_ActionSpec]:
    if len(hunks) < 2:
        return
    if any(hunk.state is HunkState.PENDING for hunk in hunks):
        yield f"Accept {what}", "stet.accept", named
    yield f"Reject {what}", "stet.reject", named


def _turn_actions(
    turn: str, hunks: Sequence[Hunk], editor: ClientCapabilities
) -> Iterator[_ActionSpec]:
    if len({hunk.uri for hunk in hunks}) > 1:
        yield from _group_actions(hunks, f"all {len(hunks)} hunks of turn {turn}", {"turn": turn})
    if editor.previews_edits and len(hunks) > 1:
        yield f"Preview turn {turn} and choose changes", "stet.preview", {"turn": turn}


def _in_group(group: str, hunks: Sequence[Hunk]) -> str:
    if any(hunk.kind is HunkKind.MOVE for hunk in hunks):
        return f"the move and its {len(hunks) - 1} link updates"
    where = group_label(group)
    return f"the {len(hunks)} hunks in `{where}`" if where else f"the {len(hunks)} hunks of {group}"


def find_candidates(lines: Sequence[str], place: Range) -> CommentCandidates:
    """Return the lines of `place` that may hold instructions; no other lines are read."""
    first = place.start.line
    candidates: dict[Marker, list[int]] = {}
    last = min(place.last_line, first + MAX_LINES)
    for number, line in enumerate(lines[first : last + 1], first):
        marker, _ = instruction_on_line(line)
        if marker is not None:
            candidates.setdefault(marker, []).append(number)
    return candidates


def comment_actions(
    uri: str, candidates: CommentCandidates, known: CommentLines | None
) -> list[lsp.CodeAction]:
    """Return the actions that run comments, at most one for each marker: for the first comment
    with the marker.

    Args:
        uri: The URI of the document.
        candidates: The lines that may hold instructions.
        known: The lines of the instructions; None if they are unknown: then all candidates count.
    """
    actions = []
    for marker, (title, kind) in _OFFERS.items():
        lines = candidates.get(marker, ())
        found = [n for n in lines if known is None or any(n in each for each in known)]
        if found:
            arguments = {"uri": uri, "line": found[0] + 1}
            actions.append(command_action(title, "stet.carryOut", arguments, kind))
    return actions
