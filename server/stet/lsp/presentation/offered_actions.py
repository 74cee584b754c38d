"""The code actions on hunks, one by one first, then by function, file and turn; and those on comments."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from lsprotocol import types as lsp

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.comment_check import CommentLines
from stet.review.grouping import group_label
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, Hunk, HunkKind, HunkState
from stet.text.ai_comments import Marker, marker_on_line
from stet.text.escape import escape_line
from stet.text.position import Range

QUICK_FIX = lsp.CodeActionKind.QuickFix.value
SOURCE = "source.stet"
REWRITE = "refactor.rewrite.stet"
MAX_TITLE = 80


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


MAX_LINES = 200
"""Of a selection, how many lines are looked at."""
_OFFERS = {
    Marker.DO: ("Do what the comment says", REWRITE),
    Marker.ANSWER: ("Answer the comment", SOURCE),
}

CommentCandidates = Mapping[Marker, Sequence[int]]
"""The lines (0-based) that seem to hold a comment with that mark."""


def find_candidates(lines: Sequence[str], place: Range) -> CommentCandidates:
    """Look for what may be instructions on the lines of `place`, without reading the rest of the text."""
    first = place.start.line
    candidates: dict[Marker, list[int]] = {}
    for number, line in enumerate(
        lines[first : min(place.last_line, first + MAX_LINES) + 1], first
    ):
        if (marker := marker_on_line(line.rstrip("\r\n"))) is not None:
            candidates.setdefault(marker, []).append(number)
    return candidates


def comment_actions(
    uri: str, candidates: CommentCandidates, known: CommentLines | None
) -> list[lsp.CodeAction]:
    """Return the actions that comments ask for, at most one of each kind. Each is for the first
    comment that asks for it.

    Args:
        uri: Of the document.
        candidates: What seems to be an instruction.
        known: Where instructions are; None if that can't be told: then what seems to be one counts.
    """
    actions = []
    for marker, (title, kind) in _OFFERS.items():
        lines = candidates.get(marker, ())
        line = next(
            (n for n in lines if known is None or any(n in candidate for candidate in known)), None
        )
        if line is not None:
            actions.append(
                command_action(title, "stet.carryOut", {"uri": uri, "line": line + 1}, kind)
            )
    return actions
