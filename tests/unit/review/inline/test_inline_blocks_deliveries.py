"""A hunk whose block is being applied is decided by nothing else."""

from collections.abc import Callable

import pytest

from stet.review.errors import ReviewError, WrongHunkState
from stet.review.proposal import EditDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.diff import changes_between
from stet.text.edit import Replacement, TextEdit
from tests.support.inline_review_harness import CODE, MARKED, NEW, OLD, InlineReviewHarness
from tests.support.review_harness import ReviewHarness, rules

ZWEI = "one\nzwei\nthree\nfour\nfive\n"


@pytest.mark.parametrize(
    "decide",
    [
        lambda page: page.ledger.reject("h1"),
        lambda page: page.ledger.amend("h1", "zwei\n"),
        lambda page: page.propose(ZWEI, turn="t2"),
        lambda page: propose_amended(page, ZWEI, "h1"),
    ],
    ids=["reject", "amend", "replace", "amend by the agent"],
)
@pytest.mark.parametrize("comes", [True, False])
def test_a_hunk_whose_block_is_on_its_way_is_not_decided_meanwhile(
    decide: Callable[[InlineReviewHarness], object], comes: bool
) -> None:
    page = InlineReviewHarness(OLD, CODE)
    page.propose(NEW)
    edit = page.ledger.blocks.show(page.document, ("h1", "h2"))
    assert edit is not None
    with pytest.raises(ReviewError, match=r"is being applied|already have"):
        decide(page)
    if comes:
        page.apply(*changes_between(page.text, edit.apply(page.text)))
        assert page.text == MARKED
    else:
        page.unsend()
    assert [(h.state, h.inline) for h in page.hunks] == [("pending", comes)] * 2
    if comes:
        page.take_out("h1")
    else:
        page.ledger.reject("h1")
    assert page.hunk(1).state == "rejected"


def propose_amended(page: ReviewHarness, text: str, *amends: str) -> None:
    """As `ChatDocument.propose`, in the place of pending hunks."""
    document = page.document
    edit = TextEdit((Replacement(0, len(document.text), text),))
    draft = EditDraft(turn="t1", author="m", document=document, name="a.py", edit=edit, summary="s")
    page.ledger.propose(prepare_draft(draft, rules()), amends)


def test_the_users_own_text_is_not_taken_while_the_markers_of_a_conflict_are_on_their_way() -> None:
    page = InlineReviewHarness(OLD, CODE)
    page.propose("one\n2\nthree\nfour\nfive\n")
    page.edit("two", "zwei")
    edit = page.ledger.blocks.show(page.document, ("h1",))
    assert edit is not None
    with pytest.raises(WrongHunkState, match="h1 is being applied"):
        page.ledger.take_mine("h1")
    page.apply(*changes_between(page.text, edit.apply(page.text)))
    page.take_out("h1")
    assert page.text == "one\nzwei\nthree\nfour\nfive\n"
