"""Turns and hunks as the commands answer them: the JSON of the public contract."""

from collections.abc import Mapping

from stet.agent.tool_state import ToolRun, state_after_review
from stet.agent.turn import FINAL_STATES, REMOVAL, Turn, time_of
from stet.llm.model import Usage
from stet.lsp import to_lsp
from stet.lsp.presentation.hunk_text import MERGED
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState
from stet.text.lines import split_lines
from stet.tools.question import Question
from stet.workspace.workspace import Workspace


def turn_to_json(turn: Turn, ledger: ReviewLedger) -> dict[str, object]:
    """Return the answer of `stet.turn`."""
    proposals = ledger.proposals(turn.id)
    hunks = ledger.hunks(turn=turn.id)
    states = {hunk.id: hunk.state for hunk in hunks}
    has_proposed = any(hunk.summary != REMOVAL for hunk in hunks)
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
        "success": turn.is_success(has_proposed=has_proposed)
        if turn.state in FINAL_STATES
        else None,
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
            {
                "file": e.file,
                **({"position": e.position} if e.position else {}),
                "message": e.message,
            }
            for e in turn.failed
        ],
        "usage": {
            **_usage_to_json(turn.usage),
            "perRound": [_usage_to_json(usage) for usage in turn.rounds],
        },
        "cost": turn.cost,
        "priceSource": turn.pricing.source or None,
        "model": turn.model,
        "iterations": len(turn.rounds),
        "error": turn.error or None,
        "notes": list(turn.notes),
        "question": _question_to_json(turn.question),
    }


def hunk_to_json(hunk: Hunk, workspace: Workspace, ledger: ReviewLedger) -> dict[str, object]:
    """One entry of `stet.proposals`."""
    buffer = workspace.buffer(hunk.uri)
    lines = buffer.lines if buffer else split_lines(ledger.base_text(hunk.uri) or "")
    place = to_lsp.to_wire_range(hunk.range, lines, workspace.encoding)
    return {
        "hunk": hunk.id,
        "proposal": hunk.proposal,
        "turn": hunk.turn,
        "uri": hunk.uri,
        "chat": hunk.chat,
        "newUri": hunk.new_uri or None,
        "kind": str(hunk.kind),
        "state": str(hunk.state),
        "range": {
            "start": {"line": place.start.line, "character": place.start.character},
            "end": {"line": place.end.line, "character": place.end.character},
        },
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


def _question_to_json(question: Question | None) -> dict[str, object] | None:
    if question is None:
        return None
    return {
        "id": question.id,
        "kind": question.kind,
        "text": question.text,
        "choices": list(question.choices),
    }


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
