"""The tables of chats and turns, in SQL.

Imports sqlite3, which takes milliseconds: loaded when the database is opened, not before.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable

from stet.storage.chat_rows import MAX_TURNS, ChatRow, ChatRows, TurnRow
from stet.storage.hunk_rows import InvalidRow, unpack
from stet.storage.schema import transaction

log = logging.getLogger(__name__)

MAX_DAYS = 90.0
"""How long turns are kept; a chat goes with its last turn."""

_KEEP_TURN = """
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
_DROP_HEARD = """
    DELETE FROM heard WHERE owner = :owner
    AND chat NOT IN (SELECT name FROM chat WHERE owner = :owner)
"""
_TURNS = "SELECT id, chat, fields FROM turn WHERE owner = ? ORDER BY nth"
_CHATS = "SELECT name, fields FROM chat WHERE owner = ? ORDER BY kept, nth"
_HEARD = """
    SELECT heard.chat, heard.uri, heard.text, text.packed FROM heard
    LEFT JOIN text ON text.hash = heard.text WHERE owner = ? ORDER BY heard.nth
"""


def write_chats(
    connection: sqlite3.Connection,
    owner: str,
    now: float,
    rows: tuple[Iterable[TurnRow], Iterable[ChatRow]],
    named: Callable[[str], bytes],
) -> None:
    """Write turns and chats, each in place of what was kept of it; within a transaction.

    Args:
        connection: To the database.
        owner: The run they belong to.
        now: Seconds since the epoch.
        rows: Turns and chats.
        named: Gives the name of a text, which is in the table `text` by then.

    Raises:
        sqlite3.Error: If it can't be done.
    """
    turns, chats = rows
    execute, many = connection.execute, connection.executemany
    many(_KEEP_TURN, ((row.id, owner, in_ascii(row.chat), now, row.fields) for row in turns))
    for chat in chats:
        whose = (owner, in_ascii(chat.id))
        execute("DELETE FROM chat WHERE owner = ? AND name = ?", whose)
        execute("DELETE FROM heard WHERE owner = ? AND chat = ?", whose)
        insert = "INSERT INTO chat (owner, name, kept, fields) VALUES (?, ?, ?, ?)"
        execute(insert, (*whose, now, chat.fields))
        insert = "INSERT INTO heard (owner, chat, uri, text) VALUES (?, ?, ?, ?)"
        many(insert, ((*whose, in_ascii(uri), named(text)) for uri, text in chat.texts.items()))


def drop_old_chats(connection: sqlite3.Connection, owner: str, now: float) -> None:
    """Drop turns of `owner` beyond the bounds, and chats that have none left.

    Raises:
        sqlite3.Error: If it can't be done; then nothing is dropped.
    """
    bounds = {"owner": owner, "oldest": now - MAX_DAYS * 86_400, "most": MAX_TURNS}
    with transaction(connection):
        for statement in (_DROP_TURNS, _DROP_CHATS, _DROP_HEARD):
            connection.execute(statement, bounds)


def load_chats(connection: sqlite3.Connection, owner: str) -> ChatRows:
    """Return the turns and chats of `owner`; invalid rows are left out and logged.

    Raises:
        sqlite3.Error: If it can't be read.
    """
    turns: list[TurnRow] = []
    for turn, chat, fields in connection.execute(_TURNS, (owner,)):
        try:
            turns.append(TurnRow(str(turn), from_ascii(chat), str(fields)))
        except InvalidRow as problem:
            log.warning("the kept turn %r is left out: %s", turn, problem)
    texts: dict[str, dict[str, str]] = {}
    for chat, uri, name, packed in connection.execute(_HEARD, (owner,)):
        try:
            texts.setdefault(from_ascii(chat), {})[from_ascii(uri)] = unpack(name, packed)
        except InvalidRow as problem:
            log.warning("a text that a chat knows is left out: %s", problem)
    chats: dict[str, ChatRow] = {}
    for name, fields in connection.execute(_CHATS, (owner,)):
        try:
            chat = from_ascii(name)
        except InvalidRow as problem:
            log.warning("a kept chat is left out: %s", problem)
            continue
        # Two servers may have had a chat of one name, each its own: the later one counts.
        chats[chat] = ChatRow(chat, str(fields), texts.get(chat, {}))
    return ChatRows(tuple(turns), tuple(chats.values()))


def in_ascii(text: str) -> str:
    """Return a text in ASCII, because the database's own text type can't hold lone surrogates."""
    return json.dumps(text)


def from_ascii(name: object) -> str:
    """Return the text that `in_ascii` made `name` of.

    Raises:
        InvalidRow: If it made it of none.
    """
    try:
        text = json.loads(name) if isinstance(name, str) else None
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise InvalidRow(f"no name: {name!r}")
    return text
