"""A hunk breaks where its text is changed or gone, and comes back with it."""

import pytest

from stet.review.proposal import HunkState
from tests.support.review_harness import ReviewHarness

OLD = "one\ntwo\nthree\nfour\nfive\n"
REPLACED = "one\ntwo\nTHREE\nfour\nfive\n"
ADDED = "one\ntwo\nnew\nthree\nfour\nfive\n"
DELETED = "one\ntwo\nfour\nfive\n"


@pytest.mark.parametrize("proposed", [REPLACED, DELETED])
def test_typing_inside_makes_a_conflict_and_undoing_it_makes_it_pending_again(
    proposed: str,
) -> None:
    page = ReviewHarness(OLD)
    page.propose(proposed)
    page.type(2, 2, 2, 2, "x")
    (hunk,) = page.hunks
    assert hunk.state is HunkState.CONFLICT
    assert hunk.reason == "you have changed the text it was made for"
    page.type(2, 2, 2, 3, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == proposed


def test_lines_deleted_with_the_hunk_and_brought_back_bring_it_back() -> None:
    page = ReviewHarness(OLD)
    page.propose(REPLACED)
    page.type(1, 0, 4, 0, "")
    assert page.states == ["conflict"]
    page.type(1, 0, 1, 0, "two\nthree\nfour\n")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == REPLACED


@pytest.mark.parametrize(
    ("typed", "undone"),
    [
        ((1, 0, 4, 0, ""), (1, 0, 1, 0, "two\nthree\nfour\n")),
        ((1, 3, 2, 0, ""), (1, 3, 1, 3, "\n")),
        ((1, 1, 2, 1, "x"), (1, 1, 1, 2, "wo\nt")),
    ],
)
def test_an_insertion_whose_surroundings_are_gone_is_a_conflict_until_they_are_back(
    typed: tuple[int, int, int, int, str], undone: tuple[int, int, int, int, str]
) -> None:
    page = ReviewHarness(OLD)
    page.propose(ADDED)
    page.type(*typed)
    assert page.states == ["conflict"]
    page.type(*undone)
    assert (page.text, page.states) == (OLD, ["pending"])
    page.accept()
    assert page.text == ADDED


def test_text_typed_at_the_edges_of_a_conflict_does_not_keep_it_one() -> None:
    page = ReviewHarness(OLD)
    page.propose(REPLACED)
    page.type(2, 2, 2, 2, "x")
    page.type(2, 0, 2, 0, "before\n")
    page.type(4, 0, 4, 0, "behind\n")
    page.type(3, 2, 3, 3, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "one\ntwo\nbefore\nTHREE\nbehind\nfour\nfive\n"


@pytest.mark.parametrize("typed", [(2, 0, 2, 0, "x"), (1, 3, 2, 0, ""), (2, 5, 2, 5, "x")])
def test_typing_at_the_ends_of_the_word_that_is_replaced_is_a_conflict(
    typed: tuple[int, int, int, int, str],
) -> None:
    page = ReviewHarness(OLD)
    page.propose(REPLACED)
    page.type(*typed)
    assert page.states == ["conflict"]


def test_a_block_deleted_with_three_hunks_in_it_and_brought_back_brings_all_back() -> None:
    page = ReviewHarness("".join(f"line {n}\n" for n in range(9)))
    page.propose("".join(f"LINE {n}\n" if n in {2, 4, 6} else f"line {n}\n" for n in range(9)))
    before = page.text
    page.type(1, 0, 8, 0, "")
    assert page.states == ["conflict"] * 3
    page.type(1, 0, 1, 0, "".join(f"line {n}\n" for n in range(1, 8)))
    assert (page.text, page.states) == (before, ["pending"] * 3)


def test_a_line_above_a_conflict_that_is_taken_away_and_put_back_is_no_part_of_it() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.type(1, 0, 1, 0, "x")
    page.type(0, 0, 1, 0, "")
    page.type(0, 0, 0, 0, "a\n")
    page.ledger.take_theirs(page.hunks[0].id)
    page.accept()
    assert page.text == "a\nB\nc\n"


def test_a_hunk_whose_own_line_was_pushed_down_by_one_like_it_comes_back_when_that_goes() -> None:
    page = ReviewHarness("a\n\n")
    page.propose("a\nb\nc\n")
    page.type(1, 0, 1, 0, "x")
    page.type(2, 0, 2, 0, "\n")
    page.type(2, 0, 3, 0, "")
    assert page.states == ["conflict"]
    page.type(1, 0, 1, 1, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nb\nc\n"


def test_a_hunk_cut_short_below_the_line_that_was_put_above_it_comes_back_when_that_goes() -> None:
    page = ReviewHarness("a\n\nb\nc\n")
    page.propose("a\nA\nB\nc\n")
    page.type(1, 0, 1, 0, "\n")
    page.type(1, 0, 1, 0, "x\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 2, 0, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nA\nB\nc\n"
