"""A block is decided by action, or by hand: by the text that is left where its markers were."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.errors import WrongHunkState
from stet.review.proposal import HunkState
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.stripped_document import strip_blocks
from tests.support.inline_review_harness import CODE, NOTE, OLD, InlineReviewHarness, shown, texts
from tests.support.review_harness import ReviewHarness


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_accepting_writes_the_new_lines_and_rejecting_the_old(uri: str) -> None:
    page = shown(uri)
    page.accept("h1")
    page.take_out("h2")
    assert page.text == "one\n2\nthree\nfour\nfive\n"
    assert page.states == ["accepted", "rejected"]
    assert page.hunk(2).reason == "no"


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_an_accepted_block_can_be_undone_and_a_rejected_one_restored(uri: str) -> None:
    page = shown(uri)
    page.accept("h1")
    page.take_out("h2")
    edit = page.ledger.outbox.send(page.document, ("h1",), back=True)
    page.apply(*changes_between(page.text, edit.apply(page.text)))
    assert page.text == OLD
    assert page.states == ["undone", "rejected"]
    page.ledger.restore("h2")
    page.accept("h2")
    assert page.text == OLD + "six\n"


@pytest.mark.parametrize(
    ("block", "by_hand", "state", "reason"),
    [
        (1, "2\n", "accepted", ""),
        (1, "two\n", "rejected", ""),
        (1, "2, I think\n", "accepted", "amended by hand"),
        (2, "six\n", "accepted", ""),
        (2, "", "rejected", ""),
        (2, "sechs\n", "accepted", "amended by hand"),
    ],
)
@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_text_left_after_the_markers_are_deleted_decides_the_hunk(
    uri: str, block: int, by_hand: str, state: str, reason: str
) -> None:
    page = shown(uri)
    whole = page.document.text_in(page.hunk(block).range)
    page.edit(whole, by_hand)
    assert (page.hunk(block).state, page.hunk(block).reason) == (state, reason)
    assert page.hunk(3 - block).state == "pending"
    assert page.document.text_in(page.hunk(block).range) == by_hand


def conflicting() -> tuple[InlineReviewHarness, str]:
    """A conflict in a block, and the block."""
    page = InlineReviewHarness(OLD, CODE)
    page.propose("one\n2\nthree\nfour\nfive\n")
    page.edit("two", "zwei")
    page.show("h1")
    return page, page.document.text_in(page.hunk(1).range)


def test_a_conflicts_block_that_is_gone_in_one_step_decides_nothing() -> None:
    page, block = conflicting()
    for _ in range(3):
        page.edit(block, "zwei\n")
        assert texts(page.hunk(1)) == ("conflict", "zwei\n", "2\n", False)
        page.edit("zwei\n", block)
        assert texts(page.hunk(1)) == ("pending", "zwei\n", "2\n", True)
    page.edit(block, "zwei\n")
    page.edit("zwei", "two")
    page.accept("h1")
    assert page.text == "one\n2\nthree\nfour\nfive\n"


def test_a_conflict_is_decided_by_hand_where_its_marks_go_one_by_one_or_more_than_the_marks() -> (
    None
):
    page, block = conflicting()
    page.edit("<<<<<<< yours\n", "")
    page.edit("=======\n2\n>>>>>>> stet h1 (s)\n", "")
    assert page.states == ["rejected"]
    page, block = conflicting()
    page.edit("\n2\n", "\nII\n")
    page.edit(block.replace("\n2\n", "\nII\n"), "zwei\n")
    assert page.states == ["rejected"]


def test_taking_the_marks_away_line_by_line_decides_with_the_last_one() -> None:
    page = shown()
    states = []
    for line in ("<<<<<<< yours\ntwo", "two\n", "=======\n2", ">>>>>>> stet h1 (s)\n"):
        page.edit(line, "2" if "2" in line else "two" if "<" in line else "")
        states.append(str(page.hunk(1).state))
    assert states == ["conflict", "conflict", "conflict", "accepted"]
    assert page.text.startswith("one\n2\nthree\n")


def test_complete_block_is_not_decided() -> None:
    page = shown()
    with pytest.raises(WrongHunkState):
        page.ledger.reject("h1")
    with pytest.raises(WrongHunkState):
        page.ledger.amend("h1", "x\n")
    page.edit("=======\n2\n", "2\n")
    assert "incomplete" in page.hunk(1).reason
    page.ledger.take_mine("h1")
    assert page.states == ["rejected", "pending"]
    rest = page.text
    page.ledger.restore("h1")
    page.accept("h1")
    assert page.text == rest.replace("<<<<<<< yours\ntwo\n2\n>>>>>>> stet h1 (s)\n", "2\n")


lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", "=======\n", "c\r\n", "```\n"]), max_size=7)


@given(
    old=lines.map("".join),
    new=lines.map("".join),
    uri=st.sampled_from([CODE, NOTE]),
    ends=st.booleans(),
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_any_hunks_in_any_order_of_decision_lead_to_the_text_decided_on(
    old: str, new: str, uri: str, ends: bool, data: st.DataObject
) -> None:
    if not ends:
        old, new = old.rstrip("\r\n"), new.rstrip("\r\n")
    page = InlineReviewHarness(old, uri)
    hunks = page.propose(new)
    margin = ReviewHarness(old, uri)
    margin.propose(new)
    if not page.ledger.blocks.showable(page.document):
        return
    page.show()
    stripped = strip_blocks(page.document, {h.id for h in hunks})
    assert stripped is not None
    assert stripped.plain.text == old
    taken = [h.id for h in hunks if data.draw(st.booleans())]
    for hunk_id in data.draw(st.permutations([h.id for h in hunks])):
        if hunk_id in taken:
            page.accept(hunk_id)
        elif page.hunk(int(hunk_id[1:])).inline:
            page.take_out(hunk_id)
    document = TextDocument(uri, old, 1)
    assert page.text == margin.ledger.edit_of(document, taken).apply(old)


@pytest.mark.parametrize("uri", [CODE, NOTE])
@pytest.mark.parametrize(("old", "new"), [("b", "b\n"), ("b\n", "b")])
def test_last_line_end_distinguishes_the_old_text_from_the_new(
    uri: str, old: str, new: str
) -> None:
    for left, state in ((old, HunkState.REJECTED), (new, HunkState.ACCEPTED)):
        page = InlineReviewHarness(old, uri)
        page.propose(new)
        page.show()
        page.apply(*changes_between(page.text, left))
        assert (page.text, page.hunk(1).state) == (left, state)
