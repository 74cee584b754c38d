"""What a server was killed over is decided by the disk, where that is certain."""

import asyncio
from pathlib import Path

import pytest

from stet.lsp.review_persistence import ReviewPersistence
from stet.lsp.tasks import Tasks
from stet.review.ledger import ReviewLedger
from stet.review.proposal import CreateDraft, EditDraft, MoveDraft, RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Workspace
from tests.support.review_harness import rules
from tests.support.state_stores import TestedStore

TEXT = "one\ntwo\nthree\n"
METADATA = {"turn": "t1", "author": "m", "summary": "s"}


class Run:
    """One server's run over a folder: `ws` with the user's files beside its state."""

    def __init__(self, folder: Path) -> None:
        self.a, self.b = folder / "ws" / "a.txt", folder / "ws" / "new" / "b.txt"
        self.b.parent.mkdir(parents=True, exist_ok=True)
        self.store = TestedStore(folder / "state")
        self.ledger = ReviewLedger(self.store)
        tasks = Tasks()
        system = self.store.system
        self.keeper = ReviewPersistence(
            Workspace(system),
            self.ledger,
            self.store,
            system,
            tasks.spawn,
        )
        self.ledger.subscribe(self.keeper.hunks_changed)

    def propose(self, kind: str) -> str:
        """A hunk about `a.txt` as such; gives its id."""
        uri, new_uri = uri_of(self.a), uri_of(self.b)
        if kind in {"create", "create empty"}:
            text = TEXT if kind == "create" else ""
            create = CreateDraft(uri=uri, name="a.txt", text=text, **METADATA)
            return self.ledger.propose(prepare_draft(create, rules()))[0].id
        if kind == "remove":
            remove = RemoveDraft(uri=uri, name="a.txt", text=TEXT, **METADATA)
            return self.ledger.propose(prepare_draft(remove, rules()))[0].id
        move = MoveDraft(
            uri=uri,
            name="a.txt",
            new_uri=new_uri,
            new_name="new/b.txt",
            links=(),
            holds_text=True,
            linked_from=(),
            **METADATA,
        )
        return self.ledger.propose(prepare_draft(move, rules()))[0].id

    def edit(self, old: str = "three", new: str = "3") -> str:
        """A hunk in `a.txt`; gives its id."""
        at = TEXT.index(old)
        edit = TextEdit((Replacement(at, at + len(old), new),))
        document = TextDocument(uri_of(self.a), TEXT)
        draft = EditDraft(
            turn="t1", author="m", summary="s", document=document, name="a.txt", edit=edit
        )
        return self.ledger.propose(prepare_draft(draft, rules()))[0].id


async def after_kill(folder: Path, run: Run) -> Run:
    """The server is gone as by `kill -9`; the next one has started."""
    await asyncio.to_thread(run.store.close)  # writes nothing that was not written
    again = Run(folder)
    await again.keeper.restore()
    return again


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "texts", "state"),
    [
        ("create", {"a": TEXT}, "accepted"),
        ("create", {}, "pending"),
        ("create empty", {"a": ""}, "accepted"),
        ("create empty", {}, "pending"),
        ("create empty", {"a": TEXT}, "pending"),
        ("remove", {}, "accepted"),
        ("remove", {"a": TEXT}, "pending"),
        ("remove", {"a": "other\n"}, "pending"),
        ("move", {"b": TEXT}, "accepted"),
        ("move", {"a": TEXT}, "pending"),
        ("move", {"a": TEXT, "b": TEXT}, "pending"),
        ("move", {}, "pending"),
    ],
)
async def test_edit_in_flight_is_accepted_if_the_disk_holds_it(
    tmp_path: Path, kind: str, texts: dict[str, str], state: str
) -> None:
    run = Run(tmp_path)
    hunk = run.propose(kind)
    run.ledger.outbox.send_whole(hunk)
    if kind == "remove":
        run.a.write_text(TEXT)
        run.store.system.trash(run.a)
    for name, text in texts.items():
        (run.a if name == "a" else run.b).write_text(text)
    again = await after_kill(tmp_path, run)
    assert again.ledger.hunk(hunk).state == state
    await again.keeper.close()


@pytest.mark.parametrize("trashed", [None, "another text\n"])
async def test_a_file_that_is_gone_without_its_text_in_the_trash_was_not_removed_by_us(
    tmp_path: Path, trashed: str | None
) -> None:
    run = Run(tmp_path)
    hunk = run.propose("remove")
    if trashed is not None:
        run.a.write_text(trashed)
        run.store.system.trash(run.a)
    again = await after_kill(tmp_path, run)
    assert again.ledger.hunk(hunk).state == "pending"
    await again.keeper.close()


async def test_hunks_of_a_file_that_was_moved_are_found_under_its_new_name(tmp_path: Path) -> None:
    run = Run(tmp_path)
    edit, move = run.edit(), run.propose("move")
    run.ledger.outbox.send_whole(move)
    run.b.write_text("zero\n" + TEXT)
    again = await after_kill(tmp_path, run)
    hunk = again.ledger.hunk(edit)
    assert (hunk.uri, hunk.state, hunk.range.start.line) == (uri_of(run.b), "pending", 3)
    assert again.ledger.hunk(move).state == "accepted"
    assert [one.id for one in again.ledger.live(uri_of(run.b))] == [edit]
    third = await after_kill(tmp_path, again)
    assert third.ledger.hunk(edit) == hunk
    await third.keeper.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["remove", "move", "create empty"])
async def test_hunk_that_was_not_sent_is_not_accepted_by_the_disk(
    tmp_path: Path, kind: str
) -> None:
    run = Run(tmp_path)
    # An old copy in the trash; then the user takes the file away, or calls it so, or makes it.
    run.a.write_text(TEXT)
    run.store.system.trash(run.a)
    run.b.write_text(TEXT)
    hunk = run.propose(kind)
    if kind == "create empty":
        run.a.write_text("")
    again = await after_kill(tmp_path, run)
    assert again.ledger.hunk(hunk).state == "pending"
    await again.keeper.close()


async def test_failed_edit_is_not_accepted_by_later_events(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.a.write_text(TEXT)
    run.store.system.copy_to_trash(run.a)
    hunk = run.propose("remove")
    run.ledger.outbox.send_whole(hunk)
    again = await after_kill(tmp_path, run)
    assert again.ledger.hunk(hunk).state == "pending"
    again.a.unlink()
    third = await after_kill(tmp_path, again)
    assert third.ledger.hunk(hunk).state == "pending"
    await third.keeper.close()


@pytest.mark.parametrize(("old", "new"), [("two\n", ""), (TEXT, "")])
@pytest.mark.parametrize("gone", [True, False])
async def test_lines_to_be_taken_out_of_a_file_that_is_gone_are_not_accepted(
    tmp_path: Path, old: str, new: str, gone: bool
) -> None:
    run = Run(tmp_path)
    hunk = run.edit(old, new)
    if not gone:
        run.a.write_text(TEXT.replace(old, new))
    again = await after_kill(tmp_path, run)
    assert (again.ledger.hunk(hunk).state == "accepted") == (not gone)
    await again.keeper.close()
