"""The table of what was sent to whom, in SQL; its rows are opaque to the store.

Imports sqlite3, which takes milliseconds: loaded when the database is opened, not before.
"""

import sqlite3
from collections.abc import Iterable

from stet.review.store.schema import transaction

MAX_SENT = 2000
MAX_DAYS = 90.0
"""How many are kept, and how long."""

_KEEP = "INSERT INTO sent (kept, fields) VALUES (?, ?)"
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
    connection.executemany(_KEEP, ((now, fields) for fields in sent))


def drop_old_sent(connection: sqlite3.Connection, now: float) -> None:
    """Drop what is beyond the bounds.

    Raises:
        sqlite3.Error: If it can't be done; then nothing is dropped.
    """
    with transaction(connection):
        connection.execute(_DROP, {"oldest": now - MAX_DAYS * 86_400, "most": MAX_SENT})


def load_sent(connection: sqlite3.Connection) -> tuple[str, ...]:
    """What all servers of the workspace have sent, oldest first.

    Raises:
        sqlite3.Error: If it can't be read.
    """
    return tuple(str(fields) for (fields,) in connection.execute(_SENT))
