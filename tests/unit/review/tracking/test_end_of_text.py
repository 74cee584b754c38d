"""Hunks at the end of a text, where a last line may have no end or go."""

from tests.support.review_harness import ReviewHarness


def test_a_last_line_without_end_is_followed() -> None:
    page = ReviewHarness("a\nb")
    page.propose("a\nB")
    page.type(1, 1, 1, 1, "\n")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nB\n"


def test_a_last_line_taken_over_the_users_text_does_not_run_into_lines_written_behind() -> None:
    page = ReviewHarness("a\nold")
    (hunk,) = page.propose("a\nnew")
    page.type(1, 3, 1, 3, "\nlast\n")
    page.type(1, 0, 1, 3, "mine")
    assert page.states == ["conflict"]
    page.ledger.take_theirs(hunk.id)
    page.accept()
    assert page.text == "a\nnew\nlast\n"


def test_an_insertion_behind_a_last_line_that_lost_its_end_takes_that_line_along() -> None:
    page = ReviewHarness("a\nb\n")
    (hunk,) = page.propose("a\nb\nc\n")
    page.type(1, 1, 2, 0, "")
    assert (page.text, page.states) == ("a\nb", ["conflict"])
    page.ledger.take_theirs(hunk.id)
    page.accept()
    assert (page.text, page.states) == ("a\nb\nc", ["accepted"])


def test_an_insertion_behind_an_empty_line_that_is_gone_is_not_found_behind_the_end_of_the_text() -> (
    None
):
    page = ReviewHarness("a\n\n")
    page.propose("a\n\nnew\n")
    page.type(0, 0, 2, 0, "b")
    page.type(0, 1, 0, 1, "\n")
    assert (page.text, page.states) == ("b\n", ["conflict"])
    page.type(1, 0, 1, 0, "\n")
    assert (page.text, page.states) == ("b\n\n", ["pending"])
    page.accept()
    for text, state in (("b\n\n", "pending"), ("b\n\nnew\n", "accepted")):
        page.replace(text)
        assert (page.text, page.states) == (text, [state])
