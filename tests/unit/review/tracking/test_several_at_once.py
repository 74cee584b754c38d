"""Several changes in one message: a macro, or an undo key held down, is as good as single keystrokes."""

import pytest

from stet.review.tracking.anchor import Anchor
from stet.text.change import TextChange
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness

BACK_AND_FORTH = {
    "a line of its own taken out and put back": ((1, 2, ""), (1, 1, "b\n")),
    "its lines and one behind": ((1, 4, ""), (1, 1, "b\nc\nd\n")),
    "a line above it put in and taken out": ((1, 1, "new\n"), (1, 2, "")),
    "everything": ((0, 5, ""), (0, 0, "a\nb\nc\nd\ne\n")),
}


def lines(first: int, end: int, text: str) -> TextChange:
    """The lines from `first` to before `end` become `text`."""
    return TextChange(Range(Position(first, 0), Position(end, 0)), text)


@pytest.mark.parametrize("times", [1, 3, 12])
@pytest.mark.parametrize("change", BACK_AND_FORTH.values(), ids=BACK_AND_FORTH)
def test_changes_taken_back_in_the_same_message_leave_a_hunk_as_it_was(
    change: tuple[tuple[int, int, str], tuple[int, int, str]], times: int
) -> None:
    page = ReviewHarness("a\nb\nc\nd\ne\n")
    page.propose("a\nB\nc\nD\ne\n", "t1")
    page.propose("a\nb\nc\nmore\nd\ne\n", "t2")
    before = page.hunks
    page.apply(*[lines(*one) for one in change * times])
    assert page.hunks == before
    page.type(0, 0, 0, 0, "first\n")
    page.accept()
    assert page.text == "first\na\nB\nc\nmore\nD\ne\n"


def test_a_change_is_read_by_the_text_that_stood_behind_it() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.apply(lines(1, 2, ""), lines(1, 1, "x\n"), lines(1, 2, ""), lines(1, 1, "b\n"))
    page.apply(lines(1, 1, "x\n"), lines(1, 2, "y\n"))
    page.accept()
    assert page.text == "a\ny\nB\nc\n"


def test_many_lines_of_one_hunk_taken_out_at_once_come_back_at_once() -> None:
    text = "".join(f"{number}\n" for number in range(60))
    page = ReviewHarness(text)
    page.propose("all of it\n")
    before = page.hunks
    every_other = range(59, 0, -2)
    page.apply(*[lines(at, at + 1, "") for at in every_other])
    page.apply(*[lines(at, at, f"{at}\n") for at in reversed(every_other)])
    assert (page.text, page.hunks) == (text, before)


def test_what_is_typed_in_a_hunk_while_the_one_above_it_is_on_its_way_is_its_own() -> None:
    page = ReviewHarness("a\nb")
    first = page.propose("A\nb", "t1")[0].id
    page.propose("a\nB", "t2")
    page.send(first)
    page.type(1, 1, 1, 1, "\nmore\n")
    page.type(0, 0, 0, 1, "A")
    assert page.arrived()
    page.accept()
    assert (page.text, page.states) == ("A\nB\nmore\n", ["accepted", "accepted"])


def test_an_insertion_behind_the_last_line_end_stands_before_the_line_that_holds_nothing() -> None:
    lines = ["a\n", ""]
    anchor = Anchor("h1", lines, (2, 2), "", "b\n")
    assert (anchor.first, anchor.end) == (1, 1)
    assert anchor.merged == "b\n"


def test_neighbours_that_come_as_one_change_behind_other_typing_are_known() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nN\nb\nc\n", "t1")
    page.propose("a\nB\nc\n", "t2")
    page.send()
    page.type(3, 0, 3, 0, "mine\n")
    page.type(1, 0, 1, 1, "N\nB")
    assert page.arrived()
    assert (page.text, page.states) == ("a\nN\nB\nc\nmine\n", ["accepted", "accepted"])


def test_half_of_what_neighbours_write_is_not_all_of_it() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nN\nb\nc\n", "t1")
    page.propose("a\nB\nc\n", "t2")
    page.send()
    page.type(3, 0, 3, 0, "mine\n")
    page.type(1, 0, 1, 1, "N\nB typed")
    assert not page.arrived()


def test_a_message_that_leaves_the_text_as_it_was_leaves_hunks_among_alike_lines_alone() -> None:
    page = ReviewHarness("a\n\n\nb\n")
    page.propose("a\n\nb\n", "t1")
    page.propose("a\nN\n\n\nb\n", "t2")
    before = page.hunks
    page.apply(lines(1, 1, "\n"), lines(3, 4, ""))
    assert (page.text, page.hunks) == ("a\n\n\nb\n", before)
    page.apply(lines(2, 3, ""), lines(1, 1, "\n"))
    assert (page.text, page.hunks) == ("a\n\n\nb\n", before)
