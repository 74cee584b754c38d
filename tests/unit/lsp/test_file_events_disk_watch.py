"""Files that the editor reports as changed are read only if relevant, and once."""

from collections.abc import Coroutine
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from stet.lsp import convert
from stet.lsp.file_events import DiskWatch
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft, MoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from tests.support.memory_system import MemorySystem
from tests.support.review_harness import rules
from tests.support.workspaces import make_workspace

TEXT = "one\ntwo\n"
URI = "file:///ws/a%20b.txt"
STORM = 50_000
MAX_SECONDS = 0.2
"""Of the processor, for a storm: 4 microseconds for each file, where a comparison of URIs takes
7.
"""


class Watched:
    """A file that is not open, with a hunk on its second line."""

    def __init__(self, links: dict[str, str] | None = None) -> None:
        files = {"/ws/a b.txt": TEXT, "/etc/passwd": "secret\n"}
        self.workspace = make_workspace(files, links=links)
        self.ledger = ReviewLedger()
        self.started: list[Coroutine[Any, Any, None]] = []
        self.watch = DiskWatch(
            self.workspace, self.ledger, lambda work, _: self.started.append(work)
        )
        start = TEXT.index("two")
        draft = EditDraft(
            turn="t1",
            author="m",
            document=TextDocument(URI, TEXT),
            name="a b.txt",
            edit=TextEdit((Replacement(start, start + 3, "2"),)),
            summary="s",
        )
        self.ledger.propose(prepare_draft(draft, rules()))

    @property
    def disk(self) -> MemorySystem:
        system = self.workspace.snapshot().system
        assert isinstance(system, MemorySystem)
        return system

    @property
    def hunk(self) -> tuple[str, int]:
        """Its state and line."""
        hunk = self.ledger.hunk("h1")
        return str(hunk.state), hunk.range.start.line

    def report(self, *uris: str) -> None:
        self.watch.changed(
            convert.watched_uris({"changes": [{"uri": uri, "type": 2} for uri in uris]})
        )

    async def read(self) -> None:
        """Do what was started."""
        for work in self.started:
            await work
        self.started.clear()


@pytest.mark.slow
@pytest.mark.parametrize("uri", [URI, "file:///ws/a b.txt", "file:///ws/%61%20b.txt"])
async def test_a_changed_file_is_read_however_the_editor_spells_it(uri: str) -> None:
    watched = Watched()
    watched.disk.add_file("/ws/a b.txt", "zero\n" + TEXT)
    watched.report(uri)
    await watched.read()
    assert watched.hunk == ("pending", 2)


async def test_many_events_are_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    read: list[str] = []
    real = watched.disk.read_bytes

    def read_bytes(path: Path, limit: int) -> bytes:
        read.append(str(path))
        return real(path, limit)

    monkeypatch.setattr(watched.disk, "read_bytes", read_bytes)
    for _ in range(5):
        watched.report(URI, URI)
    assert len(watched.started) == 1
    await watched.read()
    assert read.count("/ws/a b.txt") == 1
    assert watched.hunk == ("pending", 1)


def test_a_storm_about_other_files_starts_nothing_and_takes_no_time() -> None:
    watched = Watched()
    uris = [f"file:///ws/node_modules/some/deep/folder/{n}.js" for n in range(STORM)]
    reported = {"changes": [{"uri": uri, "type": 2} for uri in uris]}
    before = process_time()
    watched.watch.changed(convert.watched_uris(reported))
    assert process_time() - before < MAX_SECONDS
    assert watched.started == []


def test_invalid_events_are_ignored() -> None:
    watched = Watched()
    senseless: tuple[object, ...] = (
        None,
        [],
        {},
        {"changes": 1},
        {"changes": [None, {"uri": 7}, {}, {"uri": ""}]},
    )
    for params in senseless:
        watched.watch.changed(convert.watched_uris(params))
    assert watched.started == []


async def test_a_file_that_has_become_a_link_out_of_the_workspace_is_not_read() -> None:
    watched = Watched(links={"/ws/out": "/etc"})
    watched.ledger.renamed(URI, "file:///ws/out/passwd")
    watched.watch.check_all()
    await watched.read()
    assert watched.hunk == ("pending", 1)


async def test_a_file_that_is_moving_is_not_taken_for_gone() -> None:
    watched = Watched()
    move = MoveDraft(
        turn="t1",
        author="m",
        uri=URI,
        name="a b.txt",
        new_uri="file:///ws/c.txt",
        new_name="c.txt",
        links=(),
        summary="s",
    )
    [hunk] = watched.ledger.propose(prepare_draft(move, rules()))
    watched.ledger.outbox.send_whole(hunk.id)
    watched.disk.remove("/ws/a b.txt")
    watched.report(URI)
    await watched.read()
    assert watched.hunk == ("pending", 1)
    watched.ledger.outbox.cancel_whole(hunk.id, "no")
    watched.report(URI)
    await watched.read()
    assert watched.hunk[0] == "conflict"
