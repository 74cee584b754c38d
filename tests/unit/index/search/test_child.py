"""What the process of the index does when its file breaks while it works."""

import json
import sqlite3
from pathlib import Path

import pytest

from stet.index.search.child import MAX_FAULTS, Worker
from stet.workspace.uris import uri_of


def test_a_broken_index_is_made_anew_but_not_for_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "harbour.py").write_text("def moor(): pass\n")
    worker = Worker({
        "folder": str(tmp_path / "cache"),
        "roots": [{"uri": uri_of(root), "path": str(root), "name": "ws"}],
        "settings": {"excluded": [], "deny": [], "maxFileBytes": 1_000_000},
        "embeddings": "off",
        "endpoint": "",
        "avoid": [],
        "first": [],
    })  # fmt: skip
    fault = sqlite3.OperationalError("database or disk is full")
    for _ in range(MAX_FAULTS):
        worker.recover(fault)
        while worker.step():
            pass
    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        worker.recover(fault)
    worker.close()
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(each["is"] == "told" for each in told) == MAX_FAULTS
    assert [each["files"] for each in told if each["is"] == "state"] == [1] * MAX_FAULTS
