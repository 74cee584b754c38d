"""Anchors at the end of a text, where a last line may have no line end, or go."""

from stet.review.tracking.anchor import Anchor
from tests.support.review_pictures import check_review
from tests.support.review_steps import accept, replace_text, take_theirs


def test_anchor_of_the_last_line_follows_a_line_end_typed_after_it() -> None:
    check_review(
        """
          a
        - b$0␃
        + B␃
        """,
        "\n",
        """
          a
        - b
        + B
        """,
    )


def test_anchor_of_a_former_last_line_does_not_run_into_lines_typed_after_it() -> None:
    check_review(
        """
          a
        - old$0␃
        + new␃
        """,
        "\nlast\n",
        """
          a
        - $0old$0
        + new
          last
        """,
        "mine",
        """
          a
        ~ old␃
        ! mine
        + new␃
          last
        """,
        take_theirs("h1"),
        """
          a
        - mine
        + new
          last
        """,
    )


def test_anchor_of_an_insertion_includes_a_last_line_that_lost_its_end() -> None:
    check_review(
        """
          a
          b$0
        + c
          $0␃
        """,
        "",
        """
          a
          b␃
        @@ conflict
        + c
        """,
        take_theirs("h1"),
        """
          a
        - b␃
        + b
        + c␃
        """,
    )


def test_anchor_of_an_insertion_is_not_found_after_the_end_of_the_text() -> None:
    check_review(
        """
          $0a

        + new
          $0␃
        """,
        "b",
        """
        ! b$0␃
        + new
        """,
        "\n",
        """
        ! b
        + new
          $0␃
        """,
        "\n",
        """
          b

        + new
        """,
        accept(),
        """
          b

        * new
        """,
        replace_text("b\n\n"),
        """
          b

        + new
        """,
        replace_text("b\n\nnew\n"),
        """
          b

        * new
        """,
    )


def test_anchor_of_an_insertion_after_the_last_line_end_is_before_the_empty_line() -> None:
    lines = ["a\n", ""]
    anchor = Anchor("h1", lines, (2, 2), "", "b\n")
    assert (anchor.first, anchor.end) == (1, 1)
    assert anchor.merged == "b\n"
