"""Hunks in a very long text are written together with the text, by the next `tend`."""

import dataclasses
from pathlib import Path

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.proposal import Hunk, HunkState
from stet.text.large_document import LARGE
from tests.support.hunks import URI, hunks_between
from tests.support.state_stores import store_in

LONG = "a line\n" * (LARGE // 7 + 1)


def proposed() -> tuple[Hunk, Hunk]:
    """Two hunks at the beginning of the long text."""
    first, second = hunks_between("1\n2\n3\n" + LONG, "one\n2\nthree\n" + LONG)
    return first, second


def anchor_snapshot(*hunks: Hunk, text: str = "1\n2\n3\n" + LONG) -> AnchorSnapshot:
    return AnchorSnapshot(
        URI, text, {hunk.id: (hunk.range.start.line, hunk.range.end.line) for hunk in hunks}
    )


def rejected(hunk: Hunk) -> Hunk:
    return dataclasses.replace(hunk, state=HunkState.REJECTED)


def test_deferred_rows_are_written_by_the_next_flush(tmp_path: Path) -> None:
    first, second = proposed()
    woken: list[None] = []
    with store_in(tmp_path, wake=lambda: woken.append(None)) as store:
        store.persist([first, second], anchor_snapshot(first, second))
        assert (bool(woken), store.has_unwritten) == (True, True)
        assert store.load() == RestoredState()
        store.flush()
        assert (bool(woken), store.has_unwritten) == (True, False)
        assert store.load() == RestoredState((first, second), (anchor_snapshot(first, second),))


def test_deferred_rows_are_written_on_close(tmp_path: Path) -> None:
    first, second = proposed()
    with store_in(tmp_path) as store:
        store.persist([first, second], anchor_snapshot(first, second))
    with store_in(tmp_path) as store:
        assert store.load() == RestoredState((first, second), (anchor_snapshot(first, second),))


def test_what_is_decided_before_they_are_written_counts(tmp_path: Path) -> None:
    first, second = proposed()
    with store_in(tmp_path) as store:
        store.persist([first, second], anchor_snapshot(first, second))
        store.persist([rejected(first)], decision=True)
        assert [hunk.state for hunk in store.load().hunks] == [HunkState.REJECTED]
        store.flush()
        states = {hunk.id: hunk.state for hunk in store.load().hunks}
        assert states == {first.id: HunkState.REJECTED, second.id: HunkState.PENDING}


def test_a_text_that_has_become_short_takes_the_place_of_the_long_one(tmp_path: Path) -> None:
    first, second = proposed()
    short = anchor_snapshot(first, second, text="1\n2\n3\n")
    with store_in(tmp_path) as store:
        store.persist([first, second], anchor_snapshot(first, second))
        store.note_snapshots([short])
        store.flush()
        assert store.load() == RestoredState((first, second), (short,))
        store.note_snapshots([anchor_snapshot(first, second)])
        store.persist([rejected(second)], short, decision=True)
        store.flush()
        assert store.load() == RestoredState((first, rejected(second)), (short,))


def test_the_latest_of_two_long_texts_is_kept(tmp_path: Path) -> None:
    first, second = proposed()
    later = anchor_snapshot(first, second, text="1\n2\n3\n" + LONG + "more\n")
    with store_in(tmp_path) as store:
        store.persist([first], anchor_snapshot(first))
        store.persist([second], later)
        store.flush()
        assert store.load().anchor_snapshots == (later,)
