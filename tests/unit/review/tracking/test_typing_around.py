"""A hunk follows what is typed around it and at its edges."""

import pytest

from tests.support.review_harness import ReviewHarness

OLD = "one\ntwo\nthree\nfour\nfive\n"
REPLACED = "one\ntwo\nTHREE\nfour\nfive\n"
ADDED = "one\ntwo\nnew\nthree\nfour\nfive\n"


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((0, 0, 0, 0, "zero\n"), "zero\none\ntwo\nTHREE\nfour\nfive\n"),
        ((0, 1, 0, 2, ""), "oe\ntwo\nTHREE\nfour\nfive\n"),
        ((4, 0, 5, 0, ""), "one\ntwo\nTHREE\nfour\n"),
        ((2, 0, 2, 0, "at the first edge\n"), "one\ntwo\nat the first edge\nTHREE\nfour\nfive\n"),
        ((3, 0, 3, 0, "at the last edge\n"), "one\ntwo\nTHREE\nat the last edge\nfour\nfive\n"),
        ((1, 0, 2, 0, ""), "one\nTHREE\nfour\nfive\n"),
        ((3, 0, 4, 0, ""), "one\ntwo\nTHREE\nfive\n"),
        ((0, 0, 2, 0, "2\n"), "2\nTHREE\nfour\nfive\n"),
    ],
)
def test_a_replacement_follows_what_is_typed_around_it(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = ReviewHarness(OLD)
    page.propose(REPLACED)
    page.type(*typed)
    assert page.states == ["pending"]
    page.accept()
    assert (page.text, page.states) == (accepted, ["accepted"])


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((0, 0, 0, 0, "zero\n"), "zero\none\ntwo\nnew\nthree\nfour\nfive\n"),
        ((2, 0, 2, 0, "mine\n"), "one\ntwo\nnew\nmine\nthree\nfour\nfive\n"),
        ((1, 3, 1, 3, "\nmine"), "one\ntwo\nnew\nmine\nthree\nfour\nfive\n"),
        ((1, 0, 2, 0, ""), "one\nnew\nthree\nfour\nfive\n"),
        ((2, 0, 3, 0, ""), "one\ntwo\nnew\nfour\nfive\n"),
    ],
)
def test_an_insertion_follows_what_is_typed_around_it(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = ReviewHarness(OLD)
    page.propose(ADDED)
    page.type(*typed)
    page.accept()
    assert (page.text, page.states) == (accepted, ["accepted"])


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        # `    a1` is deleted; the common beginning of the two lines makes the cut go through both.
        ((0, 5, 1, 5, ""), "    A2\n    a3\n"),
        # `    b` is written above; again the smallest difference begins inside the hunk's line.
        ((1, 4, 1, 4, "b\n    "), "    a1\n    b\n    A2\n    a3\n"),
        # `    a3` is deleted, from the end of the hunk's last line on.
        ((1, 6, 2, 6, ""), "    a1\n    A2\n"),
    ],
)
def test_a_change_of_the_lines_beside_it_may_be_cut_through_its_own(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = ReviewHarness("    a1\n    a2\n    a3\n")
    page.propose("    a1\n    A2\n    a3\n")
    page.type(*typed)
    assert page.states == ["pending"]
    page.accept()
    assert page.text == accepted


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((0, 5, 1, 5, ""), "    new\n    a2\n"),
        ((0, 6, 0, 6, "\n    b"), "    a1\n    new\n    b\n    a2\n"),
    ],
)
def test_a_change_of_the_lines_beside_an_insertion_may_be_cut_through_its_place(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = ReviewHarness("    a1\n    a2\n")
    page.propose("    a1\n    new\n    a2\n")
    page.type(*typed)
    assert page.states == ["pending"]
    page.accept()
    assert page.text == accepted


def test_typing_in_other_words_of_the_line_is_kept() -> None:
    page = ReviewHarness("total = price * count\n")
    page.propose("total = price * amount\n")
    page.type(0, 0, 0, 5, "grand_total")
    (hunk,) = page.hunks
    assert (hunk.state, hunk.old, hunk.new) == (
        "pending",
        "grand_total = price * count\n",
        "grand_total = price * amount\n",
    )
    page.accept()
    assert page.text == "grand_total = price * amount\n"


def test_the_old_line_written_again_behind_itself_stays_outside() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.type(1, 1, 1, 1, "\nb")
    page.accept()
    assert page.text == "a\nB\nb\nc\n"


def test_the_whole_text_coming_anew_is_followed_by_its_difference() -> None:
    page = ReviewHarness(OLD)
    page.propose(REPLACED)
    page.replace("zero\n" + OLD.replace("five", "5"))
    page.accept()
    assert page.text == "zero\n" + REPLACED.replace("five", "5")


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((1, 0, 2, 0, ""), "gap\nnew\ngap\n"),
        ((2, 0, 3, 0, ""), "gap\ngap\nnew\n"),
        ((0, 3, 1, 3, ""), "gap\nnew\ngap\n"),
        ((1, 0, 1, 0, "gap\n"), "gap\ngap\ngap\nnew\ngap\n"),
        ((1, 3, 1, 3, "\ngap"), "gap\ngap\nnew\ngap\ngap\n"),
    ],
)
def test_an_insertion_among_lines_that_read_alike_stays_between_those_it_was_made_for(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = ReviewHarness("gap\ngap\ngap\n")
    page.propose("gap\ngap\nnew\ngap\n")
    page.type(*typed)
    page.accept()
    assert page.text == accepted


def test_an_insertion_found_again_between_lines_with_other_ends_takes_their_ends() -> None:
    page = ReviewHarness("a\nb\n")
    page.propose("a\nnew\nb\n")
    page.replace("x\r\na\r\nb\r\n")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "x\r\na\r\nnew\r\nb\r\n"
