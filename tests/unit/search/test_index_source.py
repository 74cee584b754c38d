"""Which changes on the disk are reported: those in a workspace, except irrelevant folders."""

import queue
import threading
from pathlib import Path
from typing import Any

import pytest

from stet.search.index_source import wanted_below, watch_folders

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "is_wanted"),
    [
        ("node_modules/pkg/a.js", True),
        ("node_modules/pkg/lib/a.js", True),
        ("node_modules/pkg/node_modules/b.js", False),
        ("node_modules/pkg/.git/index", False),
        ("node_modules/other/a.js", False),
        ("plain/a.js", True),
        ("plain/__pycache__/a.pyc", False),
        ("plain/.git/modules/sub/a.js", True),
        ("plain/.git/modules/other", False),
        ("linked/a.js", True),
    ],
)
def test_only_folders_below_a_root_decide_whether_a_change_is_relevant(
    tmp_path: Path, name: str, is_wanted: bool
) -> None:
    (tmp_path / "linked").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "linked")
    roots = ("node_modules/pkg", "plain", "plain/.git/modules/sub", "link")
    is_of_interest = wanted_below([tmp_path / root for root in roots])
    assert is_of_interest(str(tmp_path / name)) is is_wanted


def test_the_first_message_of_a_watch_asks_for_a_scan(tmp_path: Path) -> None:
    messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stop = threading.Event()
    watch = threading.Thread(target=watch_folders, args=([tmp_path], messages.put, stop))
    watch.start()
    try:
        assert messages.get(timeout=30) == {"do": "scan"}
        (tmp_path / "a.py").write_text("a = 1\n")
        assert messages.get(timeout=30) == {
            "do": "changed",
            "uris": [(tmp_path / "a.py").as_uri()],
        }
    finally:
        stop.set()
        watch.join()
