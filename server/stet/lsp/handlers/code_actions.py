"""`textDocument/codeAction`: decide on the hunks here, or ask about the selection.

Every action is a bare command with a title of its own: that is what all editors run, without
resolving and without checking versions. The edit is sent when the command comes, against the text
as it is then.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp

from stet.agent.turn import Mode
from stet.lsp import from_lsp
from stet.lsp.showing.action import QUICK_FIX, REWRITE, SOURCE, bare
from stet.lsp.showing.hunk_actions import actions_on
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN
from stet.text.position import Range
from stet.workspace.selection import Source
from stet.workspace.uris import canonical


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A question that is always offered."""

    title: str
    prompt: str
    mode: Mode
    kind: str


PROMPTS = (
    _Prompt("Document this", "Add documentation", Mode.REWRITE, REWRITE),
    _Prompt("Correct grammar and spelling", "Correct grammar and spelling", Mode.REWRITE, REWRITE),
    _Prompt("Find and fix a mistake here", "Find and fix a mistake here", Mode.AGENT, REWRITE),
    _Prompt("Explain this", "Explain this", Mode.ASK, SOURCE),
)


def code_actions(state: ServerState, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """What can be done on these lines."""
    uri, workspace = params.text_document.uri, state.workspace
    buffer = workspace.buffer(uri)
    if buffer is None:
        return []
    place = from_lsp.range_(params.range, buffer.lines, workspace.encoding)
    workspace.activity.touched(uri, place, Source.REQUEST)
    automatic = params.context.trigger_kind is lsp.CodeActionTriggerKind.Automatic
    waiting = [hunk for hunk in state.ledger.live(uri) if hunk.state in OPEN]
    here = [hunk for hunk in waiting if hunk.is_on_lines_of(place)]
    actions = _on_questions(state, uri, place)
    if here:
        actions += actions_on(
            here, waiting, state.ledger, state.publisher.diagnostic, state.server.editor
        )
    if not automatic:
        if not here:
            actions += _elsewhere(state)
        actions += _prompts(uri, params.range, place)
    return [action for action in actions if _wanted(action, params.context.only)]


def _wanted(action: lsp.CodeAction, only: Sequence[lsp.CodeActionKind | str] | None) -> bool:
    """Kinds are filtered by prefix: `refactor` asks for `refactor.rewrite.stet` too."""
    kind = str(getattr(action.kind, "value", action.kind))
    asked = [str(getattr(entry, "value", entry)) for entry in only or [""]]
    return any(entry in ("", kind) or kind.startswith(f"{entry}.") for entry in asked)


def _on_questions(state: ServerState, uri: str, place: Range) -> list[lsp.CodeAction]:
    """The answers to a turn that waits, where it was asked from."""
    actions = []
    for turn in state.agent.turns():
        asked_from, question = turn.ask.place, turn.question
        if question is None or canonical(asked_from.uri or "") != canonical(uri):
            continue
        if asked_from.range is None or asked_from.range.touches_lines_of(place):
            actions += [
                bare(
                    f"{choice} (turn {turn.id})",
                    "stet.answer",
                    {"question": question.id, "choice": choice},
                    QUICK_FIX,
                )
                for choice in question.choices
            ]
    return actions


def _elsewhere(state: ServerState) -> list[lsp.CodeAction]:
    waiting = sum(len(state.ledger.live(uri)) for uri in state.ledger.live_uris())
    if not waiting:
        return []
    plural = "s" if waiting != 1 else ""
    return [bare(f"Go to the next of {waiting} pending hunk{plural}", "stet.next", {}, SOURCE)]


def _prompts(uri: str, wire: lsp.Range, place: Range) -> list[lsp.CodeAction]:
    where: dict[str, object] = {
        "uri": uri,
        "range": {
            "start": {"line": wire.start.line, "character": wire.start.character},
            "end": {"line": wire.end.line, "character": wire.end.character},
        },
    }
    return [
        bare(
            prompt.title,
            "stet.ask",
            {"prompt": prompt.prompt, "mode": str(prompt.mode), **where},
            prompt.kind,
        )
        for prompt in PROMPTS
        if not (prompt.mode is Mode.REWRITE and place.is_empty)
    ]
