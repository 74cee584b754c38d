"""Blocks of a file that was closed, or outlived by a restart, are found again or wait in the
margin.
"""

import pytest

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk
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
from tests.support.review_harness import restore_state


def test_blocks_are_found_again_after_a_restart() -> None:
    page = shown()
    positions = page.ledger.anchor_snapshot(page.uri)
    assert isinstance(positions, AnchorSnapshot)
    again = InlineReviewHarness("zero\n" + MARKED, CODE)
    again.ledger = ReviewLedger()
    kept = tuple(
        Hunk(**{name: getattr(h, name) for name in Hunk.__dataclass_fields__}) for h in page.hunks
    )
    restore_state(again.ledger, RestoredState(kept, (positions,)), {CODE: again.text})
    again.ledger.opened(CODE, again.buffer.lines)
    assert [texts(hunk) for hunk in again.hunks] == [texts(hunk) for hunk in page.hunks]
    again.accept()
    assert again.text == "zero\n" + NEW


@pytest.mark.parametrize("opens", [True, False])
@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_blocks_that_were_closed_unsaved_are_not_decided_and_wait_in_the_margin(
    uri: str, opens: bool
) -> None:
    page = shown(uri)
    page.ledger.closed(uri)
    page.buffer.replace_all("zero\n" + OLD)
    if opens:
        page.ledger.opened(uri, page.buffer.lines)
    else:
        page.ledger.on_disk(uri, page.text)
        page.ledger.opened(uri, page.buffer.lines)
    assert [texts(hunk) for hunk in page.hunks] == [
        ("pending", "two\n", "2\n", False),
        ("pending", "", "six\n", False),
    ]
    page.accept()
    assert page.text == "zero\n" + NEW


def test_of_blocks_in_a_file_read_again_only_those_that_are_missing_wait_in_the_margin() -> None:
    page = shown()
    page.ledger.closed(page.uri)
    page.buffer.replace_all(MARKED.replace(MARKED[4 : MARKED.index("three")], "two, too\n"))
    page.ledger.opened(page.uri, page.buffer.lines)
    assert [texts(hunk) for hunk in page.hunks] == [
        ("conflict", "two, too\n", "2\n", False),
        ("pending", "", "six\n", True),
    ]


def test_blocks_that_were_never_saved_are_not_decided_by_a_restart() -> None:
    page = shown()
    positions = page.ledger.anchor_snapshot(page.uri)
    assert isinstance(positions, AnchorSnapshot)
    again = InlineReviewHarness(OLD, CODE)
    restore_state(again.ledger, RestoredState(page.hunks, (positions,)), {CODE: again.text})
    again.ledger.opened(CODE, again.buffer.lines)
    assert [texts(hunk) for hunk in again.hunks] == [
        ("pending", "two\n", "2\n", False),
        ("pending", "", "six\n", False),
    ]
    again.accept()
    assert again.text == NEW
