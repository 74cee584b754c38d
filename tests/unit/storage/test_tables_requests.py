"""What was sent to whom, in the store: of all servers of a workspace, within bounds."""

from pathlib import Path

import pytest

from stet.storage import tables
from stet.storage.schema import MIGRATIONS, open_database
from tests.support.state_stores import query, store_in

DAY = 86_400.0


def test_what_was_sent_is_there_after_a_restart_in_its_order(tmp_path: Path) -> None:
    with store_in(tmp_path) as first:
        first.persist_request("1")
        with store_in(tmp_path) as second:
            second.persist_request("2")
            first.persist_request("3")
            assert second.load_requests() == ("1", "2", "3")
    with store_in(tmp_path) as store:
        assert store.load_requests() == ("1", "2", "3")
        assert store.messages == []


def test_what_is_too_old_or_too_much_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_SENT", 3)
    with store_in(tmp_path) as store:
        for n in range(5):
            store.persist_request(str(n))
        assert store.load_requests() == ("2", "3", "4")
        store.system.ahead = (tables.MAX_SENT_DAYS + 1) * DAY
        store.persist_request("5")
        assert store.load_requests() == ("5",)
        assert query(store.file, "SELECT fields FROM sent") == [("5",)]


def test_a_database_of_the_layout_before_gets_the_new_table(tmp_path: Path) -> None:
    open_database(tmp_path / "state.db", MIGRATIONS[:3]).close()
    open_database(tmp_path / "state.db").close()
    assert query(tmp_path / "state.db", "SELECT * FROM sent") == []
