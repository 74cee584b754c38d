"""Blocks that go come back: by the editor's undo, whole or line by line, and beside others."""

import itertools

import pytest

from tests.support.inline_review_harness import (
    CODE,
    MARKED,
    NEW,
    NOTE,
    OLD,
    InlineReviewHarness,
    shown,
    texts,
)


def test_an_insertion_whose_place_is_lost_is_lost_again_when_its_block_is_undone() -> None:
    page = InlineReviewHarness("one\ntwo\nthree\nfour\n", CODE)
    page.propose("one\ntwo\nnew\nthree\nfour\n")
    page.type(1, 0, 3, 0, "zweidrei\n")
    before = page.text, texts(page.hunk(1)), page.hunk(1).range
    assert page.states == ["conflict"]
    page.show("h1")
    assert page.states == ["pending"]
    page.replace(before[0])
    assert (page.text, texts(page.hunk(1)), page.hunk(1).range) == before
    page.edit("zweidrei\n", "two\nthree\n")
    page.accept("h1")
    assert page.text == "one\ntwo\nnew\nthree\nfour\n"


def test_block_that_is_complete_again_is_pending_again() -> None:
    page = shown()
    for mark in ("<<<<<<< yours\ntwo", ">>>>>>> stet h1 (s)\n", "=======\n2"):
        before = page.text
        page.edit(mark, "")
        assert page.hunk(1).state == "conflict"
        page.replace(before)
        assert texts(page.hunk(1)) == ("pending", "two\n", "2\n", True)
    page.accept("h1")
    assert page.text == MARKED.replace(MARKED[4:60].partition("three")[0], "2\n")


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_a_block_that_the_editors_undo_brings_back_waits_again(uri: str) -> None:
    page = shown(uri)
    with_blocks = page.text
    page.accept("h1")
    page.take_out("h2")
    page.replace(with_blocks)
    assert [texts(hunk) for hunk in page.hunks] == [
        ("pending", "two\n", "2\n", True),
        ("pending", "", "six\n", True),
    ]
    page.accept()
    assert page.text == NEW


def test_undoing_the_editors_edit_that_put_the_blocks_in_rejects_them() -> None:
    page = shown()
    page.replace(OLD)
    assert page.states == ["rejected", "rejected"]
    page.replace(MARKED)
    assert page.states == ["pending", "pending"]


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_a_block_that_comes_back_in_the_place_of_another_leaves_that_one_waiting(uri: str) -> None:
    page = shown(uri, new=OLD.replace("two", "2"))
    with_first = page.text
    page.take_out("h1")
    page.propose(OLD.replace("two", "zwei"), turn="t2")
    page.show()
    with_second = page.text
    page.replace(with_first)
    assert [texts(hunk) for hunk in sorted(page.hunks, key=lambda hunk: hunk.id)] == [
        ("pending", "two\n", "2\n", True),
        ("conflict", "", "zwei\n", False),
    ]
    assert page.hunk(1).range.start >= page.hunk(2).range.end
    page.replace(with_second)
    assert texts(page.hunk(2)) == ("pending", "two\n", "zwei\n", True)


def test_blocks_that_come_back_within_what_is_left_of_another_share_no_lines_with_it() -> None:
    page = shown(NOTE)
    with_both = page.text
    page.take_out("h1", "h2")
    page.propose(OLD.replace("five", "5"), turn="t2")
    page.show()
    page.type(1, 0, len(page.buffer.lines) - 1, 0, with_both.removeprefix("one\n"))
    assert [(hunk.id, *texts(hunk)) for hunk in page.hunks] == [
        ("h1", "pending", "two\n", "2\n", True),
        ("h3", "conflict", "", "5\n", False),
        ("h2", "pending", "", "six\n", True),
    ]
    page.amend(h1="II\n")
    page.accept("h1", "h2")
    page.replace("one\n")
    page.ledger.amend("h3", "5\n")
    page.accept("h3")
    assert page.text == "one\n5\n"


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_a_hunk_in_the_margin_makes_room_for_a_block_that_comes_back(uri: str) -> None:
    page = shown(uri, new=OLD.replace("two", "2"))
    with_block = page.text
    page.accept("h1")
    page.propose(page.text.replace("2", "zwei"), turn="t2")
    page.replace(with_block)
    assert [(hunk.id, *texts(hunk)) for hunk in page.hunks] == [
        ("h2", "conflict", "", "zwei\n", False),
        ("h1", "pending", "two\n", "2\n", True),
    ]


def test_every_line_taken_away_from_a_block_can_come_back() -> None:
    n = MARKED.count("\n")
    for first, last in itertools.combinations(range(n + 1), 2):
        page = shown()
        page.type(first, 0, last, 0, "")
        page.replace(MARKED)
        assert [texts(hunk) for hunk in page.hunks] == [
            ("pending", "two\n", "2\n", True),
            ("pending", "", "six\n", True),
        ], (first, last)
