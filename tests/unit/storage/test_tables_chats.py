"""Turns and chats in the database: kept, taken over from the dead, dropped when they are old."""

from pathlib import Path

from stet.storage.schema import MIGRATIONS, open_database
from stet.storage.state_store import TIDY_WRITES
from stet.storage.tables import MAX_TURN_DAYS
from stet.storage.write_batch import MAX_TURNS, ChatRow, ChatRows, TurnRow
from tests.support.state_stores import query, store_in

ODD = "a/\ud800\0 b"


def turn(n: int, chat: str = "main", fields: str = "{}") -> TurnRow:
    return TurnRow(f"t{n}", chat, fields)


def test_what_was_kept_is_there_after_a_restart_and_the_latest_counts(tmp_path: Path) -> None:
    chat = ChatRow(ODD, '{"upto": 1}', {"file:///ws/a": "one\ud800", "file:///ws/b": ""})
    with store_in(tmp_path) as store:
        store.persist_turn(turn(1, ODD, '{"n": 1}'))
        store.persist_turn(turn(2, ODD))
        store.persist_turn(turn(1, ODD, '{"n": 2}'))
        store.persist_chat(ChatRow(ODD, "{}", {"file:///ws/c": "gone"}))
        store.persist_chat(chat)
    with store_in(tmp_path) as store:
        assert store.load_chats() == ChatRows((turn(1, ODD, '{"n": 2}'), turn(2, ODD)), (chat,))
        assert store.messages == []


def test_each_server_has_its_own_and_the_next_one_those_of_the_dead(tmp_path: Path) -> None:
    with store_in(tmp_path) as first:
        first.persist_turn(turn(1))
        first.persist_chat(ChatRow("main", '{"n": 1}'))
        with store_in(tmp_path) as second:
            second.persist_turn(turn(2))
            second.persist_chat(ChatRow("main", '{"n": 2}', {"file:///ws/a": "a"}))
            second.persist_turn(turn(1, "stolen"))
            assert second.load_chats().turns == (turn(2),)
    with store_in(tmp_path) as heir:
        kept = heir.load_chats()
        assert kept.turns == (turn(1), turn(2))
        assert kept.chats == (ChatRow("main", '{"n": 2}', {"file:///ws/a": "a"}),)


def test_texts_that_a_chat_knows_are_kept_as_long_as_it_is(tmp_path: Path) -> None:
    count = "SELECT count(*) FROM text"
    with store_in(tmp_path) as store:
        store.persist_turn(turn(1))
        for _ in range(TIDY_WRITES):
            store.persist_chat(
                ChatRow("main", "{}", {"file:///ws/a": "same", "file:///ws/b": "same"})
            )
        store.flush()
        assert query(store.file, count) == [(1,)]
        store.persist_chat(ChatRow("main", "{}"))
        for n in range(TIDY_WRITES):
            store.persist_turn(turn(n + 2))
        store.flush()
        assert query(store.file, count) == [(0,)]


def test_old_turns_are_dropped_and_a_chat_with_its_last_one(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist_turn(turn(1, "old"))
        store.persist_chat(ChatRow("old", "{}", {"file:///ws/a": "a"}))
        store.system.ahead = (MAX_TURN_DAYS + 1) * 86_400
        store.persist_turn(turn(2))
        assert store.load_chats() == ChatRows((turn(2),), ())
        assert query(store.file, "SELECT count(*) FROM heard") == [(0,)]
        for n in range(3, MAX_TURNS + 4):
            store._batch.turns[f"t{n}"] = turn(n)
        store.flush()
        assert [row.id for row in store.load_chats().turns] == [
            f"t{n}" for n in range(4, MAX_TURNS + 4)
        ]


def test_rows_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        for n in (1, 2):
            store.persist_turn(turn(n))
        store.persist_chat(ChatRow("main", "{}", {"file:///ws/a": "a", "file:///ws/b": "b"}))
        query(store.file, "UPDATE turn SET chat = '[' WHERE id = 't1'")
        query(
            store.file, "UPDATE text SET packed = x'00' WHERE hash = (SELECT min(hash) FROM text)"
        )
        query(
            store.file,
            "INSERT INTO chat (owner, name, kept, fields) SELECT owner, 5, 0, '' FROM turn",
        )
        kept = store.load_chats()
        assert kept.turns == (turn(2),)
        [chat] = kept.chats
        assert len(chat.texts) == 1


def test_a_database_of_the_first_layout_gets_the_new_tables(tmp_path: Path) -> None:
    open_database(tmp_path / "state.db", MIGRATIONS[:1]).close()
    open_database(tmp_path / "state.db").close()
    assert query(tmp_path / "state.db", "SELECT * FROM turn") == []
    assert query(tmp_path / "state.db", "PRAGMA user_version") == [(len(MIGRATIONS),)]
