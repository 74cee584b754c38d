import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from stet.lsp import text_sync
from stet.lsp.text_sync import ReorderBuffer
from stet.text.buffer import TextBuffer
from stet.text.encoding import Encoding
from stet.workspace.workspace import Modification, ModificationKind, WireEdit
from tests.support.naive_text import naive_splice

URI = "file:///ws/a.txt"
Splice = tuple[int, int, int, int, str]


def change(version: int | None, *edits: Splice, uri: str = URI) -> Modification:
    """A change of that version."""
    wire = tuple(WireEdit(*edit) for edit in edits)
    return Modification(ModificationKind.CHANGED, uri, version, edits=wire)


class Taken:
    """What was taken, by version."""

    def __init__(self, first: int = 0) -> None:
        self.versions: list[int | None] = []
        self.all = asyncio.Event()
        self.wanted = 0
        self.sequence = ReorderBuffer(self._take)
        self.sequence.opened(URI, first)

    def _take(self, modification: Modification) -> None:
        self.versions.append(modification.version)
        if len(self.versions) >= self.wanted:
            self.all.set()

    def arrive(self, *versions: int | None) -> list[int | None]:
        for version in versions:
            self.sequence.change(change(version))
        return self.versions

    async def until(self, n_taken: int) -> list[int | None]:
        """What was taken, once it is so many."""
        self.wanted = n_taken
        self.all.clear()
        async with asyncio.timeout(60):
            await self.all.wait()
        return self.versions


@pytest_asyncio.fixture
async def taken() -> AsyncIterator[Taken]:
    """A document of version 0."""
    yield Taken()


async def test_changes_in_order_are_applied_at_once(taken: Taken) -> None:
    for version in range(1, 100):
        assert taken.arrive(version)[-1] == version


async def test_change_out_of_order_waits_for_the_missing_one() -> None:
    taken = Taken(first=8)
    assert taken.arrive(9, 10, 14) == [9, 10]
    assert taken.arrive(11) == [9, 10, 11]
    assert taken.arrive(12) == [9, 10, 11, 12]
    assert taken.arrive(13) == [9, 10, 11, 12, 13, 14]
    assert taken.arrive(15) == [9, 10, 11, 12, 13, 14, 15]


async def test_missing_change_is_awaited_for_a_moment_only(
    taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_sync, "HOLD_SECONDS", 0.01)
    assert taken.arrive(1, 5, 4) == [1]
    assert await taken.until(3) == [1, 4, 5]
    assert taken.arrive(6) == [1, 4, 5, 6]


async def test_late_changes_and_changes_without_order_are_applied_as_they_come(
    taken: Taken, caplog: pytest.LogCaptureFixture
) -> None:
    assert taken.arrive(1, 2, None, 2, 1, 3) == [1, 2, None, 2, 1, 3]
    assert "version 1 came behind 2" in caplog.text


async def test_two_changes_of_one_version_are_both_applied(taken: Taken) -> None:
    assert taken.arrive(3, 3) == [3, 3]
    assert taken.arrive(4) == [3, 3, 4]


async def test_waiting_changes_are_applied_before_the_document_is_closed_or_reopened(
    taken: Taken,
) -> None:
    taken.arrive(3)
    taken.sequence.opened(URI, 0)
    assert taken.versions == [3]
    assert taken.arrive(1, 4) == [3, 1]
    taken.sequence.closed(URI)
    assert taken.versions == [3, 1, 4]
    assert taken.arrive(9) == [3, 1, 4, 9]  # not open: whoever takes it knows


async def test_waiting_changes_are_limited(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_sync, "MAX_WAITING", 3)
    assert taken.arrive(9, 8, 7) == []
    assert taken.arrive(6) == [6, 7, 8, 9]


async def test_every_spelling_is_one_document_and_documents_do_not_wait_for_each_other(
    taken: Taken,
) -> None:
    taken.sequence.opened("file:///ws/b.txt", 4)
    taken.arrive(2)
    taken.sequence.change(change(5, uri="file:///ws/b.txt"))
    assert taken.versions == [5]
    taken.sequence.change(change(1, uri="file:///ws/%61.txt"))
    assert taken.versions == [5, 1, 2]


typing = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 4), st.integers(0, 2), st.integers(0, 4),
        st.sampled_from(["", "a", "é😀", "\n", "\r", "xy\n"]),
    ),
    min_size=1,
    max_size=25,
)  # fmt: skip


@given(edits=typing, data=st.data())
def test_any_order_within_a_burst_ends_in_the_same_text(
    edits: Sequence[Splice], data: st.DataObject
) -> None:
    order: list[int] = []
    waiting = list(range(1, len(edits) + 1))
    while waiting:  # none is overtaken by more than eight
        late = waiting[0] <= len(order) - 7
        pick = 0 if late else data.draw(st.integers(0, min(8, len(waiting)) - 1))
        order.append(waiting.pop(pick))
    expected = "one\ntwo😀\n"
    for edit in edits:
        expected = naive_splice(expected, edit, "utf-16")
    buffer = TextBuffer("one\ntwo😀\n")

    def take(modification: Modification) -> None:
        for edit in modification.edits:
            _ = buffer.splice(
                edit.start_line,
                edit.start_units,
                edit.end_line,
                edit.end_units,
                edit.text,
                Encoding.UTF16,
            )

    async def arrive() -> None:
        sequence = ReorderBuffer(take)
        sequence.opened(URI, 0)
        for version in order:
            sequence.change(change(version, edits[version - 1]))
        assert buffer.text == expected

    asyncio.run(arrive())
