"""Hunks go with a file that gets renamed, and with no other."""

from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stet.lsp.file_events import RenameTracker
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft, RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.edit import Replacement, TextEdit
from stet.workspace.workspace import Modification, ModificationKind, WireEdit, Workspace
from tests.support.memory_system import MemorySystem
from tests.support.review_harness import rules

TEXT = "one\ntwo\nthree\n"
OLD, NEW = "file:///ws/old.txt", "file:///ws/new.txt"


@dataclass
class World:
    """Documents that come and go over a disk."""

    system: MemorySystem
    work: list[Coroutine[Any, Any, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = Workspace(self.system)
        self.ledger = ReviewLedger()
        self.renames = RenameTracker(
            self.workspace, self.ledger, self.system, lambda work, _: self.work.append(work)
        )

    def open(self, uri: str, text: str = TEXT) -> None:
        self.workspace.apply(
            Modification(ModificationKind.OPENED, uri, version=1, text=text, language_id="")
        )
        self.renames.opened(uri, text)

    def close(self, uri: str) -> None:
        text = self.workspace.document(uri)
        assert text is not None
        self.workspace.apply(Modification(ModificationKind.CLOSED, uri))
        self.ledger.closed(uri)
        self.renames.closed(uri, text.text)

    def type(self, uri: str, text: str) -> None:
        """Other text in an open document."""
        edits = (WireEdit.full(text),)
        changes = self.workspace.apply(
            Modification(ModificationKind.CHANGED, uri, version=2, edits=edits)
        )
        buffer = self.workspace.buffer(uri)
        assert buffer is not None
        self.ledger.apply_changes(uri, changes, buffer.lines)

    def propose(self, uri: str, line: int = 1) -> str:
        """A hunk for the second line, or another one; gives its id."""
        document = self.workspace.document(uri)
        assert document is not None
        start = len("".join(document.lines[:line]))
        edit = TextEdit((Replacement(start, start + len(document.lines[line]), "2\n"),))
        draft = EditDraft(
            turn="t1", author="m", document=document, name="old.txt", edit=edit, summary="s"
        )
        [hunk] = self.ledger.propose(prepare_draft(draft, rules()))
        return hunk.id

    async def settle(self) -> None:
        """Let what was started come to its end."""
        for work in self.work:
            await work
        self.work.clear()


async def carried(world: World, hunk: str) -> tuple[str, str, int]:
    """Return where a hunk is, and its state, after all work is done."""
    await world.settle()
    found = world.ledger.hunk(hunk)
    return found.uri, found.state, found.range.start.line


@pytest.mark.parametrize("closed_first", [True, False])
async def test_hunks_go_with_a_file_that_was_renamed_in_the_editor(closed_first: bool) -> None:
    world = World(MemorySystem({"/ws/old.txt": TEXT}))
    world.open(OLD)
    hunk = world.propose(OLD)
    world.system.move_file(Path("/ws/old.txt"), Path("/ws/new.txt"))
    if closed_first:
        world.close(OLD)
        world.open(NEW)
    else:
        world.open(NEW)
        world.close(OLD)
    assert await carried(world, hunk) == (NEW, "pending", 1)
    world.type(NEW, "zero\n" + TEXT)
    assert await carried(world, hunk) == (NEW, "pending", 2)


@pytest.mark.parametrize("name", ["\ud800", "", "http://x/a", "new.txt", "git:/ws/a.txt"])
async def test_rename_to_an_invalid_name_is_ignored(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(MemorySystem({"/ws/old.txt": TEXT}))
    world.open(OLD)
    hunk = world.propose(OLD)
    world.renames.rename(OLD, name)
    assert "not a file" in caplog.text
    world.type(OLD, "zero\n" + TEXT)
    assert await carried(world, hunk) == (OLD, "pending", 2)


async def test_hunks_go_with_a_file_that_was_saved_under_another_name() -> None:
    world = World(MemorySystem({"/ws/old.txt": TEXT}))
    world.open(OLD)
    hunk = world.propose(OLD)
    world.system.time += 100
    world.system.add_file("/ws/new.txt", TEXT)
    world.close(OLD)
    world.open(NEW)
    assert await carried(world, hunk) == (NEW, "pending", 1)


async def test_hunks_go_with_an_untitled_text_that_was_saved() -> None:
    world = World(MemorySystem({"/ws/": ""}))
    world.open("untitled:Untitled-1")
    hunk = world.propose("untitled:Untitled-1")
    world.system.add_file("/ws/new.txt", TEXT)
    world.open(NEW)
    world.close("untitled:Untitled-1")
    assert await carried(world, hunk) == (NEW, "pending", 1)


@pytest.mark.parametrize(
    ("text", "seconds"), [(TEXT, 0.0), ("other\n", 0.0), (TEXT, 10.0)], ids=str
)
async def test_hunks_stay_with_a_file_that_was_only_closed(text: str, seconds: float) -> None:
    world = World(MemorySystem({"/ws/old.txt": TEXT, "/ws/new.txt": text}))
    world.open(OLD)
    hunk = world.propose(OLD)
    world.system.time += 100  # so that neither file is fresh
    world.close(OLD)
    world.system.time += seconds
    world.open(NEW, text)
    assert await carried(world, hunk) == (OLD, "pending", 1)


async def test_reported_rename_is_trusted() -> None:
    world = World(MemorySystem({"/ws/old.txt": TEXT}))
    world.open(OLD)
    hunk = world.propose(OLD)
    world.close(OLD)
    world.open(NEW, "zero\n" + TEXT)
    world.renames.rename(OLD, NEW)
    assert await carried(world, hunk) == (NEW, "pending", 2)


OTHER = "alpha\nbeta\ngamma\n"


@pytest.mark.parametrize("is_reported", [True, False])
@pytest.mark.parametrize("other", [OTHER, "one\nzwei\nthree\n"], ids=["unlike", "alike"])
async def test_hunks_of_both_files_wait_when_one_takes_the_name_of_the_other(
    is_reported: bool, other: str
) -> None:
    world = World(MemorySystem({"/ws/old.txt": TEXT, "/ws/new.txt": other}))
    world.open(NEW, other)
    theirs = world.propose(NEW, 1)
    world.close(NEW)
    world.work.clear()
    world.system.time += 100
    world.open(OLD)
    hunk = world.propose(OLD, 2)
    world.system.remove("/ws/new.txt")
    world.system.move_file(Path("/ws/old.txt"), Path("/ws/new.txt"))
    world.close(OLD)
    if is_reported:
        world.renames.rename(OLD, NEW)
        world.open(NEW)
    else:
        world.open(NEW)
        await world.settle()
    assert await carried(world, hunk) == (NEW, "pending", 2)
    kept = world.ledger.hunk(theirs)
    assert (kept.uri, kept.state) == (NEW, "conflict")
    assert {one.id for one in world.ledger.live(NEW)} == {hunk, theirs}
    world.ledger.take_mine(theirs)
    world.type(NEW, "zero\n" + TEXT)
    assert await carried(world, hunk) == (NEW, "pending", 3)
    document = world.workspace.document(NEW)
    assert document is not None
    assert world.ledger.edit_of(document, [hunk]).apply(document.text) == "zero\none\ntwo\n2\n"


async def test_a_removal_that_waits_for_a_file_does_not_wait_for_the_one_that_takes_its_name() -> (
    None
):
    world = World(MemorySystem({"/ws/old.txt": TEXT, "/ws/new.txt": OTHER}))
    draft = RemoveDraft(turn="t1", author="m", uri=NEW, name="new.txt", text=OTHER, summary="s")
    removal = world.ledger.propose(prepare_draft(draft, rules()))[0].id
    world.open(OLD)
    hunk = world.propose(OLD)
    world.renames.rename(OLD, NEW)
    assert world.ledger.hunk(removal).state == "superseded"
    assert world.ledger.hunk(hunk).state == "pending"


async def test_hunks_go_with_the_files_of_a_folder_that_was_renamed() -> None:
    old, new = "file:///ws/a%20b/old.txt", "file:///ws/c d/old.txt"
    world = World(MemorySystem({"/ws/a b/old.txt": TEXT, "/ws/a bc/x.txt": TEXT}))
    world.open(old)
    world.open("file:///ws/a bc/x.txt")
    hunk, beside = world.propose(old), world.propose("file:///ws/a bc/x.txt")
    world.close(old)
    world.renames.rename("file:///ws/a b", "file:///ws/c d")
    world.open(new)
    assert await carried(world, hunk) == ("file:///ws/c d/old.txt", "pending", 1)
    assert world.ledger.hunk(beside).uri == "file:///ws/a bc/x.txt"


async def test_an_edit_that_is_on_its_way_when_its_file_is_renamed_is_known_when_it_comes() -> None:
    world = World(MemorySystem({"/ws/old.txt": TEXT}))
    world.open(OLD)
    hunk = world.propose(OLD)
    document = world.workspace.document(OLD)
    assert document is not None
    edit = world.ledger.outbox.send(document, [hunk])
    world.close(OLD)
    world.renames.rename(OLD, NEW)
    world.open(NEW)
    assert await carried(world, hunk) == (NEW, "pending", 1)
    assert "renamed" in world.ledger.hunk(hunk).reason
    world.type(NEW, edit.apply(TEXT))
    assert await carried(world, hunk) == (NEW, "accepted", 1)
