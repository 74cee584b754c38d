"""Lines that are deleted and come back are on the side of a hunk where they were."""

from stet.text.edit import TextChange
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import check_review
from tests.support.review_steps import accept, reject


def type_and_split(page: ReviewHarness) -> None:
    """Type two lines in one message: a line, and a line end within the line."""
    line, inside = Position(1, 0), Position(1, 1)
    page.apply(TextChange(Range(line, line), "yz\n"), TextChange(Range(inside, inside), "\n"))


def test_line_that_comes_back_is_before_the_insertion_after_it() -> None:
    check_review(
        """
          a
          $0b
        + new
          $0c
        """,
        "",
        """
          a
        + new
          $0c
        """,
        "b\n",
        """
          a
          b
        + new
          c
        """,
    )


def test_another_line_in_place_of_a_deleted_line_is_after_the_insertion() -> None:
    check_review(
        """
          a
          $0b
        + new
          $0c
        """,
        "",
        """
          a
        + new
          $0c
        """,
        "x\n",
        """
          a
        + new
          x
          c
        """,
    )


def test_deletion_done_by_the_user_is_pending_after_its_undo() -> None:
    check_review(
        """
          a
          b
        - $0c
          $0d
        """,
        "",
        """
          a
          $0b
        @@ pending
          $0d
        """,
        "",
        """
          a
        @@ pending
          $0d
        """,
        "b\n",
        """
          a
          b
        @@ pending
          $0d
        """,
        "c\n",
        """
          a
          b
        - c
          d
        """,
    )


def test_line_that_comes_back_is_after_an_insertion_that_touches_a_conflict() -> None:
    check_review(
        """
        - $0a
        - b
        + A
        + B
        @@
        + new
          $0c
          d
        """,
        "x\ny\n",
        """
        ~ a
        ~ b
        ! x
        ! y
        + A
        + B
        @@
        + new
          $0c
          $0d
        """,
        "",
        """
        ~ a
        ~ b
        ! x
        ! y
        + A
        + B
        @@
        + new
          $0d
        """,
        "c\n",
        """
        ~ a
        ~ b
        ! x
        ! y
        + A
        + B
        @@
        + new
          c
          d
        """,
    )


def test_deletion_done_by_the_user_is_found_after_lines_typed_in_its_place_are_gone() -> None:
    check_review(
        """
          a
        - $0b
          $0c
        """,
        "",
        """
          a
        @@ pending
          $0c
        """,
        "x\ny\n",
        """
          a
        @@ pending
          $0x
          y
          $0c
        """,
        "",
        """
          a
        @@ pending
          $0c
        """,
        "b\n",
        """
          a
        - b
          c
        """,
    )


def test_insertion_after_a_conflict_keeps_its_side_of_a_line_that_comes_back() -> None:
    check_review(
        """
          a
        - $0b
        + A
        + B
          c
        + new
          $0d
        """,
        "",
        """
          a
        ~ b
        + A
        + B
        @@
        + new
          $0d
        """,
        "x\n",
        """
          a
        ~ b
        ! $0x
        + A
        + B
        @@
        + new
          $0d
        """,
        "",
        """
          a
        ~ b
        + A
        + B
        @@
        + new
          $0d
        """,
        "b\nc\n",
        """
          a
        - b
        + A
        + B
          c
        + new
          d
        """,
    )


def test_insertion_stays_after_the_line_that_an_undo_brings_back() -> None:
    check_review(
        """
          a
        - b
        @@
        + new
          c
        """,
        accept("h1"),
        """
          a
        ~ b
        @@
        + new
          $0c
        """,
        "b\n",
        """
          a
        - b
        @@
        + new
          c
        """,
        accept("h2"),
        """
          a
        - b
        @@
        * new
          c
        """,
    )


def test_line_that_comes_back_is_before_the_insertion_after_a_rejected_conflict() -> None:
    check_review(
        """
        ~ a
        ! x
        + A
        @@
        + new
          $0b
        """,
        "y\n",
        """
        ~ a
        ! x
        ! y
        + A
        @@
        + new
          b
        """,
        reject("h1"),
        """
        @@ rejected
          x
          $0y
        + new
          $0b
        """,
        "",
        """
        @@ rejected
          x
        + new
          $0b
        """,
        "y\n",
        """
        @@ rejected
          x
          y
        + new
          b
        """,
    )


def test_line_deleted_after_lines_were_typed_and_split_is_not_their_undo() -> None:
    check_review(
        """
        ~ a
        ! x
        + A
        @@
        + new
          b
        """,
        (type_and_split, reject("h1")),
        """
        @@ rejected
          x
          y
          $0z
        + new
          b
        """,
        "one more\n",
        """
        @@ rejected
          x
          y
          $0one more
          $0z
        + new
          b
        """,
        "",
        """
        @@ rejected
          x
          y
          z
        + new
          b
        """,
    )
