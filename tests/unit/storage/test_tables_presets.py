"""Presets and what is attached, in the database."""

from pathlib import Path

from stet.storage.schema import MIGRATIONS, open_database
from tests.support.state_stores import query, store_in

ODD = "a/\ud800 'b'"


def test_what_was_kept_is_there_after_a_restart_and_the_latest_counts(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist_presets({"a": "1", ODD: "2", "gone": "3"}, "first")
        store.persist_presets({"a": "4", "gone": None, "never": None})
        store.persist_presets({}, "second")
    with store_in(tmp_path) as store:
        assert store.load_presets() == ({"a": "4", ODD: "2"}, "second")
        store.persist_presets({ODD: None})
        assert store.load_presets() == ({"a": "4"}, "second")
        assert store.messages == []


def test_presets_are_everybodys_and_what_is_attached_is_each_servers_own(tmp_path: Path) -> None:
    with store_in(tmp_path) as first:
        first.persist_presets({"a": "1"}, "mine")
        with store_in(tmp_path) as second:
            assert second.load_presets() == ({"a": "1"}, None)
            second.persist_presets({"b": "2"}, "yours")
        assert first.load_presets() == ({"a": "1", "b": "2"}, "mine")
        with store_in(tmp_path) as heir:
            assert heir.load_presets()[1] == "yours"
    with store_in(tmp_path) as last:
        assert last.load_presets()[1] == "yours"  # the latest


def test_rows_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist_presets({"a": "1", "b": "2"}, "x")
        query(store.file, "UPDATE preset SET name = '[' WHERE fields = '1'")
        assert store.load_presets() == ({"b": "2"}, "x")


def test_a_database_of_the_layout_before_gets_the_new_tables(tmp_path: Path) -> None:
    open_database(tmp_path / "state.db", MIGRATIONS[:2]).close()
    open_database(tmp_path / "state.db").close()
    assert query(tmp_path / "state.db", "SELECT * FROM preset") == []
    assert query(tmp_path / "state.db", "PRAGMA user_version") == [(len(MIGRATIONS),)]
