"""Hunks are shown as blocks in the text, and stay blocks whatever is typed round them."""

import pytest

from stet.review.proposal import HunkState
from tests.support.inline_review_harness import (
    CODE,
    FENCED,
    MARKED,
    NEW,
    NOTE,
    OLD,
    InlineReviewHarness,
    shown,
    texts,
)


@pytest.mark.parametrize(("uri", "text"), [(CODE, MARKED), (NOTE, FENCED)])
def test_hunks_are_shown_as_blocks_and_stay_pending(uri: str, text: str) -> None:
    page = shown(uri)
    assert page.text == text
    assert [texts(hunk) for hunk in page.hunks] == [
        ("pending", "two\n", "2\n", True),
        ("pending", "", "six\n", True),
    ]
    assert [page.document.text_in(hunk.range) for hunk in page.hunks] == [
        "".join(page.document.lines[1 : 6 if uri == CODE else 5]),
        "".join(page.document.lines[9 if uri == CODE else 8 :]),
    ]


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_blocks_folded_away_leave_the_text_as_it_was_and_wait_in_the_margin(uri: str) -> None:
    page = shown(uri)
    page.take_out("h1", "h2", then=HunkState.PENDING)
    assert page.text == OLD
    assert [(h.state, h.inline) for h in page.hunks] == [("pending", False)] * 2
    page.accept()
    assert page.text == NEW


def test_a_block_that_is_moved_is_decided_where_it_is() -> None:
    page = shown()
    block = page.document.text_in(page.hunk(1).range)
    page.replace(page.text.replace(block, "").replace("four\n", f"four\n{block}"))
    assert page.hunk(1).state == "pending"
    page.accept("h1", "h2")
    assert page.text == "one\nthree\nfour\n2\nfive\nsix\n"


def test_typing_round_blocks_leaves_them_alone() -> None:
    page = shown()
    page.type(0, 0, 0, 0, "zero\n")
    page.edit("three\n", "drei\n")
    page.edit("h1 (s)\n", "h1 (s)\nbehind\n")
    page.edit("<<<<<<< yours\ntwo", "before\n<<<<<<< yours\ntwo")
    page.accept("h1")
    assert (
        page.text
        == "zero\none\nbefore\n2\nbehind\ndrei\nfour\nfive\n" + MARKED[-57:].partition("five\n")[2]
    )
    assert page.states == ["accepted", "pending"]


def test_a_conflict_can_be_put_into_the_text_to_be_sorted_out_there() -> None:
    page = InlineReviewHarness(OLD, CODE)
    page.propose(OLD.replace("two", "2"))
    page.edit("two", "zwei")
    assert page.states == ["conflict"]
    page.show("h1")
    assert page.text == MARKED.replace("\ntwo\n", "\nzwei\n").partition("<<<<<<< yours\n====")[0]
    assert texts(page.hunk(1)) == ("pending", "zwei\n", "2\n", True)
    page.take_out("h1")
    assert page.text == OLD.replace("two", "zwei")


def test_protected_files_and_front_matter_are_not_written_to() -> None:
    page = InlineReviewHarness("---\na: 1\n---\ntext\n", NOTE)
    page.propose("---\na: 2\n---\nmore text\n")
    assert page.ledger.blocks.showable(page.document) == ("h2",)
    guarded = InlineReviewHarness("all:\n", "file:///ws/Makefile")
    guarded.propose("none:\n", name="Makefile")
    assert guarded.ledger.blocks.showable(guarded.document) == ()


def test_failed_edit_leaves_the_hunks_in_the_margin() -> None:
    page = InlineReviewHarness(OLD, CODE)
    page.propose(NEW)
    assert page.ledger.blocks.show(page.document, ("h1", "h2"))
    page.unsend()
    assert [(h.state, h.inline) for h in page.hunks] == [("pending", False)] * 2
    page.accept()
    assert page.text == NEW
