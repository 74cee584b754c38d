"""The editor's undo and redo of an accepted hunk are noticed."""

from tests.support.review_harness import ReviewHarness


def test_the_editors_undo_and_redo_of_an_accepted_hunk_are_noticed() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.accept()
    page.replace("a\nb\nc\n")
    assert page.states == ["pending"]
    page.replace("a\nB\nc\n")
    assert page.states == ["accepted"]


def test_undo_and_redo_of_a_hunk_that_has_become_the_end_of_the_text_are_noticed() -> None:
    page = ReviewHarness("a\n\nb")
    page.propose("a\nB\nC\n")
    page.type(1, 0, 2, 1, "")
    assert page.states == ["conflict"]
    page.ledger.take_theirs(page.hunks[0].id)
    page.accept()
    assert (page.text, page.states) == ("a\nB\nC\n", ["accepted"])
    page.type(1, 0, 3, 0, "")
    assert page.states == ["pending"]
    page.type(1, 0, 1, 0, "B\nC\n")
    assert page.states == ["accepted"]


def test_the_editors_undo_is_noticed_where_lines_come_back_behind_those_that_stayed() -> None:
    page = ReviewHarness("x\n")
    page.propose("a\nc\n")
    page.type(0, 0, 0, 1, "c\nd\ne")
    page.ledger.take_theirs(page.hunks[0].id)
    page.accept()
    assert page.text == "a\nc\n"
    page.replace("c\nd\ne\n")
    assert page.states == ["pending"]
