"""Whatever happens while a delivery waits for the disk, it looks anew before it does anything.

Each test is played once for every time the disk is asked: just then the user does something.
"""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count

import pytest
from lsprotocol import types as lsp

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.editor_client import ApplyOutcome
from stet.lsp.edits import edit_confirmation, file_hunk_applier
from stet.lsp.edits.apply_order import accept_in_order
from stet.lsp.inline_style import InlineStyle
from stet.review.errors import ReviewError
from tests.support.edit_applier_harness import ALL, TEXT, URI, YES, ApplyHarness, applies

NEW = "file:///ws/n/b.txt"
OPERATIONS = pytest.mark.parametrize(
    "operations", [ALL, frozenset[str]()], ids=["editor", "server"]
)
MOST = 30


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "CONFIRM_SECONDS",
        "CONFIRM_AFTER_CHANGE_SECONDS",
        "UNOPENED_SECONDS",
        "OPENED_SECONDS",
    ):
        monkeypatch.setattr(edit_confirmation, name, 0.02)
    monkeypatch.setattr(file_hunk_applier, "FILE_CONFIRM_SECONDS", 0.02)
    monkeypatch.setattr(edit_confirmation, "DISK_POLL_SECONDS", 0.001)
    monkeypatch.setattr(file_hunk_applier, "FILE_POLL_SECONDS", 0.001)


class Interruption:
    """Something the user does while the disk is asked for the `nth` time."""

    def __init__(
        self, nth: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch, *, before: bool
    ) -> None:
        """It comes before the disk looks, or when it has looked and nobody has the result yet."""
        self.came = False
        self._left = nth
        self._act = act
        self._before = before
        monkeypatch.setattr(asyncio, "to_thread", self._asked)

    async def _asked(self, ask: Callable[..., object], *given: object) -> object:
        now = self._left == 0 and not self.came
        self._left -= 1
        if now and self._before:
            self._comes()
        try:
            return ask(*given)
        finally:
            if now and not self._before:
                self._comes()

    def _comes(self) -> None:
        self.came = True
        self._act()


def world_with(operations: frozenset[str]) -> ApplyHarness:
    editor = ClientCapabilities(
        apply_edit=True, document_changes=True, resource_operations=operations
    )
    return ApplyHarness(editor=editor)


@OPERATIONS
@pytest.mark.parametrize("kind", ["create", "move", "remove"])
async def test_a_rejected_hunk_is_never_carried_out(
    monkeypatch: pytest.MonkeyPatch, kind: str, operations: frozenset[str]
) -> None:
    for nth in count():
        world = world_with(operations)
        hunk = {"create": world.create, "move": world.move, "remove": world.remove}[kind]()
        taken: list[bool] = []

        def reject(
            world: ApplyHarness = world, hunk: str = hunk, taken: list[bool] = taken
        ) -> None:
            try:
                world.ledger.reject(hunk)
            except ReviewError:
                return
            taken.append(True)

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, reject, patch, before=False)
            [state] = await world.accept(hunk)
        if not interruption.came:
            break
        assert state == ("rejected" if taken else "accepted"), nth
        if taken:
            assert (world.disk("/ws/a.txt"), world.disk("/ws/n/b.txt")) == (TEXT, None), nth
    assert 0 < nth < MOST


@OPERATIONS
@pytest.mark.parametrize("before", [True, False])
async def test_text_typed_while_a_file_is_on_its_way_to_the_trash_stays(
    monkeypatch: pytest.MonkeyPatch, operations: frozenset[str], before: bool
) -> None:
    n_kept = 0
    for nth in count():
        world = world_with(operations)
        world.open()
        hunk = world.remove()
        done_by_then: list[list[str]] = []

        def type_on(world: ApplyHarness = world, then: list[list[str]] = done_by_then) -> None:
            gone = world.disk("/ws/a.txt") is None
            then.append(["gone"] if gone else list(world.operations))
            world.put(TEXT + "typed\n")

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, type_on, patch, before=before)
            [state] = await world.accept(hunk)
        if not interruption.came:
            break
        if not done_by_then[0] and operations:
            n_kept += 1
            assert (state, world.operations) == ("pending", []), nth
            assert world.disk("/ws/a.txt") == TEXT
            assert "unsaved changes" in world.messages[0]
    assert nth < MOST
    assert n_kept or not operations


async def test_text_saved_while_a_copy_for_the_trash_is_made_is_not_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for nth in count():
        world = world_with(ALL)
        world.open()
        hunk = world.remove()
        done_by_then: list[list[str]] = []

        def save(world: ApplyHarness = world, then: list[list[str]] = done_by_then) -> None:
            then.append(list(world.operations))
            world.put(TEXT + "typed\n")
            if world.disk("/ws/a.txt") is not None:
                world.system.add_file("/ws/a.txt", TEXT + "typed\n")

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, save, patch, before=False)
            await world.accept(hunk)
        if not interruption.came:
            break
        if not done_by_then[0]:
            kept = [world.disk("/ws/a.txt")]
            kept += [
                world.system.read_bytes(place, 100).decode()
                for place in world.system.trashed(world.path(URI))
            ]
            assert TEXT + "typed\n" in kept, nth
    assert nth < MOST


@pytest.mark.parametrize("text", [TEXT, "zero\n" + TEXT])
async def test_a_file_opened_while_it_is_read_gets_the_edit_where_its_text_has_it(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    for nth in count():
        world = ApplyHarness()
        [hunk] = world.propose(("two", "2"))

        def open_it(world: ApplyHarness = world, text: str = text) -> None:
            world.open(text=text)

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, open_it, patch, before=False)
            [state] = await world.accept(hunk)
        if not interruption.came:
            break
        assert state == "accepted", nth
        assert world.text() == text.replace("two", "2"), nth
        assert all((version is not None) is is_open for version, is_open in world.versions), nth
    assert 0 < nth < MOST


@OPERATIONS
async def test_a_new_file_that_the_user_writes_meanwhile_is_left_to_them(
    monkeypatch: pytest.MonkeyPatch, operations: frozenset[str]
) -> None:
    for nth in count():
        world = world_with(operations)
        hunk = world.create()
        world.open(NEW, "")
        before: list[bool] = []

        def type_on(world: ApplyHarness = world, before: list[bool] = before) -> None:
            if world.text(NEW) == "":
                before.append(True)
                world.put("mine\n", NEW)

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, type_on, patch, before=False)
            [state] = await world.accept(hunk)
        if not interruption.came:
            break
        if before:
            assert (state, world.text(NEW)) == ("pending", "mine\n"), nth
    assert 0 < nth < MOST


async def test_a_new_file_is_not_emptied_of_what_is_typed_while_it_is_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for nth in count():
        world = world_with(ALL)
        hunk = world.create()
        world.open(NEW, "")
        await world.accept(hunk)
        assert world.text(NEW) == "new\n"
        typed: list[bool] = []

        def type_on(world: ApplyHarness = world, typed: list[bool] = typed) -> None:
            if world.text(NEW) == "new\n":
                typed.append(True)
                world.put("new\nmine\n", NEW)

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, type_on, patch, before=False)
            [state] = await world.undo(hunk)
        if not interruption.came:
            break
        if typed:
            assert (state, world.text(NEW)) == ("accepted", "new\nmine\n"), nth
    assert 0 < nth < MOST


async def test_policy_refusal_does_not_restore_a_hunk_rejected_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = ApplyHarness()
    hunk = world.remove()

    def reject_and_link() -> None:
        world.ledger.reject(hunk)

    world.system.remove("/ws/a.txt")
    world.system.add_link("/ws/a.txt", "/elsewhere")
    with monkeypatch.context() as patch:
        _ = Interruption(0, reject_and_link, patch, before=False)
        assert await world.accept(hunk) == ["rejected"]


@pytest.mark.parametrize("how", ["reject", "take out"])
async def test_a_block_rejected_while_its_file_is_cleared_of_blocks_is_rejected(how: str) -> None:
    world = ApplyHarness()
    world.open()
    [hunk] = world.propose(("two", "2"))
    work = world.started = []
    style = InlineStyle(world.workspace, world.ledger, world.delivery, world.client)
    style.markers(hunk)
    await work.pop()
    assert "<<<<<<<" in world.text()

    def rejects_meanwhile(
        world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]
    ) -> ApplyOutcome:
        world.ledger.reject(hunk, "no")
        return applies(world, uri, edits)

    if how == "reject":
        world.acts.append(rejects_meanwhile)
        await style.clear(URI)
    else:
        world.ledger.reject(hunk, "no")
    for todo in work:
        await todo
    assert (world.text(), world.ledger.hunk(hunk).state) == (TEXT, "rejected")


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("applies_it", [True, False])
async def test_rename_during_an_edit_is_reported_and_nothing_hangs(
    applies_it: bool, back: bool
) -> None:
    world = ApplyHarness()
    world.open()
    [hunk] = world.propose(("two", "2"))
    if back:
        assert await world.accept(hunk) == ["accepted"]
    wanted = TEXT if back else TEXT.replace("two", "2")
    text = world.text()

    def renames(world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.close()
        world.renames.rename(URI, NEW)
        world.open(NEW, text)
        return YES

    world.acts.append(renames)
    [state] = await (world.undo(hunk) if back else world.accept(hunk))
    assert state == ("accepted" if back else "pending")
    assert "n/b.txt" in world.messages[0]
    if applies_it:
        world.put(wanted, NEW)
    else:
        [state] = await (world.undo(hunk) if back else world.accept(hunk))
    assert world.ledger.hunk(hunk).state == ("undone" if back else "accepted")
    assert world.text(NEW) == wanted


@pytest.mark.parametrize("text", [TEXT, "zero\n" + TEXT])
async def test_edit_of_a_file_closed_meanwhile_goes_to_its_place_on_the_disk(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    for nth in count():
        world = ApplyHarness()
        world.open(text=text)
        [hunk] = world.propose(("two", "2"))
        closed: list[bool] = []

        def close(world: ApplyHarness = world, closed: list[bool] = closed) -> None:
            if not world.versions:
                closed.append(True)
                world.close()

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, close, patch, before=False)
            [state] = await world.accept(hunk)
        if not interruption.came:
            break
        assert state == "accepted", nth
        assert world.text() == (TEXT if closed else text).replace("two", "2"), nth
    assert 0 < nth < MOST


async def test_accepting_an_applied_hunk_changes_nothing_once_the_file_is_closed_unsaved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for nth in count():
        world = ApplyHarness()
        world.open()
        [hunk] = world.propose(("two\n", ""))
        world.put(TEXT.replace("two\n", ""))
        closed: list[bool] = []

        def close(world: ApplyHarness = world, closed: list[bool] = closed) -> None:
            closed.append(True)
            world.close()

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, close, patch, before=False)
            [state] = await world.accept(hunk)
        if not interruption.came:
            break
        assert not world.versions, nth
        assert (state, world.disk("/ws/a.txt")) == ("pending", TEXT), nth
        assert world.ledger.hunk(hunk).reason == "You edited this text.", nth
    assert 0 < nth < MOST


async def test_approval_holds_while_the_user_types_in_the_lines() -> None:
    world = ApplyHarness()
    world.open(text="one line of two words\n")
    [hunk] = world.propose(("two", "2"))
    work = accept_in_order(world.ledger, world.delivery, [hunk])
    world.put("one long line of two words\n")
    await work
    assert world.text() == "one long line of 2 words\n"


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("kind", ["create", "move"])
@pytest.mark.parametrize("other", ["/outside", "/ws/.git", "/ws/.vscode"])
async def test_folder_that_becomes_a_link_after_the_policy_check_is_not_followed(
    monkeypatch: pytest.MonkeyPatch, kind: str, before: bool, other: str
) -> None:
    reported = set()
    for nth in count():
        world = world_with(frozenset())
        world.system.add_file(f"{other}/", "")
        hunk = {"create": world.create, "move": world.move}[kind]()

        def swap(world: ApplyHarness = world) -> None:
            if world.disk("/ws/n/b.txt") is None:
                world.system.remove("/ws/n")
                world.system.add_link("/ws/n", other)

        with monkeypatch.context() as patch:
            interruption = Interruption(nth, swap, patch, before=before)
            [state] = await world.accept(hunk)
        if not interruption.came:
            break
        assert world.disk(f"{other}/b.txt") is None, nth
        reported.add(state)
    assert reported >= {"pending"}
    assert 0 < nth < MOST
