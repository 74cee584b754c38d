"""What the database gives back after a restart; rows that make no sense are left out and logged,
old ones dropped.

Imports sqlite3, which takes milliseconds: loaded when the database is opened, not before.
"""

import dataclasses
import logging
import sqlite3
from collections.abc import Collection, Iterable, Mapping

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.proposal import LIVE, WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.storage.hunk_rows import InvalidRow, hunk_from_row, snapshot_from_row, unpack
from stet.storage.schema import transaction
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

MAX_DECIDED = 2000
MAX_DAYS = 30.0
"""How many decided hunks are kept for undo and restore, and how long."""

_DROP_HUNKS = """
    DELETE FROM hunk WHERE owner = :owner AND NOT live AND (
        kept < :oldest OR nth NOT IN (
            SELECT nth FROM hunk WHERE owner = :owner AND NOT live
            ORDER BY kept DESC, nth DESC LIMIT :most))
"""
_TEXTS = """
    SELECT hash, packed FROM text WHERE hash IN (
        SELECT old FROM hunk WHERE owner = :owner UNION SELECT new FROM hunk WHERE owner = :owner
        UNION SELECT base FROM hunk WHERE owner = :owner
        UNION SELECT proposed FROM hunk WHERE owner = :owner
        UNION SELECT text FROM footing WHERE owner = :owner)
"""
_IDS = "SELECT id FROM hunk WHERE owner = :owner"
_SNAPSHOT_FIELDS = "SELECT nth, fields FROM footing WHERE owner = :owner"
_HUNKS = "SELECT id, fields, old, new, base, proposed FROM hunk WHERE owner = :owner ORDER BY nth"
_SNAPSHOTS = "SELECT fields, text FROM footing WHERE owner = :owner ORDER BY nth DESC"
"""The latest first: of one file there are several where several servers had hunks in it, each its own
in the text that it knew."""
_PLACE_LOST = "where it stood is not known any more"


class _TextCache:
    """Stored texts by their names, unpacked when first asked for."""

    def __init__(self, packed: dict[object, object]) -> None:
        self._packed = packed
        self._known: dict[object, str] = {}

    def text(self, name: object) -> str:
        """Return the text of the given name.

        Raises:
            InvalidRow: If there is none.
        """
        if name not in self._known:
            if name not in self._packed:
                raise InvalidRow("a text is missing")
            self._known[name] = unpack(name, self._packed[name])
        return self._known[name]


def drop_old(connection: sqlite3.Connection, owner: str, now: float) -> None:
    """Drop decided hunks of `owner` beyond the bounds, and footings that none of its hunks is in.

    Args:
        connection: To the database.
        owner: Whose.
        now: Seconds since the epoch.

    Raises:
        sqlite3.Error: If it can't be done; then nothing is dropped.
    """
    oldest = now - MAX_DAYS * 86_400
    bounds = {"owner": owner, "oldest": oldest, "most": MAX_DECIDED}
    with transaction(connection):
        connection.execute(_DROP_HUNKS, bounds)
    # Read before the lock is taken, for that takes its time where there is much; the hunks last, so that
    # none is missing that stands in one of these.
    rows = connection.execute(_SNAPSHOT_FIELDS, bounds).fetchall()
    ids = {hunk_id for (hunk_id,) in connection.execute(_IDS, bounds)}
    empty = [(nth, fields) for nth, fields in rows if not _names(fields) & ids]
    if empty:
        with transaction(connection):
            # With the fields: the number may be that of another one by now.
            connection.executemany("DELETE FROM footing WHERE nth = ? AND fields = ?", empty)


def _names(fields: object) -> set[object]:
    """Return the hunks in an anchor snapshot's row; an empty set if the row is invalid."""
    try:
        return set(snapshot_from_row(fields, "").lines)
    except InvalidRow:
        return set()


def load_state(connection: sqlite3.Connection, owner: str) -> RestoredState:
    """Return the hunks of `owner`, and the texts they were in when they were last persisted.

    Raises:
        sqlite3.Error: If it can't be read.
    """
    whose = {"owner": owner}
    texts = _TextCache(dict(connection.execute(_TEXTS, whose)))
    hunks: dict[str, Hunk] = {}
    for hunk_id, fields, *names in connection.execute(_HUNKS, whose):
        try:
            old, new, base, proposed = map(texts.text, names)
            hunk = hunk_from_row(hunk_id, fields, (old, new, base, proposed))
        except InvalidRow as problem:
            log.warning("the kept hunk %r is left out: %s", hunk_id, problem)
            continue
        hunks[hunk.id] = hunk
    used: list[AnchorSnapshot] = []
    placed: set[str] = set()
    for fields, name in connection.execute(_SNAPSHOTS, whose):
        try:
            snapshot = _valid_snapshot(snapshot_from_row(fields, texts.text(name)), hunks, placed)
        except InvalidRow as problem:
            log.warning("where hunks stood in a file is left out: %s", problem)
            continue
        if snapshot.lines:
            used.append(snapshot)
            placed |= snapshot.lines.keys()
    ranges = _ranges(used)
    return RestoredState(
        tuple(_with_range(hunk, ranges.get(hunk.id)) for hunk in hunks.values()), tuple(used)
    )


def _valid_snapshot(
    snapshot: AnchorSnapshot, hunks: Mapping[str, Hunk], placed: Collection[str]
) -> AnchorSnapshot:
    """Return a snapshot without absent hunks, hunks of another file and hunks `placed` by a later
    snapshot.
    """
    file = canonical(snapshot.uri)
    lines = {
        hunk_id: place
        for hunk_id, place in snapshot.lines.items()
        if hunk_id in hunks and hunk_id not in placed and canonical(hunks[hunk_id].uri) == file
    }
    return dataclasses.replace(snapshot, lines=lines, lost=snapshot.lost & lines.keys())


def _ranges(snapshots: Iterable[AnchorSnapshot]) -> dict[str, Range]:
    """Where hunks stood in their texts."""
    ranges = {}
    for snapshot in snapshots:
        document = TextDocument(snapshot.uri, snapshot.text)
        for hunk_id, place in snapshot.lines.items():
            start, end = (document.clamp(Position(line, 0)) for line in place)
            ranges[hunk_id] = Range(start, end)
    return ranges


def _with_range(hunk: Hunk, place: Range | None) -> Hunk:
    """Return a hunk with its former range; a waiting hunk whose lines are unknown is withdrawn.

    Lines that were on their way to the editor wait again: only the text can tell whether they arrived.
    What is about a file as such stays sent until the disk has been asked.
    """
    if hunk.state is HunkState.SENT and hunk.kind not in WHOLE_FILE:
        hunk = dataclasses.replace(hunk, state=HunkState.PENDING)
    if hunk.kind in (HunkKind.MOVE, HunkKind.REMOVE):
        return hunk
    if place is not None:
        return dataclasses.replace(hunk, range=place)
    if hunk.state not in LIVE:
        return hunk
    return dataclasses.replace(hunk, state=HunkState.WITHDRAWN, reason=_PLACE_LOST)
