"""A later turn proposes where an earlier one has: what is superseded, and what stays."""

import pytest

from stet.review.errors import HunkOverlap
from stet.review.proposal import HunkState
from tests.support.review_harness import ReviewHarness

OLD = "a\nb\nc\nd\ne\n"


def test_a_later_turn_supersedes_in_the_same_place_and_leaves_the_rest() -> None:
    page = ReviewHarness(OLD)
    first, second = page.propose("A\nb\nC\nd\ne\n")
    (third,) = page.propose("a\nb\nCC\nd\ne\n", turn="t2")
    found = {hunk.id: (hunk.state, hunk.reason) for hunk in page.hunks}
    assert found == {
        first.id: ("pending", ""),
        second.id: ("superseded", f"replaced by {third.id}"),
        third.id: ("pending", ""),
    }


def test_one_turn_may_not_propose_twice_for_the_same_place() -> None:
    page = ReviewHarness(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    with pytest.raises(HunkOverlap, match=rf"lines 3-3 .*\({hunk.id}: s\).*one edit"):
        page.propose("a\nB\nCC\nd\ne\n")
    assert page.hunks == (hunk,)
    page.type(2, 0, 2, 1, "mine")
    page.propose("a\nb\nMINE\nd\ne\n")
    assert sorted(page.states) == ["pending", "superseded"]


def test_what_is_on_its_way_is_not_superseded() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    with pytest.raises(HunkOverlap):
        page.propose("a\nb\nCC\nd\ne\n", turn="t2")
    page = ReviewHarness("", "file:///ws/new.md")
    page.create("text\n")
    page.send()
    with pytest.raises(HunkOverlap):
        page.create("other\n", turn="t2")


def test_new_file_is_one_hunk_and_a_second_proposal_supersedes_it() -> None:
    page = ReviewHarness("", "file:///ws/new.md")
    first = page.create("text\n")
    assert (first.kind, first.old, first.new, first.range.is_empty) == (
        "create",
        "",
        "text\n",
        True,
    )
    second = page.create("better\n", turn="t2")
    assert {hunk.id: hunk.state for hunk in page.hunks} == {
        first.id: "superseded",
        second.id: "pending",
    }
    page.send()
    page.ledger.outbox.confirm_whole(second.id)
    assert page.ledger.hunk(second.id).state is HunkState.ACCEPTED
