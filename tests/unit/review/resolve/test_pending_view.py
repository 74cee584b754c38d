"""A file with what an agent has pending in it, and edits of that."""

from hypothesis import given
from hypothesis import strategies as st

from stet.review.errors import ReviewError
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft, HunkState
from stet.review.resolve.pending_view import PendingView
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from tests.support.review_harness import rules

LIVE = TextDocument("file:///ws/a.py", "".join(f"{n}\n" for n in range(8)), version=1)


def propose(
    ledger: ReviewLedger, edit: TextEdit, amends: tuple[str, ...] = (), live: TextDocument = LIVE
) -> tuple[str, ...]:
    """Propose an edit; gives the ids of its hunks."""
    draft = EditDraft(
        turn="t1", chat="main", author="m", document=live, name="a.py", edit=edit, summary="s"
    )
    return tuple(hunk.id for hunk in ledger.propose(prepare_draft(draft, rules()), amends))


def view_of(ledger: ReviewLedger, live: TextDocument = LIVE) -> PendingView:
    return PendingView.build(live, ledger.live(live.uri), "main")


def amend(ledger: ReviewLedger, requested: TextEdit, live: TextDocument = LIVE) -> tuple[str, ...]:
    """Change the view."""
    found = view_of(ledger, live).amended(requested)
    return propose(ledger, found.edit, found.hunks, live)


def change(start: int, end: int, text: str) -> TextEdit:
    return TextEdit((Replacement(start, end, text),))


def test_the_view_is_the_text_with_the_hunks() -> None:
    ledger = ReviewLedger()
    propose(ledger, TextEdit((Replacement(2, 4, "one\n"), Replacement(8, 10, ""))))
    assert view_of(ledger).text == "0\none\n2\n3\n5\n6\n7\n"


def test_edit_supersedes_only_the_hunks_it_touches() -> None:
    ledger = ReviewLedger()
    first, second = propose(
        ledger, TextEdit((Replacement(2, 4, "one\n"), Replacement(8, 10, "four\n")))
    )
    (third,) = amend(ledger, change(2, 5, "ONE"))
    assert view_of(ledger).text == "0\nONE\n2\n3\nfour\n5\n6\n7\n"
    states = {hunk.id: hunk.state for hunk in ledger.hunks()}
    assert states == {
        first: HunkState.SUPERSEDED, second: HunkState.PENDING, third: HunkState.PENDING,
    }  # fmt: skip


def test_putting_the_old_text_back_withdraws_the_hunk() -> None:
    ledger = ReviewLedger()
    (first,) = propose(ledger, change(2, 4, "one\n"))
    assert amend(ledger, change(2, 6, "1\n")) == ()
    assert ledger.hunk(first).state is HunkState.WITHDRAWN


def test_text_added_to_pending_lines_joins_their_hunk() -> None:
    ledger = ReviewLedger()
    propose(ledger, change(4, 4, "new\n"))
    (second,) = amend(ledger, change(8, 8, "newer\n"))
    assert ledger.hunk(second).new == "new\nnewer\n"


def test_change_across_deleted_lines_includes_the_deletion() -> None:
    ledger = ReviewLedger()
    propose(ledger, change(4, 8, ""))  # lines 2 and 3
    (second,) = amend(ledger, change(2, 6, "x\n"))  # lines 1 and 4, next to each other now
    assert (ledger.hunk(second).old, ledger.hunk(second).new) == ("1\n2\n3\n4\n", "x\n")


def test_change_up_to_deleted_lines_leaves_the_deletion_alone() -> None:
    ledger = ReviewLedger()
    (first,) = propose(ledger, change(4, 8, ""))
    before = view_of(ledger).amended(change(2, 4, "x\n"))
    after = view_of(ledger).amended(change(4, 6, "x\n"))
    assert (before.hunks, before.edit) == ((), change(2, 4, "x\n"))
    assert (after.hunks, after.edit) == ((), change(8, 10, "x\n"))
    assert ledger.hunk(first).state is HunkState.PENDING


def test_hunks_of_others_and_undecidable_ones_are_not_in_the_view() -> None:
    ledger = ReviewLedger()
    propose(ledger, change(2, 4, "one\n"))
    assert PendingView.build(LIVE, ledger.live(LIVE.uri), "other").text == LIVE.text


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=8).map("".join)
PIECES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 6), st.sampled_from(["", "x", "y\n", "a\nb\n"])),
    min_size=1,
    max_size=3,
)


def disjoint(pieces: list[tuple[int, int, str]], text: str) -> TextEdit:
    """An edit of `text` out of random pieces."""
    kept: list[Replacement] = []
    for start, length, new in sorted(pieces):
        at = min(start, len(text))
        end = min(at + length, len(text))
        if not kept or at > kept[-1].end:
            kept.append(Replacement(at, end, new))
    return TextEdit(tuple(kept))


@given(LINES, st.lists(PIECES, min_size=2, max_size=4))
def test_view_after_an_amendment_is_the_requested_text(
    text: str, edits: list[list[tuple[int, int, str]]]
) -> None:
    live = TextDocument("file:///ws/a.py", text, version=1)
    ledger = ReviewLedger()
    propose(ledger, disjoint(edits[0], text), live=live)
    for pieces in edits[1:]:
        before = view_of(ledger, live)
        requested = disjoint(pieces, before.text)
        try:
            amend(ledger, requested, live)
        except ReviewError:
            # Equal lines may move a hunk into the place of another; then nothing is changed.
            assert view_of(ledger, live).text == before.text
        else:
            assert view_of(ledger, live).text == requested.apply(before.text)


def test_repeated_proposal_is_recognised() -> None:
    ledger = ReviewLedger()
    first, _ = propose(ledger, TextEdit((Replacement(2, 4, "one\n"), Replacement(8, 10, ""))))
    assert view_of(ledger).repeated(change(2, 4, "one\n"), "t1") == (first,)
    assert view_of(ledger).repeated(change(2, 4, "one\n"), "t2") == ()
    assert view_of(ledger).repeated(change(2, 4, "two\n"), "t1") == ()
