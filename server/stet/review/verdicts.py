"""What became of a conversation's proposals, and of the files it knows, since the model last heard.

Values only; `stet.context.sections.since_last_turn` puts them into words. All text of files comes
through `Snapshot.show`: of a file that may not be shown (any more) nothing is told but that a hunk
was decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from stet.review.changes_beside import changes_beside
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkKind, HunkState
from stet.review.shown import as_shown
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.line_hunk import LineHunk
from stet.text.lines import whole_lines, without_end
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical


class Fate(Enum):
    """What became of a hunk; the most urgent first."""

    CONFLICT = "conflict"
    REJECTED = "rejected"
    UNDONE = "undone"
    REPLACED = "replaced"
    """By the proposal of another conversation."""
    ACCEPTED = "accepted"
    PENDING = "pending"
    SENT = "being written"


_FATES = {
    HunkState.PENDING: Fate.PENDING,
    HunkState.SENT: Fate.SENT,
    HunkState.CONFLICT: Fate.CONFLICT,
    HunkState.ACCEPTED: Fate.ACCEPTED,
    HunkState.REJECTED: Fate.REJECTED,
    HunkState.UNDONE: Fate.UNDONE,
    HunkState.SUPERSEDED: Fate.REPLACED,
}
_UNDECIDED = frozenset({Fate.PENDING, Fate.SENT, Fate.CONFLICT})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one hunk.

    Attributes:
        hunk: Its id.
        fate: That.
        file: As the model calls it; empty where it may not be shown.
        line: Where the hunk stands now, from 1; 0 where that means nothing.
        summary: What it was for.
        reason: The user's, if they gave one.
        diff: What the user made of the text that the agent wrote; lines are counted within it.
        theirs: In conflict, the lines of the user that stand at the place; None otherwise.
        is_changed: Whether the user made something else of it, told now or before.
        inline: Whether it stands in the text as a block.
        new_file: For an accepted move, what the file is called since.
    """

    hunk: str
    fate: Fate
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
class FileNews:
    """What was changed in a file that the model was shown, but for what was accepted of its own: edits,
    another name, its removal.

    Attributes:
        file: As the model calls it.
        changes: In order; new lines are counted in the text as it is now, from 0.
        is_gone: Whether there is no such file any more.
    """

    file: str
    changes: tuple[LineHunk, ...] = ()
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """What the model of a conversation knows.

    Attributes:
        upto: The `changed` of the latest change of a hunk that it was told of; None while the
            conversation has not begun: what was decided before that is no news.
        shown: The texts of files as it was shown them last, by canonical URI.
    """

    upto: int | None = None
    shown: Mapping[str, TextDocument] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class News:
    """What the model is to be told.

    Attributes:
        verdicts: The most urgent first, then in order of file and place.
        files: In the order they were shown.
        heard: What it knows once it is told.
    """

    verdicts: tuple[Verdict, ...]
    files: tuple[FileNews, ...]
    heard: Heard


def news_for(snapshot: Snapshot, hunks: Sequence[Hunk], heard: Heard) -> News:
    """What is new in a conversation, and what still waits.

    May ask the disk: call it in a worker thread where the event loop runs.

    Args:
        snapshot: The world now.
        hunks: All of the conversation, as they are in that world.
        heard: What the model knows.
    """
    latest = max((hunk.changed for hunk in hunks), default=heard.upto or 0)
    upto = latest if heard.upto is None else heard.upto
    look = _Look(snapshot)
    hunks = [as_shown(hunk, snapshot) for hunk in hunks]
    own = {hunk.id for hunk in hunks}
    verdicts = [
        _verdict(hunk, look, is_news=hunk.changed > upto)
        for hunk in hunks
        if _is_told(hunk, own, is_news=hunk.changed > upto)
    ]
    order = list(Fate)
    verdicts.sort(key=lambda verdict: order.index(verdict.fate))
    accepted = [hunk for hunk in hunks if hunk.state is HunkState.ACCEPTED]
    decided = [hunk for hunk in hunks if hunk.changed > upto]
    known = [(before, _now_at(before.uri, look, decided)) for before in heard.shown.values()]
    found = [_file_news(before, uri, look, accepted) for before, uri in known if uri]
    shown = {
        canonical(uri): now
        for _, uri in known
        if uri and (now := look.at(uri).document) is not None and not now.is_large
    }
    files = tuple(one for one in found if one is not None)
    return News(tuple(verdicts), files, Heard(latest, shown))


@dataclass(frozen=True, slots=True)
class _Sight:
    """What there is to see of a file.

    Attributes:
        document: Its text, if there is one that may be shown.
        is_missing: Whether there is none because there is no such file.
    """

    document: TextDocument | None
    is_missing: bool = False

    @property
    def may_be_named(self) -> bool:
        return self.document is not None or self.is_missing


class _Look:
    """Looks at every file once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._seen: dict[str, _Sight] = {}

    def at(self, uri: str) -> _Sight:
        key = canonical(uri)
        if key not in self._seen:
            try:
                self._seen[key] = _Sight(self.snapshot.show(uri))
            except NotShown as refused:
                self._seen[key] = _Sight(None, refused.rule == "missing")
        return self._seen[key]


def _is_told(hunk: Hunk, own: Iterable[str], *, is_news: bool) -> bool:
    """Whether the model is told of a hunk: what waits always, what was decided once."""
    fate = _fate(hunk)
    if fate is None or fate in _UNDECIDED:
        return fate is not None
    # What the agent itself has put in its place it knows.
    by_itself = fate is Fate.REPLACED and hunk.reason.rpartition(" ")[-1] in own
    return is_news and not by_itself


def _fate(hunk: Hunk) -> Fate | None:
    is_undone = hunk.state is HunkState.PENDING and hunk.reason == UNDONE_IN_EDITOR
    return Fate.UNDONE if is_undone else _FATES.get(hunk.state)


def _verdict(hunk: Hunk, look: _Look, *, is_news: bool) -> Verdict:
    fate, sight = _fate(hunk), look.at(hunk.uri)
    assert fate is not None, "only what has one is told"
    if not sight.may_be_named:
        return Verdict(hunk.id, fate)
    wrote, stands = _content(hunk.proposed), _content(hunk.new)
    is_changed = fate is not Fate.CONFLICT and wrote != stands
    theirs = None
    if fate is Fate.CONFLICT and sight.document is not None:
        theirs = whole_lines(sight.document.text_in(hunk.range))
    has_place = sight.document is not None and hunk.kind not in (HunkKind.MOVE, HunkKind.REMOVE)
    return Verdict(
        hunk.id,
        fate,
        file=look.snapshot.name_of(hunk.uri),
        line=hunk.shown_at.start.line + 1 if has_place else 0,
        summary=hunk.summary,
        reason=hunk.reason if fate is Fate.REJECTED else "",
        diff=diff_lines(wrote, stands) if is_changed and is_news else (),
        theirs=theirs,
        is_changed=is_changed,
        inline=hunk.inline,
        new_file=_new_file(hunk, look),
    )


def _new_file(hunk: Hunk, look: _Look) -> str:
    """What a file is called by an accepted move; empty where it is none, or may not be named."""
    is_moved = hunk.kind is HunkKind.MOVE and hunk.state is HunkState.ACCEPTED
    if not is_moved or not look.at(hunk.new_uri).may_be_named:
        return ""
    return look.snapshot.name_of(hunk.new_uri)


def _content(text: str) -> tuple[str, ...]:
    """The lines of a hunk's text; line ends are no content, and editors have their say in them."""
    return tuple(without_end(line) for line in whole_lines(text.strip("\r\n")))


def _now_at(uri: str, look: _Look, decided: Iterable[Hunk]) -> str:
    """Where a file that was shown is now, behind what was decided since; empty if that took it away.

    What the verdicts tell is no news of the file: its move, its removal, a new file taken back.
    """
    # In the order it was decided: a file may have been moved twice.
    for hunk in sorted(decided, key=lambda hunk: hunk.changed):
        if not look.at(uri).is_missing:
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


def _file_news(
    before: TextDocument, uri: str, look: _Look, accepted: Sequence[Hunk]
) -> FileNews | None:
    """What was changed in a file since it was shown, now at `uri`; None if nothing was, or it may not
    be shown.
    """
    sight = look.at(uri)
    if sight.is_missing:
        return FileNews(look.snapshot.name_of(uri), is_gone=True)
    now = sight.document
    if now is None or now.is_large or now.text == before.text:
        return None
    key = canonical(uri)
    own = [hunk for hunk in accepted if canonical(hunk.uri) == key]
    changes = changes_beside(before, now, own)
    return FileNews(look.snapshot.name_of(uri), changes) if changes else None
