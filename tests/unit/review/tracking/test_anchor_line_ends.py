"""Line ends of hunks: of lines that an undo brings back, and of hunks in a text whose line ends
change.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.diff import changes_between
from stet.text.edit import TextChange
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import Action, check_review, read_picture
from tests.support.review_steps import (
    accept,
    change_lines,
    replace_text,
    restore,
    take_theirs,
    undo,
)

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.tuples(st.sampled_from(["a", "b", "", "other"]), ENDS).map("".join)
TEXTS = st.lists(LINES, min_size=1, max_size=6)


@given(before=TEXTS, after=TEXTS, last=st.sampled_from(["", "end"]), one_by_one=st.booleans())
def test_line_ends_are_those_of_before_when_all_hunks_are_undone(
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
    ("typed", "drawn"), [("typed\n", "  typed\n"), ("", ""), ("x\r", "  x␍\n")]
)
def test_line_end_of_a_line_comes_back_beside_lines_with_other_ends(typed: str, drawn: str) -> None:
    check_review(
        "  b␍\n- a␍␊\n  c␍␊\n",
        accept(),
        "  b␍\n~ a␍␊\n  $0c␍␊\n",
        typed,
        f"  b␍\n~ a␍␊\n{drawn}  c␍␊\n",
        undo,
        f"  b␍\n@@ undone\n  a␍␊\n{drawn}  c␍␊\n",
    )


def test_line_end_of_a_line_that_comes_back_is_that_of_the_text_now() -> None:
    check_review(
        """
          a␍␊
        - b␍␊
          c␍␊
        """,
        accept(),
        """
          a␍␊
        ~ b␍␊
          c␍␊
        """,
        replace_text("a\nc\n"),
        """
          a
        ~ b␍␊
          c
        """,
        undo,
        """
          a
        @@ undone
          b
          c
        """,
    )


@pytest.mark.parametrize("end", ["", "␍␊"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("more", ["", "more"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_line_ends_that_are_made_alike_leave_a_hunk_where_it_was(
    end: str, more: str, *, is_whole: bool
) -> None:
    first = f"{more}{end}\n              " if more else ""
    after = f"""
              {first}top{end}
              {end}
              {end}
              one{end}
            - two{end}
            + TWO{end}
              three{end}
              {end}
              four{end}
              five{end}
            """
    text = read_picture(after).text
    check_review(
        """
              $0top

              ␍␊
              one
            - two
            + TWO
              three
              ␍␊
              four
              five␍␊
              $0␃
            """,
        replace_text(text) if is_whole else text,
        after,
    )


def in_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def ends_in_crlf(page: ReviewHarness) -> list[TextChange]:
    """The change of each line end."""
    lines = page.document.lines
    places = [(Position(at, len(line) - 1), Position(at + 1, 0)) for at, line in enumerate(lines)]
    return [TextChange(Range(*place), "\r\n") for place in places[:-1]]


def convert_at_once(page: ReviewHarness) -> None:
    page.replace(in_crlf(page.text))


def convert_line_by_line(page: ReviewHarness) -> None:
    for change in ends_in_crlf(page):
        page.apply(change)


def convert_with_other_changes(page: ReviewHarness) -> None:
    typed = TextChange(Range(Position(0, 0), Position(0, 0)), "z")
    first, *others = ends_in_crlf(page)
    page.apply(first, typed, *others, typed)


CONVERSIONS = pytest.mark.parametrize(
    ("to_crlf", "a"),
    [(convert_at_once, "a"), (convert_line_by_line, "a"), (convert_with_other_changes, "zza")],
)
"""Ways in which an editor reports new line ends, and what they make of a first line `a`."""


@CONVERSIONS
def test_line_end_is_the_new_one_where_lines_beside_were_edited_after_the_conversion(
    to_crlf: Action, a: str
) -> None:
    check_review(
        """
          a
        - b
          c
        """,
        (accept(), to_crlf),
        f"""
          {a}$0␍␊
        ~ b
          c␍␊
        """,
        "x",
        f"""
          {a}x␍␊
        ~ b
          c$0␍␊
        """,
        "y",
        f"""
          {a}x␍␊
        ~ b
          cy␍␊
        """,
        undo,
        f"""
          {a}x␍␊
        @@ undone
          b␍␊
          cy␍␊
        """,
    )


@CONVERSIONS
def test_line_end_is_the_new_one_where_lines_beside_were_edited_before_the_conversion(
    to_crlf: Action, a: str
) -> None:
    check_review(
        """
          a
        - b
          c
        """,
        accept(),
        """
          a$0
        ~ b
          c
        """,
        "x",
        """
          ax
        ~ b
          c$0
        """,
        "y",
        """
          ax
        ~ b
          cy
        """,
        to_crlf,
        f"""
          {a}x␍␊
        ~ b
          cy␍␊
        """,
        undo,
        f"""
          {a}x␍␊
        @@ undone
          b␍␊
          cy␍␊
        """,
    )


@CONVERSIONS
def test_line_end_of_a_restored_insertion_is_that_of_the_text_now(to_crlf: Action, a: str) -> None:
    check_review(
        """
          a
        + b
          c
        """,
        (accept(), undo),
        """
          a$0
        @@ undone
          c
        """,
        "x",
        """
          ax
        @@ undone
          c$0
        """,
        "y",
        """
          ax
        @@ undone
          cy
        """,
        (to_crlf, restore("h1")),
        f"""
          {a}x␍␊
        + b␍␊
          cy␍␊
        """,
    )


@CONVERSIONS
def test_line_end_of_a_pending_insertion_is_that_of_the_text_now(to_crlf: Action, a: str) -> None:
    check_review(
        """
          a
        + b
          c
        """,
        to_crlf,
        f"""
          {a}␍␊
        + b␍␊
          c␍␊
        """,
    )


@CONVERSIONS
@pytest.mark.parametrize("is_converted_first", [True, False])
def test_line_ends_of_a_conflict_that_ends_are_those_of_the_text_now(
    to_crlf: Action, a: str, *, is_converted_first: bool
) -> None:
    take = take_theirs("h1")
    check_review(
        """
          a
        - $0b$0
        + B
        + B
          c
        """,
        "mine",
        """
          a
        ~ b
        ! mine
        + B
        + B
          c
        """,
        (to_crlf, take) if is_converted_first else (take, to_crlf),
        f"""
          {a}␍␊
        - mine␍␊
        + B␍␊
        + B␍␊
          c␍␊
        """,
    )


def test_accepted_line_end_is_not_undone_by_a_change_of_the_users_own_lines() -> None:
    check_review(
        """
          one␍␊
        - two␍␊
        + two
          three␍␊
        """,
        (accept(), change_lines((1, 2, "a\nb\nc\r\n"))),
        """
          one␍␊
        ~ two␍␊
        * a
        * b
        * c␍␊
          three␍␊
        """,
        change_lines((1, 3, "")),
        """
          one␍␊
        ~ two␍␊
        * c␍␊
          three␍␊
        """,
    )
