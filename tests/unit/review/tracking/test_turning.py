"""Undo and redo in the editor, across hunks that were accepted together and touch."""

import pytest

from stet.review.drafts import EditDraft
from stet.text.edit import Replacement, TextEdit
from tests.support.review_harness import ReviewHarness, rules

OLD = "a\nb\nc\n"


def propose_at(page: ReviewHarness, start: int, end: int, new: str, turn: str) -> None:
    edit = TextEdit((Replacement(start, end, new),))
    draft = EditDraft(
        turn=turn, author="m", document=page.document, name="a.md", edit=edit, summary="s"
    )
    page.ledger.propose_edit(draft, rules())


@pytest.mark.parametrize(
    ("edits", "accepted"),
    [
        (((4, 5, "C"), (6, 6, "Z\n")), "a\nb\nC\nZ\n"),
        (((4, 4, "Z\n"), (4, 6, "C\n")), "a\nb\nZ\nC\n"),
        (((2, 4, "B\n"), (4, 4, "Z\n"), (4, 6, "C\n")), "a\nB\nZ\nC\n"),
        (((2, 4, ""), (4, 6, "C\n")), "a\nC\n"),
    ],
)
def test_the_editors_undo_takes_back_all_neighbours_that_were_accepted_together(
    edits: tuple[tuple[int, int, str], ...], accepted: str
) -> None:
    page = ReviewHarness(OLD)
    for turn, (start, end, new) in enumerate(edits):
        propose_at(page, start, end, new, f"t{turn}")
    page.accept()
    assert page.text == accepted
    page.replace(OLD)
    assert page.states == ["pending"] * len(edits)
    page.replace(accepted)
    assert page.states == ["accepted"] * len(edits)
    page.send_back()
    assert (page.text, page.states) == (OLD, ["undone"] * len(edits))


def test_other_text_in_the_place_of_neighbours_is_no_undo() -> None:
    page = ReviewHarness(OLD)
    propose_at(page, 4, 5, "C", "t1")
    propose_at(page, 6, 6, "Z\n", "t2")
    page.accept()
    page.replace("a\nb\nmine\n")
    assert page.states == ["accepted", "accepted"]


@pytest.mark.parametrize(
    ("old", "edits", "accepted"),
    [
        ("top\n1 one\n", ((4, 10, ""), (10, 10, "2 one\n")), "top\n2 one\n"),
        ("top\n\n\n\n", ((4, 5, "a\nb\n"), (6, 7, "c\n")), "top\na\nb\n\nc\n"),
        ("top\n1 one\nlast", ((4, 10, "2 one\n"), (10, 14, "")), "top\n2 one\n"),
    ],
)
def test_an_edit_of_several_hunks_is_undone_and_redone_as_a_whole(
    old: str, edits: tuple[tuple[int, int, str], ...], accepted: str
) -> None:
    page = ReviewHarness(old)
    for turn, (start, end, new) in enumerate(edits):
        propose_at(page, start, end, new, f"t{turn}")
    page.replace(page.send())
    assert (page.text, page.states) == (accepted, ["accepted"] * len(edits))
    page.type(0, 0, 0, 0, "zero\n")
    page.replace(f"zero\n{old}")
    assert page.states == ["pending"] * len(edits)
    page.replace(f"zero\n{accepted}")
    assert page.states == ["accepted"] * len(edits)
    page.send_back()
    assert (page.text, page.states) == (f"zero\n{old}", ["undone"] * len(edits))


def test_lines_taken_out_one_after_the_other_come_back_in_their_order() -> None:
    """The editor reports another of the empty lines than the one that the edit took out."""
    old = "a\na\n\n\nb\n\nb\n"
    page = ReviewHarness(old)
    propose_at(page, 6, 8, "", "t1")
    propose_at(page, 5, 6, "", "t2")
    for hunk in ("h1", "h2"):
        page.accept(hunk)
    assert page.text == "a\na\n\n\nb\n"
    page.send_back()
    assert (page.text, page.states) == (old, ["undone", "undone"])


def test_what_was_typed_into_a_hunk_stays_when_it_is_taken_back_and_done_again() -> None:
    page = ReviewHarness("a\nb of two\n")
    page.propose("A\nB of two\n")
    page.accept()
    page.type(1, 8, 1, 8, " mine")
    page.replace("a\nb of two mine\n")
    assert page.states == ["pending"]
    page.replace("A\nB of two mine\n")
    assert page.states == ["accepted"]
    page.send_back()
    assert (page.text, page.states) == ("a\nb of two mine\n", ["undone"])


def test_typing_into_what_stood_as_proposed_already_takes_nothing_back() -> None:
    page = ReviewHarness("a\nb\n")
    [hunk] = page.propose("a\nB\n")
    page.type(1, 0, 1, 1, "B")
    page.accept(hunk.id)
    page.type(1, 1, 1, 1, " mine")
    page.replace("a\r\nB mine\r\n")
    assert page.states == ["accepted"]


def test_undoing_a_hunk_accepted_within_another_leaves_that_accepted() -> None:
    page = ReviewHarness("\n")
    outer = page.propose("\na\n", "t1")[0].id
    page.accept(outer)
    inner = page.propose("\n\n", "t2")[0].id
    page.accept(inner)
    page.replace("\na\n")
    assert {hunk.id: hunk.state for hunk in page.hunks} == {outer: "accepted", inner: "pending"}


def test_a_hunk_amended_after_an_undo_is_known_by_what_it_writes_now() -> None:
    page = ReviewHarness("a\nb\nc\n")
    first = page.propose("A\nb\nC\n")[0].id
    page.accept()
    page.replace("a\nb\nc\n")
    page.ledger.amend(first, "AA\nAAA\n")
    page.accept()
    page.replace("a\nb\nc\n")
    assert page.states == ["pending", "pending"]
    page.replace("AA\nAAA\nb\nc\n")
    assert page.states == ["accepted", "pending"]
