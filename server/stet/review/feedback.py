"""The outcomes of a conversation's proposals and the changes of its files since the last report.

This module has values only; `stet.context.since_last_turn` describes them in words. All text of
files is read through `Snapshot.show`: of a file that may not be shown, the model is only told that
a hunk was decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stet.review.proposal import LIVE, UNDONE_IN_EDITOR, Hunk, HunkKind, HunkState
from stet.review.replaced_hunks import amended_text
from stet.review.resolve.pending_view import as_shown
from stet.text.diff import LineHunk, diff_lines
from stet.text.document import TextDocument
from stet.text.lines import whole_lines, without_end
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical


def external_changes(
    before: TextDocument, now: TextDocument, accepted: Sequence[Hunk]
) -> tuple[LineHunk, ...]:
    """Return the changes from `before` to `now`, except accepted hunks that are in `now` unchanged.

    These hunks are removed from `now` before the comparison, if the two texts differ in their
    places. New lines are counted in `now`, from 0.
    """
    changes = diff_lines(before.lines, now.lines)
    hunks = sorted(
        (hunk for hunk in accepted if _is_part_of(hunk, now, changes)),
        key=lambda hunk: hunk.range.start,
    )
    if not hunks:
        return changes
    lines, done = [], 0
    for hunk in hunks:
        start, end = _lines_of(hunk)
        if start < done:
            continue
        lines += [*now.lines[done:start], *whole_lines(hunk.old)]
        done = end
    lines += now.lines[done:]
    return tuple(
        LineHunk(one.old_start, one.old, _line_with(one.new_start, hunks), one.new)
        for one in diff_lines(before.lines, lines)
        # If a hunk is at the end, the empty line after the last line end may remain as a change.
        if "".join(one.old) != "".join(one.new)
    )


def _is_part_of(hunk: Hunk, now: TextDocument, changes: Sequence[LineHunk]) -> bool:
    """Return whether `now` contains an accepted hunk unchanged, and the changes include it."""
    if now.text_in(hunk.range) != hunk.new:
        return False
    start, end = _lines_of(hunk)
    if start == end:
        return any(
            one.new_start <= start <= one.new_start + len(one.new) and hunk.old in "".join(one.old)
            for one in changes
        )
    return any(
        change.new_start < end and start < change.new_start + len(change.new) for change in changes
    )


def _lines_of(hunk: Hunk) -> tuple[int, int]:
    """Return the lines of an accepted hunk in the current text, 0-based and half-open."""
    start = hunk.range.start.line
    return start, start + len(whole_lines(hunk.new))


def _line_with(line: int, hunks: Iterable[Hunk]) -> int:
    """Return the line in the text with accepted hunks for a line of the text without them."""
    for hunk in hunks:
        n_old = len(whole_lines(hunk.old))
        if line >= hunk.range.start.line + n_old:
            line += len(whole_lines(hunk.new)) - n_old
    return line


_REPORTED = (
    HunkState.CONFLICT,
    HunkState.REJECTED,
    HunkState.UNDONE,
    HunkState.SUPERSEDED,
    HunkState.ACCEPTED,
    HunkState.PENDING,
    HunkState.SENT,
)
"""The states that are reported, the most urgent first."""


@dataclass(frozen=True, slots=True)
class HunkOutcome:
    """The outcome of one hunk.

    Attributes:
        hunk: The id of the hunk.
        state: The state as reported to the model; superseded means by another conversation.
        file: The model's name for the file; empty if it may not be shown.
        line: The current line of the hunk, from 1; 0 if there is no such line.
        summary: The purpose of the hunk.
        reason: The user's reason; empty if there is none.
        diff: The user's changes to the text that the agent wrote; lines are counted within it.
        theirs: In conflict, the lines of the user; None otherwise.
        is_changed: Whether the user has changed the hunk, reported now or before.
        inline: Whether the hunk is a block in the text.
        new_file: For an accepted move, the new name of the file.
    """

    hunk: str
    state: HunkState
    file: str = ""
    line: int = 0
    summary: str = ""
    reason: str = ""
    diff: tuple[LineHunk, ...] = ()
    theirs: tuple[str, ...] | None = None
    is_changed: bool = False
    inline: bool = False
    new_file: str = ""


@dataclass(frozen=True, slots=True)
class FileDelta:
    """The changes of a file that the model was shown, without its own accepted edits.

    Changes are edits, a rename and the removal.

    Attributes:
        file: The model's name for the file.
        changes: The changes in order; new lines are 0-based lines of the current text.
        is_gone: Whether the file no longer exists.
    """

    file: str
    changes: tuple[LineHunk, ...] = ()
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class ModelKnowledge:
    """The state of files and hunks that the model of a conversation knows.

    Attributes:
        upto: The `changed` of the latest reported change of a hunk; None while the conversation has
            not begun: earlier decisions are not news.
        shown: The texts of files as last shown to the model, by canonical URI.
    """

    upto: int | None = None
    shown: Mapping[str, TextDocument] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FeedbackDelta:
    """The report to the model since the last report.

    Attributes:
        outcomes: The outcomes, the most urgent first, then in order of file and place.
        files: The changed files, in the order in which they were shown.
        knowledge: The model's knowledge after the report.
    """

    outcomes: tuple[HunkOutcome, ...]
    files: tuple[FileDelta, ...]
    knowledge: ModelKnowledge


def collect_feedback(
    snapshot: Snapshot, hunks: Sequence[Hunk], knowledge: ModelKnowledge
) -> FeedbackDelta:
    """Return what is new in a conversation, and what is still pending.

    This may read the disk: call it in a worker thread if the event loop is running.

    Args:
        snapshot: The current state of the workspace.
        hunks: All hunks of the conversation, in their current state.
        knowledge: The model's knowledge after the last report.
    """
    latest = max((hunk.changed for hunk in hunks), default=knowledge.upto or 0)
    upto = latest if knowledge.upto is None else knowledge.upto
    views = _FileViews(snapshot)
    hunks = [as_shown(hunk, snapshot) for hunk in hunks]
    ids = {hunk.id for hunk in hunks}
    outcomes = [
        _outcome(hunk, views, hunks, is_news=hunk.changed > upto)
        for hunk in hunks
        if _is_reported(hunk, ids, is_news=hunk.changed > upto)
    ]
    outcomes.sort(key=lambda outcome: _REPORTED.index(outcome.state))
    accepted = [hunk for hunk in hunks if hunk.state is HunkState.ACCEPTED]
    decided = [hunk for hunk in hunks if hunk.changed > upto]
    known = [(before, _now_at(before.uri, views, decided)) for before in knowledge.shown.values()]
    found = [_file_delta(before, uri, views, accepted) for before, uri in known if uri]
    shown = {
        canonical(uri): now
        for _, uri in known
        if uri and (now := views.at(uri).document) is not None and not now.is_large
    }
    files = tuple(one for one in found if one is not None)
    return FeedbackDelta(tuple(outcomes), files, ModelKnowledge(latest, shown))


@dataclass(frozen=True, slots=True)
class _FileView:
    """The visible state of a file.

    Attributes:
        document: The text, if the file has a text that may be shown.
        is_missing: Whether the file does not exist.
    """

    document: TextDocument | None
    is_missing: bool = False

    @property
    def may_be_named(self) -> bool:
        return self.document is not None or self.is_missing


class _FileViews:
    """A cache of the visible states of files."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._seen: dict[str, _FileView] = {}

    def at(self, uri: str) -> _FileView:
        key = canonical(uri)
        if key not in self._seen:
            try:
                self._seen[key] = _FileView(self.snapshot.show(uri))
            except NotShown as refused:
                self._seen[key] = _FileView(None, refused.rule == "missing")
        return self._seen[key]


def _is_reported(hunk: Hunk, ids: Iterable[str], *, is_news: bool) -> bool:
    """Return whether a hunk is reported: always while undecided, once when decided."""
    state = _state(hunk)
    if state in LIVE:
        return True
    # The model knows its own replacements, but not replacements by other conversations.
    by_itself = state is HunkState.SUPERSEDED and hunk.reason.rpartition(" ")[-1] in ids
    return is_news and state in _REPORTED and not by_itself


def _state(hunk: Hunk) -> HunkState:
    """Return the reported state of a hunk: `UNDONE` after an undo in the editor."""
    is_undone = hunk.state is HunkState.PENDING and hunk.reason == UNDONE_IN_EDITOR
    return HunkState.UNDONE if is_undone else hunk.state


def _outcome(hunk: Hunk, views: _FileViews, hunks: Sequence[Hunk], *, is_news: bool) -> HunkOutcome:
    state, view = _state(hunk), views.at(hunk.uri)
    if not view.may_be_named:
        return HunkOutcome(hunk.id, state)
    proposed, current = _content(hunk.proposed), _content(hunk.new)
    is_changed = state is not HunkState.CONFLICT and proposed != current
    theirs = None
    if state is HunkState.CONFLICT and view.document is not None:
        theirs = whole_lines(amended_text(hunks, hunk) or view.document.text_in(hunk.range))
    has_place = view.document is not None and hunk.kind not in (HunkKind.MOVE, HunkKind.REMOVE)
    return HunkOutcome(
        hunk.id,
        state,
        file=views.snapshot.name_of(hunk.uri),
        line=hunk.shown_at.start.line + 1 if has_place else 0,
        summary=hunk.summary,
        reason=hunk.reason if state is HunkState.REJECTED else "",
        diff=diff_lines(proposed, current) if is_changed and is_news else (),
        theirs=theirs,
        is_changed=is_changed,
        inline=hunk.inline,
        new_file=_new_file(hunk, views),
    )


def _new_file(hunk: Hunk, views: _FileViews) -> str:
    """Return the new name of a file after an accepted move; "" if there is none to show."""
    is_named = hunk.has_moved_away and views.at(hunk.new_uri).may_be_named
    return views.snapshot.name_of(hunk.new_uri) if is_named else ""


def _content(text: str) -> tuple[str, ...]:
    """Return the lines of a hunk's text without line ends, which editors may change."""
    return tuple(without_end(line) for line in whole_lines(text.strip("\r\n")))


def _now_at(uri: str, views: _FileViews, decided: Iterable[Hunk]) -> str:
    """Return the present URI of a file that was shown; empty if a decision removed the file.

    Changes by the reported decisions are not reported for the file: its move, its removal, the undo
    of a new file.
    """
    # In the order of the decisions: a file may have been moved twice.
    for hunk in sorted(decided, key=lambda hunk: hunk.changed):
        if not views.at(uri).is_missing:
            break
        here, is_undone = canonical(uri), hunk.state is HunkState.UNDONE
        if not is_undone and hunk.state is not HunkState.ACCEPTED:
            continue
        came_from, went_to = (hunk.new_uri, hunk.uri) if is_undone else (hunk.uri, hunk.new_uri)
        takes_away = HunkKind.CREATE if is_undone else HunkKind.REMOVE
        if hunk.kind is HunkKind.MOVE and canonical(came_from) == here:
            uri = went_to
        elif hunk.kind is takes_away and canonical(hunk.uri) == here:
            return ""
    return uri


def _file_delta(
    before: TextDocument, uri: str, views: _FileViews, accepted: Sequence[Hunk]
) -> FileDelta | None:
    """Return the changes in a file, now at `uri`, since it was shown; None if there are none.

    Return None also if the file may not be shown.
    """
    view = views.at(uri)
    if view.is_missing:
        return FileDelta(views.snapshot.name_of(uri), is_gone=True)
    now = view.document
    if now is None or now.is_large or now.text == before.text:
        return None
    key = canonical(uri)
    file_hunks = [hunk for hunk in accepted if canonical(hunk.uri) == key]
    changes = external_changes(before, now, file_hunks)
    return FileDelta(views.snapshot.name_of(uri), changes) if changes else None
