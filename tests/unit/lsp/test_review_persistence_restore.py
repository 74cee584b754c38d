"""Hunks come back while the server goes on answering, also in a file of 20 MB, and the user
works.
"""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from stet.lsp import review_persistence
from stet.lsp.review_persistence import ReviewPersistence
from stet.lsp.tasks import Tasks
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.review.state_restore import PreparedRestore, prepare_restore
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import split_lines
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Modification, ModificationKind, WireEdit, Workspace
from tests.support.loop_stalls import longest_stall
from tests.support.review_harness import rules
from tests.support.state_stores import TestedStore

pytestmark = pytest.mark.slow


LINE = "def handler_{n}(request): return request.value + {n}  # what every handler does\n"
N_LINES = 20_000_000 // len(LINE)
MIDDLE = N_LINES // 2
LONGEST_STALL = 0.1
"""Seconds of processor time that the event loop may be held."""


class Run:
    """One server's run over a folder with a large file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ws" / "big.py"
        self.uri = uri_of(self.path)
        self.store = TestedStore(folder / "state")
        self.ledger = ReviewLedger(self.store)
        self.workspace = Workspace(self.store.system)
        self.keeper = ReviewPersistence(
            self.workspace, self.ledger, self.store, self.store.system, Tasks().spawn
        )

    def open(self, text: str) -> None:
        """The editor opens the file, as the wire does: with its lines split already."""
        self.workspace.apply(
            Modification(
                ModificationKind.OPENED,
                self.uri,
                1,
                "python",
                text=text,
                lines=split_lines(text),
            )
        )
        buffer = self.workspace.buffer(self.uri)
        if self.ledger.is_tracked(self.uri) and buffer is not None:
            self.ledger.opened(self.uri, buffer.lines)

    def type(self, line: int, text: str, version: int = 2) -> None:
        """The user types at the beginning of a line."""
        edit = WireEdit(line, 0, line, 0, text)
        changes = self.workspace.apply(
            Modification(ModificationKind.CHANGED, self.uri, version, edits=(edit,))
        )
        buffer = self.workspace.buffer(self.uri)
        assert buffer is not None
        self.ledger.apply_changes(self.uri, changes, buffer.lines)

    def close(self) -> None:
        self.workspace.apply(Modification(ModificationKind.CLOSED, self.uri))
        self.ledger.closed(self.uri)


def proposed(folder: Path, text: str, line: str) -> Run:
    """A run over a folder that has proposed another text for a line."""
    run = Run(folder)
    run.path.parent.mkdir()
    run.path.write_text(text)
    run.open(text)
    at = text.index(line)
    edit = TextEdit((Replacement(at, at + len(line), "changed()\n"),))
    draft = EditDraft(
        turn="t1", author="m", summary="s", name="big.py", edit=edit,
        document=TextDocument(run.uri, text, version=1),
    )  # fmt: skip
    run.ledger.propose(prepare_draft(draft, rules()))
    return run


@pytest.fixture(scope="module")
def text() -> str:
    return "".join(LINE.format(n=n) for n in range(N_LINES))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, text: str) -> Path:
    """Make the folder of a run that has proposed an edit of the middle line, with a copy of its state."""
    folder = tmp_path_factory.mktemp("restore")

    async def propose() -> None:
        await proposed(folder, text, LINE.format(n=MIDDLE)).keeper.close()

    asyncio.run(propose())
    shutil.copytree(folder / "state", folder / "begun")
    return folder


@pytest_asyncio.fixture
async def again(folder: Path) -> AsyncIterator[Run]:
    """A second run over the folder of one that has proposed an edit of the middle line."""
    shutil.rmtree(folder / "state")
    shutil.copytree(folder / "begun", folder / "state")
    second = Run(folder)
    yield second
    await second.keeper.close()


async def restored(run: Run) -> str:
    await run.keeper.restore()
    return "restored"


def place(run: Run) -> tuple[str, int]:
    """The state of the hunk and the line it begins at."""
    (hunk,) = run.ledger.hunks()
    return str(hunk.state), hunk.range.start.line


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(
    ("change", "moved"),
    [
        (lambda text: text, 0),
        (lambda text: f"first\n{text}", 1),
        (lambda text: text.replace("\n", "\r\n"), 0),
        (lambda text: text.replace(LINE.format(n=MIDDLE), "") + LINE.format(n=MIDDLE), None),
    ],
    ids=["same", "a line above", "other line ends", "moved to the end"],
)
async def test_hunks_come_back_without_holding_the_event_loop(
    again: Run, text: str, change: Callable[[str], str], moved: int | None, is_open: bool
) -> None:
    now = change(text)
    again.path.write_bytes(now.encode())
    if is_open:
        again.open(now)
    stall, _ = await longest_stall(restored(again))
    assert place(again) == ("pending", N_LINES - 1 if moved is None else MIDDLE + moved)
    assert stall < LONGEST_STALL


SMALL = "one\ntwo\nthree\nfour\n"


async def meanwhile(run: Run, monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], None]) -> int:
    """Restore; each time that the places are looked for, one of `acts` comes first.

    Returns:
        How often they were looked for.
    """
    loop, due, n_looked = asyncio.get_running_loop(), list(acts), 0

    def acts_first(*args: Any) -> PreparedRestore:
        nonlocal n_looked
        n_looked += 1
        if due:
            done = threading.Event()
            loop.call_soon_threadsafe(due.pop(0))
            loop.call_soon_threadsafe(done.set)
            assert done.wait(30)
        return prepare_restore(*args)

    monkeypatch.setattr(review_persistence, "prepare_restore", acts_first)
    await run.keeper.restore()
    return n_looked


@pytest_asyncio.fixture
async def small(tmp_path: Path) -> AsyncIterator[Run]:
    """A second run over a small file, one line of which is to be replaced."""
    await proposed(tmp_path, SMALL, "three\n").keeper.close()
    second = Run(tmp_path)
    yield second
    await second.keeper.close()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ([(0, "a\n"), (0, "b\n"), (0, "c\n")], ("pending", 5)),
        ([(3, "x\n"), (0, "a\n")], ("pending", 3)),
        ([(2, "x"), (0, "a\n")], ("conflict", 3)),
    ],
    ids=["above", "below and above", "in it"],
)
async def test_what_is_typed_meanwhile_moves_the_hunks(
    small: Run,
    monkeypatch: pytest.MonkeyPatch,
    typed: list[tuple[int, str]],
    expected: tuple[str, int],
) -> None:
    small.open(SMALL)

    def type_all() -> None:
        for version, (line, letters) in enumerate(typed, 2):
            small.type(line, letters, version)

    assert await meanwhile(small, monkeypatch, type_all) == 1
    assert place(small) == expected
    small.type(0, "more\n", 9)
    assert place(small) == (expected[0], expected[1] + 1)


async def test_a_file_that_is_opened_closed_or_written_meanwhile_is_looked_at_anew(
    small: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write() -> None:
        small.path.write_text(f"written\n\n\n{SMALL}")

    n_looked = await meanwhile(
        small, monkeypatch, lambda: small.open(f"opened\n{SMALL}"), small.close, write
    )
    assert n_looked == 4
    assert place(small) == ("pending", 5)


async def test_a_file_that_is_opened_again_and_again_has_its_hunks_in_place(
    small: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_anew() -> None:
        small.close()
        small.open(f"opened\n{SMALL}")

    await meanwhile(small, monkeypatch, *[open_anew] * 50)
    assert place(small) == ("pending", 3)


async def test_a_proposal_of_this_run_in_the_same_place_stays(
    small: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.open(SMALL)

    def propose() -> None:
        at = SMALL.index("three")
        edit = TextEdit((Replacement(at, at + 5, "THREE"),))
        draft = EditDraft(
            turn="t2", author="m", summary="s", name="big.py", edit=edit,
            document=TextDocument(small.uri, SMALL, version=1),
        )  # fmt: skip
        small.ledger.propose(prepare_draft(draft, rules()))
        small.type(0, "a\n")

    await meanwhile(small, monkeypatch, propose)
    states = {hunk.turn: (str(hunk.state), hunk.range.start.line) for hunk in small.ledger.hunks()}
    assert states["t2"] == ("pending", 3)
    assert states["t1"][0] == "superseded"
