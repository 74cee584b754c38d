"""The tables of presets, of what is attached, and of what was sent to whom, in SQL.

The rows of what was sent are opaque to the store.

Imports sqlite3, which takes milliseconds: loaded when the database is opened, not before.
"""

import logging
import sqlite3
from collections.abc import Iterable, Mapping

from stet.storage.chat_rows import PresetRows
from stet.storage.chat_tables import from_ascii, in_ascii
from stet.storage.hunk_rows import InvalidRow
from stet.storage.schema import transaction

log = logging.getLogger(__name__)

_KEEP = """
    INSERT INTO preset (name, kept, fields) VALUES (?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET kept = excluded.kept, fields = excluded.fields
"""
_PRESETS = "SELECT name, fields FROM preset ORDER BY name"
_ATTACHED = "SELECT fields FROM attached WHERE owner = ? ORDER BY kept DESC, nth DESC LIMIT 1"


def write_presets(
    connection: sqlite3.Connection,
    owner: str,
    now: float,
    presets: Mapping[str, str | None],
    attached: str | None,
) -> None:
    """Write presets, and what is attached in place of what was; within a transaction.

    Args:
        connection: To the database.
        owner: The run that attached it.
        now: Seconds since the epoch.
        presets: Their fields by name; None: the preset goes.
        attached: Fields; None: what was kept stays.

    Raises:
        sqlite3.Error: If it can't be done.
    """
    for name, fields in presets.items():
        if fields is None:
            connection.execute("DELETE FROM preset WHERE name = ?", (in_ascii(name),))
        else:
            connection.execute(_KEEP, (in_ascii(name), now, fields))
    if attached is not None:
        connection.execute("DELETE FROM attached WHERE owner = ?", (owner,))
        insert = "INSERT INTO attached (owner, kept, fields) VALUES (?, ?, ?)"
        connection.execute(insert, (owner, now, attached))


def load_presets(connection: sqlite3.Connection, owner: str) -> PresetRows:
    """All presets, and what `owner` has attached; what makes no sense is left out and logged.

    Raises:
        sqlite3.Error: If it can't be read.
    """
    presets: dict[str, str] = {}
    for name, fields in connection.execute(_PRESETS):
        try:
            presets[from_ascii(name)] = str(fields)
        except InvalidRow as problem:
            log.warning("a kept preset is left out: %s", problem)
    found = connection.execute(_ATTACHED, (owner,)).fetchone()
    return PresetRows(presets, None if found is None else str(found[0]))


MAX_SENT = 2000
MAX_DAYS = 90.0
"""How many are kept, and how long."""

_KEEP_REQUEST = "INSERT INTO sent (kept, fields) VALUES (?, ?)"
_DROP = """
    DELETE FROM sent WHERE kept < :oldest
    OR nth NOT IN (SELECT nth FROM sent ORDER BY nth DESC LIMIT :most)
"""
_SENT = "SELECT fields FROM sent ORDER BY nth"


def write_sent(connection: sqlite3.Connection, now: float, sent: Iterable[str]) -> None:
    """Write what was sent, one JSON object each; within a transaction.

    Raises:
        sqlite3.Error: If it can't be done.
    """
    connection.executemany(_KEEP_REQUEST, ((now, fields) for fields in sent))


def drop_old_sent(connection: sqlite3.Connection, now: float) -> None:
    """Drop what is beyond the bounds.

    Raises:
        sqlite3.Error: If it can't be done; then nothing is dropped.
    """
    with transaction(connection):
        connection.execute(_DROP, {"oldest": now - MAX_DAYS * 86_400, "most": MAX_SENT})


def load_sent(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return what all servers of the workspace have sent, oldest first.

    Raises:
        sqlite3.Error: If it can't be read.
    """
    return tuple(str(fields) for (fields,) in connection.execute(_SENT))
