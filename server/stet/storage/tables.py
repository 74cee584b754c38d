"""The rows of each table of the database, in SQL: hunks, chats, presets and notes of sent requests.

Rows of each kind are loaded after a restart, without invalid rows, which are logged, and old rows
are dropped. Hunks are written in `stet.storage.database`. The store does not read the fields of
chats, turns, presets and notes.

Importing sqlite3 takes milliseconds, so this module is imported only when the database is opened.
"""

import dataclasses
import json
import logging
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.proposal import LIVE, WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.storage.hunk_rows import InvalidRow, hunk_from_row, snapshot_from_row, unpack
from stet.storage.schema import BUSY_SECONDS, SHORT_WAIT_MS, transaction, translate_errors
from stet.storage.write_batch import MAX_TURNS, ChatRow, ChatRows, TurnRow, WriteBatch
from stet.storage.write_failures import DatabaseDamaged, StoreError
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

MAX_DECIDED = 2000
"""The maximum number of decided hunks that are kept for undo and restore."""
MAX_DECIDED_DAYS = 30.0
"""How many days decided hunks are kept."""

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
"""The latest first: a file has several snapshots if several servers had hunks in the file."""
_PLACE_LOST = "its location is unknown"
MAX_TURN_DAYS = 90.0
"""How many days turns are kept; a chat is dropped with its last turn."""
_UPSERT_TURN = """
    INSERT INTO turn (id, owner, chat, kept, fields) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET kept = excluded.kept, fields = excluded.fields
    WHERE owner = excluded.owner
"""
_DROP_TURNS = """
    DELETE FROM turn WHERE owner = :owner AND (
        kept < :oldest OR nth NOT IN (
            SELECT nth FROM turn WHERE owner = :owner ORDER BY nth DESC LIMIT :most))
"""
_DROP_CHATS = """
    DELETE FROM chat WHERE owner = :owner
    AND name NOT IN (SELECT chat FROM turn WHERE owner = :owner)
"""
_DROP_CHAT_TEXTS = """
    DELETE FROM heard WHERE owner = :owner
    AND chat NOT IN (SELECT name FROM chat WHERE owner = :owner)
"""
_TURNS = "SELECT id, chat, fields FROM turn WHERE owner = ? ORDER BY nth"
_CHATS = "SELECT name, fields FROM chat WHERE owner = ? ORDER BY kept, nth"
_CHAT_TEXTS = """
    SELECT heard.chat, heard.uri, heard.text, text.packed FROM heard
    LEFT JOIN text ON text.hash = heard.text WHERE owner = ? ORDER BY heard.nth
"""
_UPSERT_PRESET = """
    INSERT INTO preset (name, kept, fields) VALUES (?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET kept = excluded.kept, fields = excluded.fields
"""
_PRESETS = "SELECT name, fields FROM preset ORDER BY name"
_ATTACHED = "SELECT fields FROM attached WHERE owner = ? ORDER BY kept DESC, nth DESC LIMIT 1"
MAX_SENT = 2000
"""The maximum number of notes of sent requests."""
MAX_SENT_DAYS = 90.0
"""How many days notes of sent requests are kept."""
_DROP_REQUESTS = """
    DELETE FROM sent WHERE kept < :oldest
    OR nth NOT IN (SELECT nth FROM sent ORDER BY nth DESC LIMIT :most)
"""
_REQUESTS = "SELECT fields FROM sent ORDER BY nth"


class _TextCache:
    """Stored texts by their names, unpacked on first use."""

    def __init__(self, packed: dict[object, object]) -> None:
        self._packed = packed
        self._known: dict[object, str] = {}

    def text(self, name: object) -> str:
        """Return the text of the given name.

        Raises:
            InvalidRow: If there is no such text.
        """
        if name not in self._known:
            if name not in self._packed:
                raise InvalidRow("a text is missing")
            self._known[name] = unpack(name, self._packed[name])
        return self._known[name]


@contextmanager
def _tidy_if_free(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block, which tidies up; ignore its failure if another server is writing or the disk
    refuses, because loading does not depend on it.

    Raises:
        DatabaseDamaged: If the file is damaged.
    """
    connection.execute(f"PRAGMA busy_timeout = {SHORT_WAIT_MS}")
    try:
        with translate_errors():
            yield
    except DatabaseDamaged:
        raise
    except StoreError as fault:
        log.info("cleanup postponed: %s", fault)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")


def _drop_old(connection: sqlite3.Connection, owner: str, now: float) -> None:
    """Drop decided hunks of `owner` beyond the bounds, and anchor snapshots without its hunks.

    Args:
        connection: The connection to the database.
        owner: The run that owns the rows.
        now: Seconds since the epoch.

    Raises:
        sqlite3.Error: If a transaction fails; its rows stay.
    """
    oldest = now - MAX_DECIDED_DAYS * 86_400
    bounds = {"owner": owner, "oldest": oldest, "most": MAX_DECIDED}
    with transaction(connection):
        connection.execute(_DROP_HUNKS, bounds)
    # Read before the transaction, since reading many rows takes long. Read the hunks last, so that
    # no hunk of these snapshots is missing.
    rows = connection.execute(_SNAPSHOT_FIELDS, bounds).fetchall()
    ids = {hunk_id for (hunk_id,) in connection.execute(_IDS, bounds)}
    empty = [(nth, fields) for nth, fields in rows if not _names(fields) & ids]
    if empty:
        with transaction(connection):
            # Compare the fields too: another snapshot may have the same number by now.
            connection.executemany("DELETE FROM footing WHERE nth = ? AND fields = ?", empty)


def _names(fields: object) -> set[object]:
    """Return the hunks in an anchor snapshot's row; an empty set if the row is invalid."""
    try:
        return set(snapshot_from_row(fields, "").lines)
    except InvalidRow:
        return set()


def load_state(connection: sqlite3.Connection, owner: str, now: float) -> RestoredState:
    """Return the hunks of `owner`, and the texts that contained them when they were last persisted.

    Decided hunks beyond the bounds are dropped first.

    Raises:
        sqlite3.Error: If the rows can't be read.
    """
    with _tidy_if_free(connection):
        _drop_old(connection, owner, now)
    whose = {"owner": owner}
    texts = _TextCache(dict(connection.execute(_TEXTS, whose)))
    hunks: dict[str, Hunk] = {}
    for hunk_id, fields, *names in connection.execute(_HUNKS, whose):
        try:
            old, new, base, proposed = map(texts.text, names)
            hunk = hunk_from_row(hunk_id, fields, (old, new, base, proposed))
        except InvalidRow as problem:
            log.warning("the stored hunk %r was skipped: %s", hunk_id, problem)
            continue
        hunks[hunk.id] = hunk
    used: list[AnchorSnapshot] = []
    placed: set[str] = set()
    for fields, name in connection.execute(_SNAPSHOTS, whose):
        try:
            snapshot = _valid_snapshot(snapshot_from_row(fields, texts.text(name)), hunks, placed)
        except InvalidRow as problem:
            log.warning("positions of hunks in a file were skipped: %s", problem)
            continue
        if snapshot.lines:
            used.append(snapshot)
            placed |= snapshot.lines.keys()
    ranges = _ranges(used)
    found = (_with_range(hunk, ranges.get(hunk.id)) for hunk in hunks.values())
    return RestoredState(tuple(found), tuple(used))


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
    """Return the ranges of hunks in their texts."""
    ranges = {}
    for snapshot in snapshots:
        document = TextDocument(snapshot.uri, snapshot.text)
        for hunk_id, place in snapshot.lines.items():
            start, end = (document.clamp(Position(line, 0)) for line in place)
            ranges[hunk_id] = Range(start, end)
    return ranges


def _with_range(hunk: Hunk, place: Range | None) -> Hunk:
    """Return a hunk with its former range; a pending hunk whose lines are unknown is withdrawn.

    A sent hunk of lines becomes pending again: only the text shows whether its edit has arrived. A
    hunk about a whole file stays sent until the disk has been read.
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


def write_rows(
    connection: sqlite3.Connection,
    owner: str,
    now: float,
    batch: WriteBatch,
    named: Mapping[str, bytes],
) -> None:
    """Write the turns, chats, presets and notes of a batch, within a transaction.

    Each row replaces the earlier row of its kind and name; a preset without fields is dropped.

    Args:
        connection: The connection to the database.
        owner: The run that owns the rows.
        now: Seconds since the epoch.
        batch: The rows to write.
        named: The names of the chats' texts, which are already in the table `text`.

    Raises:
        sqlite3.Error: If the rows can't be written.
    """
    execute, many = connection.execute, connection.executemany
    turns = batch.turns.values()
    many(_UPSERT_TURN, ((row.id, owner, _in_ascii(row.chat), now, row.fields) for row in turns))
    for chat in batch.chats.values():
        whose = (owner, _in_ascii(chat.id))
        execute("DELETE FROM chat WHERE owner = ? AND name = ?", whose)
        execute("DELETE FROM heard WHERE owner = ? AND chat = ?", whose)
        insert = "INSERT INTO chat (owner, name, kept, fields) VALUES (?, ?, ?, ?)"
        execute(insert, (*whose, now, chat.fields))
        insert = "INSERT INTO heard (owner, chat, uri, text) VALUES (?, ?, ?, ?)"
        many(insert, ((*whose, _in_ascii(uri), named[text]) for uri, text in chat.texts.items()))
    for name, fields in batch.presets.items():
        if fields is None:
            execute("DELETE FROM preset WHERE name = ?", (_in_ascii(name),))
        else:
            execute(_UPSERT_PRESET, (_in_ascii(name), now, fields))
    if batch.attached is not None:
        execute("DELETE FROM attached WHERE owner = ?", (owner,))
        insert = "INSERT INTO attached (owner, kept, fields) VALUES (?, ?, ?)"
        execute(insert, (owner, now, batch.attached))
    many("INSERT INTO sent (kept, fields) VALUES (?, ?)", ((now, row) for row in batch.sent))


def load_chats(connection: sqlite3.Connection, owner: str, now: float) -> ChatRows:
    """Return the turns and chats of `owner`; invalid rows are left out and logged.

    Turns beyond the bounds are dropped first, and chats without turns.

    Raises:
        sqlite3.Error: If the rows can't be read.
    """
    bounds = {"owner": owner, "oldest": now - MAX_TURN_DAYS * 86_400, "most": MAX_TURNS}
    with _tidy_if_free(connection), transaction(connection):
        for statement in (_DROP_TURNS, _DROP_CHATS, _DROP_CHAT_TEXTS):
            connection.execute(statement, bounds)
    turns: list[TurnRow] = []
    for turn, chat, fields in connection.execute(_TURNS, (owner,)):
        try:
            turns.append(TurnRow(str(turn), _from_ascii(chat), str(fields)))
        except InvalidRow as problem:
            log.warning("the stored turn %r was skipped: %s", turn, problem)
    texts: dict[str, dict[str, str]] = {}
    for chat, uri, name, packed in connection.execute(_CHAT_TEXTS, (owner,)):
        try:
            texts.setdefault(_from_ascii(chat), {})[_from_ascii(uri)] = unpack(name, packed)
        except InvalidRow as problem:
            log.warning("a stored text of a chat was skipped: %s", problem)
    chats: dict[str, ChatRow] = {}
    for name, fields in connection.execute(_CHATS, (owner,)):
        try:
            chat = _from_ascii(name)
        except InvalidRow as problem:
            log.warning("a stored chat was skipped: %s", problem)
            continue
        # Two servers may each have had a chat of this name: the one written last counts.
        chats[chat] = ChatRow(chat, str(fields), texts.get(chat, {}))
    return ChatRows(tuple(turns), tuple(chats.values()))


def _in_ascii(text: str) -> str:
    """Return a text in ASCII, because the database's own text type can't hold lone surrogates."""
    return json.dumps(text)


def _from_ascii(name: object) -> str:
    """Return the text that `_in_ascii` turned into `name`.

    Raises:
        InvalidRow: If `name` is not such a text.
    """
    try:
        text = json.loads(name) if isinstance(name, str) else None
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise InvalidRow(f"no name: {name!r}")
    return text


def load_presets(connection: sqlite3.Connection, owner: str) -> tuple[dict[str, str], str | None]:
    """Return all presets by name, and the attachments of `owner` if there are any, as JSON.

    Invalid rows are left out and logged.

    Raises:
        sqlite3.Error: If the rows can't be read.
    """
    presets: dict[str, str] = {}
    for name, fields in connection.execute(_PRESETS):
        try:
            presets[_from_ascii(name)] = str(fields)
        except InvalidRow as problem:
            log.warning("a stored preset was skipped: %s", problem)
    found = connection.execute(_ATTACHED, (owner,)).fetchone()
    return presets, None if found is None else str(found[0])


def load_requests(connection: sqlite3.Connection, now: float) -> tuple[str, ...]:
    """Return the notes of all servers of the workspace, oldest first; drop those beyond the bounds.

    Raises:
        sqlite3.Error: If the rows can't be read.
    """
    with _tidy_if_free(connection), transaction(connection):
        connection.execute(
            _DROP_REQUESTS, {"oldest": now - MAX_SENT_DAYS * 86_400, "most": MAX_SENT}
        )
    return tuple(str(fields) for (fields,) in connection.execute(_REQUESTS))
