"""Lines that are taken away and put back stand on the side of a hunk where they stood."""

import pytest

from stet.text.change import TextChange
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness


def test_an_insertion_stays_behind_a_line_that_is_taken_away_and_put_back() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nb\nnew\nc\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "b\n")
    assert (page.text, page.states) == ("a\nb\nc\n", ["pending"])
    page.accept()
    assert page.text == "a\nb\nnew\nc\n"


def test_an_insertion_stays_before_another_line_put_where_one_was_taken_away() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nb\nnew\nc\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "x\n")
    page.accept()
    assert page.text == "a\nnew\nx\nc\n"


def test_a_deletion_made_by_hand_waits_again_once_it_and_a_deletion_above_are_undone() -> None:
    page = ReviewHarness("a\nb\nc\nd\n")
    page.propose("a\nb\nd\n")
    page.type(2, 0, 3, 0, "")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "b\n")
    page.type(2, 0, 2, 0, "c\n")
    page.accept()
    assert page.text == "a\nb\nd\n"


def test_a_line_put_back_between_a_conflict_and_an_insertion_belongs_behind_the_insertion() -> None:
    page = ReviewHarness("a\nb\nc\nd\n")
    page.propose("A\nB\nc\nd\n")
    page.propose("a\nb\nnew\nc\nd\n", turn="t2")
    page.type(0, 0, 2, 0, "x\ny\n")
    assert page.states == ["conflict", "pending"]
    page.type(2, 0, 3, 0, "")
    page.type(2, 0, 2, 0, "c\n")
    page.accept()
    assert page.text == "x\ny\nnew\nc\nd\n"


def test_a_line_written_where_a_deletion_was_made_by_hand_hides_nothing_once_it_is_undone() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nc\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "x\ny\n")
    page.type(1, 0, 3, 0, "")
    page.type(1, 0, 1, 0, "b\n")
    page.accept()
    assert page.text == "a\nc\n"


def test_an_insertion_behind_a_conflict_keeps_its_side_of_a_line_that_is_put_back() -> None:
    page = ReviewHarness("a\nb\nc\nd\n")
    page.propose("a\nA\nB\nc\nd\n")
    page.propose("a\nb\nc\nnew\nd\n", turn="t2")
    page.type(1, 0, 3, 0, "")
    page.type(1, 0, 1, 0, "x\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "b\nc\n")
    assert page.states == ["pending", "pending"]
    page.accept()
    assert page.text == "a\nA\nB\nc\nnew\nd\n"


def test_an_insertion_stays_behind_the_line_that_the_undo_of_another_hunk_brings_back() -> None:
    page = ReviewHarness("a\nb\nc\n")
    gone = page.propose("a\nc\n")[0]
    added = page.propose("a\nb\nnew\nc\n", turn="t2")[0]
    page.accept(gone.id)
    page.type(1, 0, 1, 0, "b\n")
    assert page.states == ["pending", "pending"]
    page.accept(added.id)
    assert page.text == "a\nb\nnew\nc\n"


@pytest.fixture
def beside_a_conflict() -> ReviewHarness:
    """An insertion behind a line that is in conflict, so lines put between them are above it."""
    page = ReviewHarness("a\nb\nc\n")
    page.propose("A\nb\nc\n")
    page.propose("a\nnew\nb\nc\n", turn="t2")
    page.type(0, 0, 0, 1, "x")
    return page


def test_a_line_that_was_written_and_removed_and_comes_back_is_where_it_was(
    beside_a_conflict: ReviewHarness,
) -> None:
    page = beside_a_conflict
    page.type(1, 0, 1, 0, "y\n")
    page.ledger.reject(page.hunks[0].id)
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "y\n")
    page.accept()
    assert page.text == "x\ny\nnew\nb\nc\n"


def test_a_line_removed_from_where_others_were_written_and_split_is_not_their_undo(
    beside_a_conflict: ReviewHarness,
) -> None:
    page = beside_a_conflict
    line, inside = Position(1, 0), Position(1, 1)
    page.apply(TextChange(Range(line, line), "yz\n"), TextChange(Range(inside, inside), "\n"))
    page.ledger.reject(page.hunks[0].id)
    page.type(2, 0, 2, 0, "one more\n")
    page.type(2, 0, 3, 0, "")
    page.accept()
    assert page.text == "x\ny\nz\nnew\nb\nc\n"
