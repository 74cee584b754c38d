"""Taking an accepted hunk back gives the text as it was, to the line end."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.tuples(st.sampled_from(["a", "b", "", "other"]), ENDS).map("".join)
TEXTS = st.lists(LINES, min_size=1, max_size=6)


@given(before=TEXTS, after=TEXTS, last=st.sampled_from(["", "end"]), one_by_one=st.booleans())
def test_undoing_all_gives_a_text_of_mixed_line_ends_back_to_the_byte(
    before: list[str], after: list[str], last: str, one_by_one: bool
) -> None:
    text = "".join(before) + last
    page = ReviewHarness(text)
    hunks = page.propose("".join(after))
    page.accept()
    if any(hunk.state != "accepted" for hunk in page.hunks):
        return  # one text can be reached in two ways, and another hunk was taken for it
    for some in [[hunk] for hunk in reversed(hunks)] if one_by_one else [hunks]:
        edit = page.ledger.outbox.send(page.document, [hunk.id for hunk in some], back=True)
        page.apply(*changes_between(page.text, edit.apply(page.text)))
    assert page.text == text


@pytest.mark.parametrize(
    ("typed", "text"),
    [("typed\n", "b\ra\r\ntyped\nc\r\n"), ("", "b\ra\r\nc\r\n"), ("x\r", "b\ra\r\nx\rc\r\n")],
)
def test_lines_come_back_with_their_ends_beside_lines_typed_with_others(
    typed: str, text: str
) -> None:
    page = ReviewHarness("b\ra\r\nc\r\n")
    page.propose("b\rc\r\n")
    page.accept()
    page.type(1, 0, 1, 0, typed)
    page.send_back()
    assert sorted(page.document.lines) == sorted(ReviewHarness(text).document.lines)


def test_lines_come_back_with_the_ends_that_the_whole_text_has_got_since() -> None:
    page = ReviewHarness("a\r\nb\r\nc\r\n")
    page.propose("a\r\nc\r\n")
    page.accept()
    page.replace("a\nc\n")
    page.send_back()
    assert page.text == "a\nb\nc\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("more", ["", "more\n"])
@pytest.mark.parametrize("is_told_whole", [True, False])
def test_a_hunk_stays_where_it_was_while_all_line_ends_are_made_alike(
    end: str, more: str, *, is_told_whole: bool
) -> None:
    text = "top\n\n\r\none\ntwo\nthree\n\r\nfour\nfive\r\n"
    page = ReviewHarness(text)
    page.propose(text.replace("two", "TWO"))
    wanted = f"{more}{text}".replace("\r\n", "\n").replace("\n", end)
    if is_told_whole:
        page.replace(wanted)
    else:
        page.type(0, 0, len(page.buffer.lines) - 1, 0, wanted)
    page.accept()
    assert page.text == wanted.replace("two", "TWO")


def in_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def turn_at_once(page: ReviewHarness) -> None:
    page.replace(in_crlf(page.text))


def ends_turned(page: ReviewHarness) -> list[TextChange]:
    lines = page.document.lines
    places = [(Position(at, len(line) - 1), Position(at + 1, 0)) for at, line in enumerate(lines)]
    return [TextChange(Range(*place), "\r\n") for place in places[:-1]]


def turn_line_by_line(page: ReviewHarness) -> None:
    for change in ends_turned(page):
        page.apply(change)


def turn_with_other_changes(page: ReviewHarness) -> None:
    typed = Range(Position(0, 0), Position(0, 0))
    page.apply(TextChange(typed, "z"), *ends_turned(page), TextChange(typed, "z"))


TURNS = [turn_at_once, turn_line_by_line, turn_with_other_changes]


def edit_both_sides(page: ReviewHarness) -> None:
    """Both lines beside the place behind the first line become others."""
    page.type(0, 1, 0, 1, "x")
    page.type(1, 1, 1, 1, "y")


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("turn_first", [True, False])
def test_lines_come_back_with_the_ends_of_now_beside_lines_that_were_edited_too(
    turn: Callable[[ReviewHarness], None], *, turn_first: bool
) -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nc\n")
    page.accept()
    for step in (turn, edit_both_sides) if turn_first else (edit_both_sides, turn):
        step(page)
    page.send_back()
    assert page.text == in_crlf(page.text)


@pytest.mark.parametrize("turn", TURNS)
def test_an_insertion_taken_back_waits_again_with_the_ends_of_now(
    turn: Callable[[ReviewHarness], None],
) -> None:
    page = ReviewHarness("a\nc\n")
    [hunk] = page.propose("a\nb\nc\n")
    page.accept()
    page.send_back()
    edit_both_sides(page)
    turn(page)
    assert page.ledger.restore(hunk.id).new == "b\r\n"


@pytest.mark.parametrize("turn", TURNS)
def test_an_insertion_that_waits_takes_over_the_ends_that_the_text_gets(
    turn: Callable[[ReviewHarness], None],
) -> None:
    page = ReviewHarness("a\nc\n")
    page.propose("a\nb\nc\n")
    turn(page)
    assert page.hunks[0].new == "b\r\n"


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("turn_first", [True, False])
def test_theirs_is_written_with_the_ends_that_the_text_has_got(
    turn: Callable[[ReviewHarness], None], *, turn_first: bool
) -> None:
    page = ReviewHarness("a\nb\nc\n")
    [hunk] = page.propose("a\nB\nB\nc\n")
    page.type(1, 0, 1, 1, "mine")
    assert page.states == ["conflict"]
    if turn_first:
        turn(page)
    page.ledger.take_theirs(hunk.id)
    if not turn_first:
        turn(page)
    assert page.hunks[0].new == "B\r\nB\r\n"
    page.accept()
    assert page.text == in_crlf(page.text)
