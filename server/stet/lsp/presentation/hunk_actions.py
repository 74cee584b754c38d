"""The code actions on hunks: one by one first, then by function, file and turn."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from lsprotocol import types as lsp

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.presentation.command_action import QUICK_FIX, command_action
from stet.review.grouping import group_label
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, Hunk, HunkKind, HunkState

_ActionSpec = tuple[str, str, Mapping[str, object]]
"""Title, command, arguments."""
_CONFLICT_WAYS = (
    ("Keep my text, drop", "mine"),
    ("Take the text of", "theirs"),
    ("Put conflict markers for", "markers"),
    ("Have it done again:", "retry"),
)


def actions_on(
    here: Sequence[Hunk],
    in_file: Sequence[Hunk],
    ledger: ReviewLedger,
    diagnostic: Callable[[Hunk], lsp.Diagnostic],
    editor: ClientCapabilities,
) -> list[lsp.CodeAction]:
    """Return the actions for some hunks, in the order in which they are to be offered.

    Args:
        here: The hunks that it is about, all open.
        in_file: All open ones of their file, in order of place.
        ledger: Has those of other files.
        diagnostic: Shows a hunk; each action carries the one of its own.
        editor: Which it is.
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
    here: Sequence[Hunk],
    in_file: Sequence[Hunk],
    ledger: ReviewLedger,
    editor: ClientCapabilities,
) -> Iterator[tuple[Hunk, _ActionSpec]]:
    """Each with the hunk it hangs on."""
    numbers = {hunk.id: n for n, hunk in enumerate(in_file, 1)}
    for hunk in here:
        what = f"hunk {numbers[hunk.id]}/{len(in_file)} ({hunk.id})"
        yield from ((hunk, offer) for offer in _single_actions(hunk, what))
    by_turn = {hunk.turn: _open(ledger, hunk.turn) for hunk in here}
    for hunk in {hunk.group: hunk for hunk in reversed(here)}.values():
        together = [
            other_hunk for other_hunk in by_turn[hunk.turn] if other_hunk.group == hunk.group
        ]
        what = _in_group(hunk.group, together)
        yield from (
            (hunk, offer) for offer in _group_actions(together, what, {"group": hunk.group})
        )
    what = f"all {len(in_file)} hunks in this file"
    yield from ((here[0], spec) for spec in _group_actions(in_file, what, {"uri": here[0].uri}))
    for turn, waiting in by_turn.items():
        yield from ((here[0], offer) for offer in _turn_actions(turn, waiting, editor))


def _open(ledger: ReviewLedger, turn: str) -> list[Hunk]:
    return [hunk for hunk in ledger.hunks(turn=turn) if hunk.state in OPEN]


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
        yield f"Preview turn {turn}, and pick of it", "stet.preview", {"turn": turn}


def _in_group(group: str, hunks: Sequence[Hunk]) -> str:
    if any(hunk.kind is HunkKind.MOVE for hunk in hunks):
        return f"the move with its {len(hunks) - 1} links"
    where = group_label(group)
    return f"the {len(hunks)} hunks in `{where}`" if where else f"the {len(hunks)} hunks of {group}"
