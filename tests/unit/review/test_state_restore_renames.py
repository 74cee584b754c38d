"""Hunks of a file that is not there, where another file with its name gets another one."""

from stet.review.proposal import HunkState, MoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from tests.support.review_harness import ReviewHarness, rules

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


def test_an_accepted_move_keeps_its_names_when_the_next_file_with_the_old_name_is_moved() -> None:
    page = ReviewHarness("text\n")
    first = accept_move(page, "file:///ws/b.md")
    second = accept_move(page, "file:///ws/c.md")
    names = [(hunk.uri, hunk.new_uri) for hunk in map(page.ledger.hunk, (first, second))]
    assert names == [(page.uri, "file:///ws/b.md"), (page.uri, "file:///ws/c.md")]


def test_an_accepted_move_stays_when_a_file_without_hunks_gives_its_old_name_up() -> None:
    page = ReviewHarness("text\n")
    move = accept_move(page, "file:///ws/b.md")
    page.ledger.renamed(page.uri, OTHER)
    assert page.ledger.hunk(move).uri == page.uri


def test_an_accepted_move_follows_its_folder_if_no_other_file_has_got_its_old_name() -> None:
    page = ReviewHarness("text\n")
    move = accept_move(page, "file:///ws/b.md")
    page.ledger.renamed(page.uri, OTHER, with_folder=True)
    assert page.ledger.hunk(move).uri == OTHER


def accept_move(page: ReviewHarness, new_uri: str) -> str:
    """Have the file of a page moved, and its move accepted."""
    draft = MoveDraft(
        turn="t1",
        author="m",
        uri=page.uri,
        name="a.md",
        new_uri=new_uri,
        new_name=new_uri,
        summary="s",
    )
    [hunk] = page.ledger.propose(prepare_draft(draft, rules()))
    page.ledger.outbox.send_whole(hunk.id)
    page.ledger.renamed(page.uri, new_uri)
    page.ledger.outbox.confirm_whole(hunk.id)
    return hunk.id
