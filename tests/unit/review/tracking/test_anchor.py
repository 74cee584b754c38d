"""Anchors of replacements follow what is typed around their hunks and at the edges of the hunks."""

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
            - three
            + THREE
              four
              five
            """,
            "zero\n",
            """
              zero
              one
              two
            - three
            + THREE
              four
              five
            """,
            id="a line above",
        ),
        pytest.param(
            """
              o$0n$0e
              two
            - three
            + THREE
              four
              five
            """,
            "",
            """
              oe
              two
            - three
            + THREE
              four
              five
            """,
            id="a letter above",
        ),
        pytest.param(
            """
              one
              two
            - three
            + THREE
              four
              $0five
              $0␃
            """,
            "",
            """
              one
              two
            - three
            + THREE
              four
            """,
            id="the last line deleted",
        ),
        pytest.param(
            """
              one
              two
            - $0three
            + THREE
              four
              five
            """,
            "at the first edge\n",
            """
              one
              two
              at the first edge
            - three
            + THREE
              four
              five
            """,
            id="a line at the first edge",
        ),
        pytest.param(
            """
              one
              two
            - three
            + THREE
              $0four
              five
            """,
            "at the last edge\n",
            """
              one
              two
            - three
            + THREE
              at the last edge
              four
              five
            """,
            id="a line at the last edge",
        ),
        pytest.param(
            """
              one
              $0two
            - $0three
            + THREE
              four
              five
            """,
            "",
            """
              one
            - three
            + THREE
              four
              five
            """,
            id="the line before deleted",
        ),
        pytest.param(
            """
              one
              two
            - three
            + THREE
              $0four
              $0five
            """,
            "",
            """
              one
              two
            - three
            + THREE
              five
            """,
            id="the line after deleted",
        ),
        pytest.param(
            """
              $0one
              two
            - $0three
            + THREE
              four
              five
            """,
            "2\n",
            """
              2
            - three
            + THREE
              four
              five
            """,
            id="the lines before replaced",
        ),
    ],
)
def test_anchor_follows_typing_around_it(before: str, typed: str, after: str) -> None:
    check_review(before, typed, after)


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [
        pytest.param(
            """
                  a$01
            -     a$02
            +     A2
                  a3
            """,
            "",
            """
            -     a2
            +     A2
                  a3
            """,
            id="the line before deleted",
        ),
        pytest.param(
            """
                  a1
            -     $0a2
            +     A2
                  a3
            """,
            "b\n    ",
            """
                  a1
                  b
            -     a2
            +     A2
                  a3
            """,
            id="a line written above",
        ),
        pytest.param(
            """
                  a1
            -     a2$0
            +     A2
                  a3$0
            """,
            "",
            """
                  a1
            -     a2
            +     A2
            """,
            id="the line after deleted",
        ),
    ],
)
def test_anchor_keeps_its_lines_when_a_change_is_cut_through_them(
    before: str, typed: str, after: str
) -> None:
    check_review(before, typed, after)


def test_anchor_merges_words_typed_into_its_line() -> None:
    check_review(
        """
        - $0total$0 = price * count
        + total = price * amount
        """,
        "grand_total",
        """
        - grand_total = price * count
        + grand_total = price * amount
        """,
    )


def test_anchor_leaves_out_a_copy_of_its_line_typed_after_it() -> None:
    check_review(
        """
          a
        - b$0
        + B
          c
        """,
        "\nb",
        """
          a
        - b
        + B
          b
          c
        """,
    )


def test_anchor_follows_the_difference_of_a_replaced_text() -> None:
    check_review(
        """
          one
          two
        - three
        + THREE
          four
          five
        """,
        replace_text("zero\none\ntwo\nthree\nfour\n5\n"),
        """
          zero
          one
          two
        - three
        + THREE
          four
          5
        """,
    )
