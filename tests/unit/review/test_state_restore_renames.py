"""Hunks of a new file that is not there, where another file with its name gets another one."""

from stet.review.proposal import HunkState
from tests.support.review_harness import ReviewHarness

NEW, OTHER = "file:///ws/new.md", "file:///ws/other.md"


def test_a_new_file_can_be_restored_where_another_has_given_its_name_up() -> None:
    page = ReviewHarness("text\n")
    made = page.create("x\n")
    page.ledger.reject(made.id)
    page.ledger.renamed(NEW, OTHER)
    waiting = page.ledger.restore(made.id)
    assert (waiting.uri, waiting.state, waiting.new) == (NEW, HunkState.PENDING, "x\n")


def test_a_new_file_that_another_proposal_has_replaced_keeps_its_name_and_can_be_restored() -> None:
    page = ReviewHarness("text\n")
    replaced, made = page.create("x\n"), page.create("y\n", turn="t2")
    assert page.ledger.hunk(replaced.id).state is HunkState.SUPERSEDED
    page.ledger.renamed(NEW, OTHER)
    waiting = page.ledger.restore(replaced.id)
    assert (waiting.uri, waiting.state, waiting.new) == (NEW, HunkState.PENDING, "x\n")
    assert page.ledger.hunk(made.id).state is HunkState.SUPERSEDED
