"""Hunks of an earlier run come back to their places, or say that these are gone."""

from pathlib import Path

import pytest

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState
from stet.text.diff import changes_between
from tests.support.review_harness import URI, ReviewHarness, restore_state
from tests.support.state_stores import TestedStore, store_in

TEXT = "alpha\nbeta\ngamma\ndelta\n"


def stored_page(store: TestedStore, text: str = TEXT) -> ReviewHarness:
    """A page whose hunks are kept."""
    page = ReviewHarness(text)
    page.ledger = ReviewLedger(store)
    return page


def restarted(folder: Path, text: str) -> ReviewLedger:
    """The ledger of a server that comes after, on a file that is `text` by then."""
    with store_in(folder) as store:
        ledger = ReviewLedger(store)
        restore_state(ledger, store.load(), {URI: text})
        return ledger


def test_an_insertion_whose_place_is_lost_is_a_conflict_at_the_same_place_after_a_restart(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store)
        page.propose("alpha\nbeta\nBETWEEN\ngamma\ndelta\n")
        page.type(1, 0, 3, 0, "")
        [before] = page.hunks
        assert (before.state, page.text) == ("conflict", "alpha\ndelta\n")
        positions = page.ledger.anchor_snapshot(URI)
        assert positions is not None
        assert positions.lost == {before.id}
        store.note_snapshots([positions])
    ledger = restarted(tmp_path, page.text)
    [after] = ledger.hunks()
    assert after == before
    assert ledger.anchor_snapshot(URI) == positions


def test_a_lost_insertion_stays_a_conflict_when_other_lines_come_to_its_place_after_a_restart(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store)
        page.propose("alpha\nbeta\nBETWEEN\ngamma\ndelta\n")
        page.type(1, 0, 3, 0, "")
        positions = page.ledger.anchor_snapshot(URI)
        assert positions is not None
        store.note_snapshots([positions])
    ledger = restarted(tmp_path, page.text)
    ledger.on_disk(URI, "alpha\nnew\ndelta\n")
    assert [hunk.state for hunk in ledger.hunks()] == ["conflict"]


def test_a_conflict_keeps_to_its_lines_in_a_file_with_other_line_ends_after_a_restart(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store, "one\nthree\nx\n\n\n")
        page.propose("ONE\nthree four\nx\n\n\n")
    ledger = restarted(tmp_path, "one\r\nth\r\nree\r\nx\r\n\r\n\r\n")
    [hunk] = ledger.hunks()
    assert (hunk.state, hunk.old) == ("conflict", "one\r\nth\r\nree\r\n")


def test_hunks_made_before_the_old_ones_came_back_stay_as_they_are(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store)
        page.propose("alpha\nBETA\ngamma\nDELTA\n")
        old = page.hunks
    with store_in(tmp_path) as store:
        page = stored_page(store, "zero\n" + TEXT)
        kept = store.load()
        [new] = page.propose("zero\nalpha\nbeta\ngamma\nthe last one\n", turn="t2")
        restore_state(page.ledger, kept, {URI: page.text})
        beta, delta = (page.ledger.hunk(hunk.id) for hunk in old)
        assert (beta.state, beta.range.start.line) == ("pending", 2)
        assert delta.state == "superseded"
        assert page.ledger.hunk(new.id) == new
        assert page.ledger.live(URI) == (beta, new)
        page.accept()
        assert page.text == "zero\nalpha\nBETA\ngamma\nthe last one\n"


def test_hunk_restored_twice_exists_once(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store)
        page.propose("alpha\nBETA\ngamma\ndelta\n")
        page.type(0, 0, 0, 0, "zero\n")
        before = page.hunks
        restore_state(page.ledger, store.load(), {URI: page.text})
        assert page.hunks == before
        page.accept()
        assert page.text == "zero\nalpha\nBETA\ngamma\ndelta\n"


def test_hunks_of_two_dead_servers_are_found_each_by_the_text_it_was_noted_with(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as one, store_in(tmp_path) as other:
        stored_page(one).propose("alpha\nBETA\ngamma\ndelta\n")
        stored_page(other, "gamma\ndelta\nepsilon\n").propose("gamma\nDELTA\nepsilon\n")
    ledger = restarted(tmp_path, TEXT)
    assert [(hunk.id, hunk.state, hunk.old, hunk.range.start.line) for hunk in ledger.hunks()] == [
        ("h1", "pending", "beta\n", 1),
        ("h2", "pending", "delta\n", 3),
    ]
    assert restarted(tmp_path, TEXT).hunks() == ledger.hunks()


def test_of_two_dead_servers_hunks_in_one_place_the_one_noted_last_waits(tmp_path: Path) -> None:
    with store_in(tmp_path) as one, store_in(tmp_path) as other:
        stored_page(one).propose("alpha\nBETA\ngamma\ndelta\n")
        stored_page(other).propose("alpha\nzwei\ngamma\ndelta\n")
    ledger = restarted(tmp_path, TEXT)
    assert [(hunk.id, hunk.state) for hunk in ledger.hunks()] == [
        ("h1", "superseded"),
        ("h2", "pending"),
    ]


def test_a_dead_servers_block_in_the_text_goes_before_anothers_hunk_in_the_margin(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as one, store_in(tmp_path) as other:
        page = shown_page(stored_page(one))
        stored_page(other).propose("alpha\nzwei\ngamma\ndelta\n")
    ledger = restarted(tmp_path, page.text)
    assert {hunk.id: (hunk.state, hunk.inline) for hunk in ledger.hunks()} == {
        "h1": ("pending", True),
        "h2": ("superseded", False),
    }


def shown_page(page: ReviewHarness | None = None) -> ReviewHarness:
    """A page with one hunk, which is shown in the text as a block."""
    page = page or ReviewHarness(TEXT)
    [hunk] = page.propose("alpha\nBETA\ngamma\ndelta\n")
    edit = page.ledger.blocks.show(page.document, [hunk.id])
    assert edit is not None
    page.apply(*changes_between(page.text, edit.apply(page.text)))
    assert page.hunks[0].inline
    return page


def come_back(page: ReviewHarness, positions: AnchorSnapshot, text: str) -> Hunk:
    """The hunk of a page in the ledger of a server that comes after, on a file that is `text`."""
    ledger = ReviewLedger()
    restore_state(ledger, RestoredState(page.hunks, (positions,)), {URI: text})
    [hunk] = ledger.hunks()
    return hunk


def test_a_block_in_pieces_that_was_never_saved_is_not_decided_by_a_restart() -> None:
    page = shown_page()
    page.replace(page.text.replace("#ai_edit\n", "").replace('"type"', '"ty'))
    assert page.states == ["conflict"]
    positions = page.ledger.anchor_snapshot(URI)
    assert positions is not None
    hunk = come_back(page, positions, TEXT)
    assert (hunk.state, hunk.old, hunk.new, hunk.inline) == ("pending", "beta\n", "BETA\n", False)


def test_of_two_hunks_kept_for_the_lines_of_one_block_none_is_decided_by_a_restart() -> None:
    page = ReviewHarness(TEXT)
    page.propose("alpha\nBETA\ngamma\nDELTA\n")
    edit = page.ledger.blocks.show(page.document, ["h1", "h2"])
    assert edit is not None
    page.apply(*changes_between(page.text, edit.apply(page.text)))
    kept = page.ledger.anchor_snapshot(URI)
    assert kept is not None
    text = page.text.replace('"h1","type"', '"h1","ty')
    mixed = AnchorSnapshot(URI, text, {"h1": kept.lines["h1"], "h2": kept.lines["h1"]}, frozenset())
    ledger = ReviewLedger()
    restore_state(ledger, RestoredState(page.hunks, (mixed,)), {URI: "first\n" + TEXT})
    assert {hunk.id: (hunk.state, hunk.inline) for hunk in ledger.hunks()} == {
        "h1": ("pending", False),
        "h2": ("pending", False),
    }


def test_hunks_of_a_file_whose_name_another_took_are_there_after_a_restart(tmp_path: Path) -> None:
    moved = "alpha\nzwei\ngamma\nfour\n"
    with store_in(tmp_path) as store:
        page, other = stored_page(store), ReviewHarness(moved, "file:///ws/b.md")
        page.propose("alpha\nBETA\ngamma\ndelta\n")
        other.ledger = page.ledger
        other.propose("alpha\nzwei\ngamma\n4\n", name="b.md")
        page.ledger.renamed("file:///ws/b.md", URI)
        before = page.ledger.hunks()
        assert [(hunk.uri, hunk.state) for hunk in before] == [
            (URI, "conflict"),
            (URI, "pending"),
        ]
    assert restarted(tmp_path, moved).hunks() == before


def test_a_hunk_that_ends_the_text_keeps_what_was_typed_in_its_last_line_after_a_restart(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store, "alpha")
        page.propose("new\nALPHA")
        page.type(0, 0, 0, 5, "beta\ngamma\n")
        page.ledger.take_theirs(page.hunks[0].id)
        page.type(2, 0, 2, 0, "delta")
        positions = page.ledger.anchor_snapshot(URI)
        assert positions is not None
        store.note_snapshots([positions])
        [before] = page.hunks
    [after] = restarted(tmp_path, page.text).hunks()
    assert (after.range, after.old, after.new) == (before.range, before.old, before.new)


@pytest.mark.parametrize("instead", ["other words\n", ""])
def test_restored_hunk_is_at_its_line_that_was_typed_again(
    instead: str,
) -> None:
    page = ReviewHarness("alpha beta\ngamma\ndelta epsilon\n")
    [hunk] = page.propose("alpha beta\ngamma\n")
    page.ledger.reject(hunk.id)
    page.type(2, 0, 3, 0, instead)
    page.type(0, 0, 0, 0, "delta epsilon\n")
    waiting = page.ledger.restore(hunk.id)
    assert (waiting.state, waiting.range.start.line) == (HunkState.PENDING, 0)
    page.accept()
    assert page.text == f"alpha beta\ngamma\n{instead}"


def test_rejected_hunk_is_restored_in_place_if_its_line_occurs_twice_elsewhere() -> None:
    page = ReviewHarness("alpha beta\ngamma\ndelta epsilon\n")
    [hunk] = page.propose("alpha beta\ngamma\n")
    page.ledger.reject(hunk.id)
    page.type(2, 0, 2, 13, "other words")
    page.type(0, 0, 0, 0, "delta epsilon\ndelta epsilon\n")
    waiting = page.ledger.restore(hunk.id)
    assert (waiting.state, waiting.old) == (HunkState.CONFLICT, "other words\n")


def test_an_edit_that_arrived_with_typed_text_as_the_server_ended_is_accepted(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store)
        [hunk] = page.propose("alpha\nBETA\ngamma\ndelta\n")
    text = "typed\nby alpha\nBETA\ngamma\ndelta\n"
    ledger = restarted(tmp_path, text)
    assert ledger.hunk(hunk.id).state == "accepted"
    assert ledger.hunk(hunk.id).range.start.line == 2


def test_other_text_in_the_place_of_a_hunk_is_a_conflict_after_a_restart(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        page = stored_page(store)
        [hunk] = page.propose("alpha\nBETA\ngamma\ndelta\n")
    ledger = restarted(tmp_path, "typed\nby alpha\nmine\ngamma\ndelta\n")
    assert ledger.hunk(hunk.id).state == "conflict"
