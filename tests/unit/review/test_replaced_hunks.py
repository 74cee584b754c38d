"""Conflicts that have replaced hunks of their conversation, which are pending again after them."""

from pathlib import Path

import pytest

from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from tests.support.review_harness import restore_state
from tests.support.review_pictures import check_picture
from tests.support.shared_page import TEXT, A, SharedPage, states_by_id
from tests.support.state_stores import store_in

SEEN = TEXT.replace("two", "2")
"""The text that the session has read, with its own hunk."""
REASON = "you changed the earlier proposal h1"


async def page_with_conflict(ledger: ReviewLedger | None = None) -> SharedPage:
    """Return a page where `h2` is in conflict with `h1`, which the user has amended."""
    page = SharedPage(ledger=ledger)
    assert await page.write("two", "2") == ["pending"]
    page.ledger.amend("h1", "zwei\n")
    assert await page.write("2", "II", read=SEEN) == ["conflict"]
    return page


def replacing(page: SharedPage, hunk_id: str) -> tuple[str, tuple[str, ...], str]:
    """Return the state of a hunk, the hunks that it has replaced, and its reason."""
    hunk = page.ledger.hunk(hunk_id)
    return str(hunk.state), hunk.replaces, hunk.reason


async def test_conflict_has_the_ids_of_the_hunks_that_it_replaces() -> None:
    page = await page_with_conflict()
    assert replacing(page, "h1") == ("superseded", (), "replaced by h2")
    assert replacing(page, "h2") == ("conflict", ("h1",), REASON)
    check_picture(
        page,
        """
          one
        @@ superseded
        @@
        ~ 2
        ! two
        + II
          three
          four
        """,
    )


async def test_next_conflict_replaces_the_hunks_of_the_conflict_before() -> None:
    page = await page_with_conflict()
    assert await page.write("II", "ii", read=TEXT.replace("two", "II")) == ["conflict"]
    assert replacing(page, "h1") == ("superseded", (), "replaced by h3")
    assert replacing(page, "h3") == ("conflict", ("h1",), REASON)
    assert "zwei" in await page.view.describe_conflicts([page.ledger.hunk("h3")])
    page.ledger.take_mine("h3")
    assert states_by_id(page) == ["pending", "superseded", "rejected"]


async def test_conflict_with_lines_beside_a_hunk_replaces_it_too() -> None:
    page = SharedPage()
    assert await page.write("two", "2") == ["pending"]
    page.change("three", "drei")
    assert await page.write("2\nthree", "II\n3", read=SEEN) == ["conflict"]
    reason = "you edited text around the earlier proposal h1"
    assert replacing(page, "h2") == ("conflict", ("h1",), reason)
    seen = TEXT.replace("two\nthree", "II\n3")
    assert await page.write("II\n3", "ii\niii", read=seen) == ["conflict"]
    assert replacing(page, "h3") == ("conflict", ("h1",), reason)
    page.ledger.take_mine("h3")
    assert states_by_id(page) == ["pending", "superseded", "rejected"]
    page.accept()
    assert page.text == SEEN.replace("three", "drei")


async def test_conflict_with_lines_of_the_file_replaces_no_hunk() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    assert await page.write("two", "2") == ["conflict"]
    assert await page.write("2", "II", read=SEEN) == ["conflict"]
    assert replacing(page, "h2") == ("conflict", (), "you edited this text")
    page.ledger.take_mine("h2")
    assert states_by_id(page) == ["superseded", "rejected"]


async def test_amended_hunk_is_back_after_a_restart_too(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        page = await page_with_conflict(ReviewLedger(store))
    page.ledger = ReviewLedger()
    with store_in(tmp_path) as store:
        restore_state(page.ledger, store.load(), {A: page.text})
    page.ledger.opened(A, page.buffer.lines)
    assert replacing(page, "h2") == ("conflict", ("h1",), REASON)
    page.ledger.take_mine("h2")
    assert states_by_id(page) == ["pending", "rejected"]
    page.accept()
    assert page.text == TEXT.replace("two", "zwei")


async def test_restored_hunk_supersedes_the_conflict_which_no_longer_replaces_it() -> None:
    page = await page_with_conflict()
    restored = page.ledger.restore("h1")
    assert (restored.state, restored.new) == (HunkState.PENDING, "zwei\n")
    assert replacing(page, "h2") == ("superseded", (), "replaced by h1")


async def test_hunk_that_is_pending_beside_its_conflict_is_no_longer_replaced() -> None:
    page = await page_with_conflict()
    page.apply_lines((0, 1, "two\n"))
    page.apply_lines((1, 2, ""))
    page.ledger.restore("h1")
    assert states_by_id(page) == ["pending", "conflict"]
    assert replacing(page, "h2") == ("conflict", (), "you edited this text")
    await page.session("codex-1").write(A, page.text, page.text.replace("two", "dos"))
    page.ledger.reject("h3")
    page.ledger.take_mine("h2")
    assert states_by_id(page) == ["superseded", "rejected", "rejected"]


@pytest.mark.parametrize("amended", ["II\n", "both\n"])
async def test_conflict_that_the_user_has_ended_replaces_nothing(amended: str) -> None:
    page = await page_with_conflict()
    page.ledger.amend("h2", amended)
    assert replacing(page, "h2") == ("pending", (), "")
    page.change("two\n", "")
    assert replacing(page, "h2") == ("conflict", (), "you edited this text")
    page.ledger.take_mine("h2")
    assert states_by_id(page) == ["superseded", "rejected"]


async def test_restored_conflict_replaces_nothing() -> None:
    page = await page_with_conflict()
    page.ledger.take_mine("h2")
    page.ledger.reject("h1")
    page.ledger.restore("h2")
    assert replacing(page, "h2")[1:] == ((), "you edited this text")
    page.ledger.take_mine("h2")
    assert states_by_id(page) == ["rejected", "rejected"]
