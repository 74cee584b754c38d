"""Anchors of insertions follow what is typed around their place."""

import pytest

from tests.support.review_pictures import check_review
from tests.support.review_steps import replace_text


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [
        pytest.param(
            """
              $0one
              two
            + new
              three
              four
              five
            """,
            "zero\n",
            """
              zero
              one
              two
            + new
              three
              four
              five
            """,
            id="a line above",
        ),
        pytest.param(
            """
              one
              two
            + new
              $0three
              four
              five
            """,
            "mine\n",
            """
              one
              two
            + new
              mine
              three
              four
              five
            """,
            id="a line at its place",
        ),
        pytest.param(
            """
              one
              two$0
            + new
              three
              four
              five
            """,
            "\nmine",
            """
              one
              two
            + new
              mine
              three
              four
              five
            """,
            id="a line typed from the end of the line before",
        ),
        pytest.param(
            """
              one
              $0two
            + new
              $0three
              four
              five
            """,
            "",
            """
              one
            + new
              three
              four
              five
            """,
            id="the line before deleted",
        ),
        pytest.param(
            """
              one
              two
            + new
              $0three
              $0four
              five
            """,
            "",
            """
              one
              two
            + new
              four
              five
            """,
            id="the line after deleted",
        ),
    ],
)
def test_anchor_of_an_insertion_follows_typing_around_it(
    before: str, typed: str, after: str
) -> None:
    check_review(before, typed, after)


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [
        pytest.param(
            """
                  a$01
            +     new
                  a$02
            """,
            "",
            """
            +     new
                  a2
            """,
            id="the line before deleted",
        ),
        pytest.param(
            """
                  a1$0
            +     new
                  a2
            """,
            "\n    b",
            """
                  a1
            +     new
                  b
                  a2
            """,
            id="a line written above",
        ),
    ],
)
def test_anchor_of_an_insertion_keeps_its_place_when_a_change_is_cut_through_it(
    before: str, typed: str, after: str
) -> None:
    check_review(before, typed, after)


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [
        pytest.param(
            """
              gap
              $0gap
            + new
              $0gap
            """,
            "",
            """
              gap
            + new
              gap
            """,
            id="the line before deleted",
        ),
        pytest.param(
            """
              gap
              gap
            + new
              $0gap
              $0␃
            """,
            "",
            """
              gap
              gap
            + new
            """,
            id="the line after deleted",
        ),
        pytest.param(
            """
              gap$0
              gap$0
            + new
              gap
            """,
            "",
            """
              gap
            + new
              gap
            """,
            id="a line deleted from its end",
        ),
        pytest.param(
            """
              gap
              $0gap
            + new
              gap
            """,
            "gap\n",
            """
              gap
              gap
              gap
            + new
              gap
            """,
            id="a line put in above",
        ),
        pytest.param(
            """
              gap
              gap$0
            + new
              gap
            """,
            "\ngap",
            """
              gap
              gap
            + new
              gap
              gap
            """,
            id="a line put in from the end of the line before",
        ),
    ],
)
def test_anchor_of_an_insertion_stays_between_its_lines_among_equal_lines(
    before: str, typed: str, after: str
) -> None:
    check_review(before, typed, after)


def test_anchor_of_an_insertion_takes_the_line_ends_of_its_new_neighbours() -> None:
    check_review(
        """
          a
        + new
          b
        """,
        replace_text("x\r\na\r\nb\r\n"),
        """
          x␍␊
          a␍␊
        + new␍␊
          b␍␊
        """,
    )


@pytest.mark.parametrize(
    ("before", "typed", "conflict", "undone", "after"),
    [
        pytest.param(
            """
              one
              $0two
            + new
              three
              four
              $0five
            """,
            "",
            """
              one
            @@ conflict
            + new
              $0five
            """,
            "two\nthree\nfour\n",
            """
              one
              two
            + new
              three
              four
              five
            """,
            id="whole lines",
        ),
        pytest.param(
            """
              one
              two$0
            + new
              $0three
              four
              five
            """,
            "",
            """
              one
            ! two$0three
            + new
              four
              five
            """,
            "\n",
            """
              one
              two
            + new
              three
              four
              five
            """,
            id="the line end",
        ),
        pytest.param(
            """
              one
              t$0wo
            + new
              t$0hree
              four
              five
            """,
            "x",
            """
              one
            ! t$0x$0hree
            + new
              four
              five
            """,
            "wo\nt",
            """
              one
              two
            + new
              three
              four
              five
            """,
            id="parts of lines",
        ),
    ],
)
def test_anchor_of_an_insertion_is_in_conflict_until_its_neighbours_come_back(
    before: str, typed: str, conflict: str, undone: str, after: str
) -> None:
    check_review(before, typed, conflict, undone, after)
