"""Hunks and turns as text, as a short diff, and as JSON.

The text is for diagnostics, hovers and titles, and may come from a model or another person's file.
Control characters are escaped. In Markdown, all text outside a fenced block is escaped, so that it
contains no links or images. The JSON is the public format of `stet.proposals` and `stet.turn`.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from stet.agent.turn import FINAL_STATES, REMOVAL, Turn, time_of
from stet.llm.model import Usage
from stet.lsp import convert
from stet.review.hunk_display import DisplayLine, display_lines, excerpt_diff
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.encoding import Encoding, units_from_column
from stet.text.escape import escape, escape_line
from stet.text.lines import split_lines, whole_lines, without_end
from stet.text.render import fence_for
from stet.text.sequence import n_common
from stet.tools.tool_state import ToolRun, state_after_review
from stet.workspace.workspace import Workspace

MAX_DIFF_LINES = 12
"""The most diff lines of a diagnostic."""
MAX_HOVER_LINES = 60
"""The most lines of each block of a hover."""

MAX_LABEL = 60
MERGED = "merged with your change"
"""The note of a hunk with a line that both the user and the agent have changed."""

_MARKS = re.compile(r"[\\`*_\[\]<>!#|~&@]|(?<=:)//|(?<=\bwww)\.", re.IGNORECASE)
_CONFLICT_HINT = "Keep yours, take the proposal, keep both, or retry."


def label(hunk: Hunk) -> str:
    """Return a short title of a hunk, for a code lens."""
    text = _summary(hunk)
    return text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"


def describe(hunk: Hunk, *, with_diff: bool = True) -> str:
    """Return the message of a hunk's diagnostic: its summary and notes, and a short diff, which has
    only the changed sentences of long lines.

    Without the diff it is one line.
    """
    summary, notes = _summary(hunk), _notes(hunk)
    if with_diff:
        excerpt = excerpt_diff(hunk.old, hunk.new) if hunk.kind is not HunkKind.MOVE else ()
        diff = _cut(excerpt, MAX_DIFF_LINES) or diff_of(hunk, MAX_DIFF_LINES)
        return "\n".join([summary, *notes, *diff])
    is_conflict = hunk.state is HunkState.CONFLICT  # its notes are sentences
    return " ".join([f"{summary.rstrip('.')}." if is_conflict else summary, *notes])


def hover_text(hunk: Hunk, *, markdown: bool) -> str:
    """Return the text of a hover: like `describe`, but longer, with all three texts of a
    conflict.
    """
    head = [_summary(hunk), *_notes(hunk)]
    blocks = [("", diff_of(hunk, MAX_HOVER_LINES))]
    if hunk.state is HunkState.CONFLICT:
        third = MAX_HOVER_LINES // 3
        blocks = [
            ("Original:", _cut(_escaped(hunk.base), third)),
            ("Yours:", _cut(_escaped(hunk.old), third)),
            ("Proposed:", _cut(_escaped(hunk.proposed), third)),
        ]
    if not markdown:
        parts = [line for title, lines in blocks for line in (title, *lines) if line or not title]
        return "\n".join([*head, *parts])
    language = "" if hunk.state is HunkState.CONFLICT else "diff"
    shown = [f"**{hunk.id}** {plain_markdown(head[0])}", *map(plain_markdown, head[1:])]
    for title, lines in blocks:
        if title:
            shown.append(title)
        if lines:
            fence = fence_for("\n".join(lines))
            shown.append("\n".join([f"{fence}{language}", *lines, fence]))
    return "\n\n".join(shown)


def diff_of(hunk: Hunk, limit: int) -> list[str]:
    """Return a hunk as about `limit` diff lines at most, with lines of both sides."""
    if hunk.kind is HunkKind.MOVE:
        return [f"rename {part}" for part in _names(hunk)]
    removed = [f"-{line}" for line in _escaped(hunk.old)]
    added = [f"+{line}" for line in _escaped(hunk.new)]
    if len(removed) + len(added) <= limit:
        return removed + added
    half = limit // 2
    n_removed = max(half, limit - len(added))
    return _cut(removed, n_removed) + _cut(added, max(half, limit - len(removed)))


def plain_markdown(text: str) -> str:
    """Return `text` on one line, with all Markdown markup escaped."""
    return _MARKS.sub(lambda mark: "".join(f"\\{each}" for each in mark[0]), escape_line(text))


def _summary(hunk: Hunk) -> str:
    return escape_line(hunk.summary).strip() or "A proposal"


def _notes(hunk: Hunk) -> list[str]:
    """Return the notes that the user needs for a decision, each in parentheses."""
    notes = []
    if hunk.state is HunkState.CONFLICT:
        # Each note is on its own line: editors cut lines that are longer than a window is wide.
        notes += [f"Conflict: {escape_line(hunk.reason).rstrip('.')}.", _CONFLICT_HINT]
    elif hunk.reason:
        notes.append(f"({escape_line(hunk.reason)})")
    if hunk.mixed:
        notes.append(f"({MERGED})")
    if hunk.protected:
        notes.append("(protected file: accept it by itself)")
    if hunk.kind is HunkKind.CREATE:
        notes.append("(new file)")
    elif hunk.kind is HunkKind.REMOVE:
        notes.append("(moves the file to Stet's trash; can be undone)")
    return notes


def _names(hunk: Hunk) -> tuple[str, str]:
    """Return the old and the new name of a moved file, without their common folders."""
    old, new = (escape_line(unquote(uri)).split("/") for uri in (hunk.uri, hunk.new_uri))
    n = n_common(old[:-1], new[:-1])
    return f"from {'/'.join(old[n:])}", f"to {'/'.join(new[n:])}"


def _escaped(text: str) -> list[str]:
    """Return the lines of a hunk's text, escaped and without line ends."""
    return [escape(without_end(line)) for line in whole_lines(text)]


def _cut(lines: Sequence[str], limit: int) -> list[str]:
    if len(lines) <= limit:
        return list(lines)
    return [*lines[:limit], f"… {len(lines) - limit} more lines"]


def turn_to_json(turn: Turn, ledger: ReviewLedger) -> dict[str, object]:
    """Return the answer of `stet.turn`."""
    proposals = ledger.proposals(turn.id)
    hunks = ledger.hunks(turn=turn.id)
    states = {hunk.id: hunk.state for hunk in hunks}
    has_proposed = any(hunk.summary != REMOVAL for hunk in hunks)
    is_over = turn.state in FINAL_STATES
    success = turn.is_success(has_proposed=has_proposed) if is_over else None
    return {
        "turn": turn.id,
        "chat": turn.ask.chat,
        "state": str(turn.state),
        "mode": str(turn.ask.mode),
        "prompt": turn.ask.prompt,
        "at": time_of(turn.at),
        "endedAt": time_of(turn.ended_at) or None,
        "messages": [
            {"role": one.role, "at": time_of(one.at), "text": one.text} for one in turn.messages
        ],
        "answer": turn.answer,
        "summary": turn.summary,
        "success": success,
        "proposals": [proposal.id for proposal in proposals],
        "hunks": [hunk for proposal in proposals for hunk in proposal.hunks],
        "replaced": [hunk.id for hunk in ledger.replaced_by(turn.id)],
        "toolCalls": [_tool_to_json(run, states) for run in turn.tool_calls],
        "filesRead": list(turn.files_read),
        "filesCopied": list(turn.files_copied),
        "steering": list(turn.steering),
        "sources": [{"url": source.url, "title": source.title} for source in turn.sources],
        "rejectedEdits": [
            {"file": e.file, "position": e.position, "rule": e.rule, "message": e.message}
            for e in turn.rejected
        ],
        "failedEdits": [
            {"file": e.file}
            | ({"position": e.position} if e.position else {})
            | {"message": e.message}
            for e in turn.failed
        ],
        "usage": {
            **_usage_to_json(turn.usage),
            "perRound": [_usage_to_json(usage) for usage in turn.rounds],
        },
        "cost": turn.cost,
        "priceSource": turn.pricing.source or None,
        "model": turn.model,
        "agent": turn.agent or "stet",
        "iterations": len(turn.rounds),
        "error": turn.error or None,
        "notes": list(turn.notes),
        "question": turn.question and dataclasses.asdict(turn.question),
    }


def hunk_lines(uri: str, workspace: Workspace, ledger: ReviewLedger) -> Sequence[str]:
    """Return the lines of the text to which the positions of a document's hunks refer."""
    buffer = workspace.buffer(uri)
    return buffer.lines if buffer is not None else split_lines(ledger.base_text(uri) or "")


def hunk_to_json(hunk: Hunk, workspace: Workspace, ledger: ReviewLedger) -> dict[str, object]:
    """Return one entry of `stet.proposals`."""
    lines = hunk_lines(hunk.uri, workspace, ledger)
    place = convert.to_wire_range(hunk.range, lines, workspace.encoding)
    return {
        "hunk": hunk.id,
        "proposal": hunk.proposal,
        "turn": hunk.turn,
        "uri": hunk.uri,
        "chat": hunk.chat,
        "newUri": hunk.new_uri or None,
        "kind": str(hunk.kind),
        "state": str(hunk.state),
        "range": convert.range_to_json(place),
        "old": hunk.old,
        "new": hunk.new,
        "summary": hunk.summary,
        "group": hunk.group,
        "author": hunk.author,
        "hash": hunk.hash,
        "protected": hunk.protected,
        "inline": hunk.inline,
        "merged": hunk.mixed,
        "reason": hunk.reason or (MERGED if hunk.mixed else None),
    }


def display_to_json(hunk: Hunk, encoding: Encoding) -> dict[str, object]:
    """Return `display` of an entry of `stet.proposals`: the hunk's lines, for a client that draws
    them.

    Columns are in the negotiated encoding, relative to the line's `text`.
    """

    def to_units(line: DisplayLine, spans: Sequence[tuple[int, int]]) -> list[list[int]]:
        return [[units_from_column(line.text, column, encoding) for column in one] for one in spans]

    shown = []
    for line in display_lines(hunk):
        entry: dict[str, object] = {
            "op": str(line.op),
            "line": line.line,
            "text": line.text,
            "spans": to_units(line, line.spans),
        }
        if line.excerpt:
            entry["excerpt"] = to_units(line, line.excerpt)
        shown.append(entry)
    return {"lines": shown}


def _tool_to_json(run: ToolRun, states: Mapping[str, HunkState]) -> dict[str, object]:
    state = state_after_review(run, [states[hunk] for hunk in run.hunks if hunk in states])
    shape: dict[str, object] = {"id": run.id, "tool": run.tool, "state": str(state)}
    if run.file:
        shape["file"] = run.file
    if run.error:
        shape["error"] = run.error
    return shape


def _usage_to_json(usage: Usage) -> dict[str, object]:
    return {
        "promptTokens": usage.prompt,
        "completionTokens": usage.completion,
        "totalTokens": usage.total,
        "cachedTokens": usage.cached,
        "cachedShare": usage.cached_share,
        "estimated": usage.estimated,
    }
