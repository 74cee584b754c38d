"""The process that asks grammars: what keeps it too long or ends it is cut by its lines, and it
goes on.
"""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from stet.outline.definition import Definition
from stet.search import outliner as outlining
from stet.search.chunk import FileStamp, SourceFile
from stet.search.outliner import Outliner
from stet.search.search_engine import digest

pytestmark = pytest.mark.slow


HOSTILE = "{[" * 100_000
"""Keeps a parser of JavaScript busy for longer than anybody waits."""
MOOR = "function moor(boat) {\n}\n"
FOUND = [Definition(0, 0, 2, "moor", "function moor(boat)", is_type=False)]


def source(name: str, text: str) -> SourceFile:
    """A file that has just been read."""
    return SourceFile(f"file:///{name}", name, text, FileStamp(1.0, len(text), digest(text)))


@pytest.fixture
def outliner() -> Iterator[Outliner]:
    """One that has not begun."""
    outliner = Outliner()
    yield outliner
    outliner.close()


def pid_of(outliner: Outliner) -> int | None:
    """The process, if there is one."""
    worker = outliner._worker
    return None if worker is None or worker._process is None else worker._process.pid


def test_nothing_is_started_for_files_without_a_grammar(outliner: Outliner) -> None:
    sources = [source("a.py", "def moor(): pass\n"), source("b.js", "x" * 400_001)]
    assert outliner.add_outlines(sources) == sources
    assert (pid_of(outliner), outliner.seconds_left) == (None, None)


def test_outlines_come_in_order_between_files_that_have_none(outliner: Outliner) -> None:
    sources = [source("a.py", ""), source("a.js", MOOR), source("b.md", ""), source("b.js", "")]
    assert [each.outline for each in outliner.add_outlines(sources)] == [None, FOUND, None, []]
    first = pid_of(outliner)
    assert outliner.add_outlines(sources[1:2]) == [sources[1]._replace(outline=FOUND)]
    assert pid_of(outliner) == first


def test_slow_text_is_given_up_and_later_texts_come_the_next_time(
    outliner: Outliner, caplog: pytest.LogCaptureFixture
) -> None:
    slow, ordinary = source("slow.js", HOSTILE), source("a.js", MOOR)
    outliner.add_outlines([ordinary])
    before = pid_of(outliner)
    began = time.monotonic()
    assert outliner.add_outlines([ordinary, slow, ordinary, ordinary]) == [
        ordinary._replace(outline=FOUND),
        slow,
    ]
    assert outlining.TEXT_SECONDS <= time.monotonic() - began < 10
    assert pid_of(outliner) is None
    # The text is known now, under any name: nobody waits for it again.
    again = source("other.js", HOSTILE)
    assert outliner.add_outlines([again, ordinary]) == [again, ordinary._replace(outline=FOUND)]
    assert pid_of(outliner) not in (None, before)
    assert caplog.messages == ["the grammar of 'slow.js' timed out; the file is split by lines"]


@pytest.mark.skipif(sys.platform == "win32", reason="the process has no timer of its own there")
def test_a_text_on_which_the_process_ends_is_given_up_too(
    outliner: Outliner, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It ends itself, as it would where whoever waits for it has been killed.
    monkeypatch.setattr(outlining, "TEXT_SECONDS", 60.0)
    ordinary, slow = source("a.js", MOOR), source("slow.js", HOSTILE)
    assert outliner.add_outlines([slow, ordinary]) == [slow]
    assert outliner.add_outlines([slow, ordinary]) == [slow, ordinary._replace(outline=FOUND)]


def test_a_process_that_was_killed_between_two_texts_is_started_again(outliner: Outliner) -> None:
    ordinary = source("a.js", MOOR)
    outliner.add_outlines([ordinary])
    assert outliner._worker is not None
    assert outliner._worker._process is not None
    outliner._worker._process.kill()
    outliner._worker._process.wait()
    assert outliner.add_outlines([ordinary]) == [ordinary._replace(outline=FOUND)]


def test_with_too_many_such_texts_no_grammar_is_asked_any_more(
    outliner: Outliner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlining, "MAX_LOST", 2)
    monkeypatch.setattr(outlining, "TEXT_SECONDS", 0.01)
    for number in range(2):
        slow = source("slow.js", f"{HOSTILE}{number}")
        assert outliner.add_outlines([slow, slow]) == [slow]
    ordinary = source("a.js", MOOR)
    assert outliner.add_outlines([ordinary]) == [ordinary]
    assert pid_of(outliner) is None


def test_a_process_that_does_not_start_is_done_without(
    outliner: Outliner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlining, "_FUNCTION", "stet.search.nothing:nothing")
    ordinary = source("a.js", MOOR)
    assert outliner.add_outlines([ordinary]) == [ordinary]
    assert pid_of(outliner) is None


def test_the_process_is_kept_for_a_while_and_then_let_go(
    outliner: Outliner, monkeypatch: pytest.MonkeyPatch
) -> None:
    outliner.add_outlines([source("a.js", MOOR)])
    left = outliner.seconds_left
    assert left is not None
    assert 0 < left <= outlining.IDLE_SECONDS
    outliner.release_idle()
    assert pid_of(outliner) is not None
    monkeypatch.setattr(outlining, "IDLE_SECONDS", 0.0)
    outliner.release_idle()
    assert (pid_of(outliner), outliner.seconds_left) == (None, None)


def test_the_process_that_asks_grammars_imports_neither_asyncio_nor_dataclasses() -> None:
    """It is started for a text that waits; with them the start takes about twice as long."""
    modules = "stet.outline.grammar_definitions, stet.system.worker_process"
    code = f"import sys, {modules}\nprint(*{{'asyncio', 'dataclasses'}} & {{*sys.modules}})"
    command = [sys.executable, "-I", "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "\n"
