"""The editor's undo and redo of accepted hunks are detected."""

from tests.support.review_pictures import check_review
from tests.support.review_steps import (
    accept,
    amend,
    editor_redo,
    editor_undo,
    propose,
    replace_text,
    take_theirs,
    undo,
)


def test_undo_and_redo_of_one_hunk_are_detected() -> None:
    check_review(
        """
          a
        - b
        + B
          c
        """,
        accept(),
        """
          a
        ~ b
        * B
          c
        """,
        editor_undo,
        """
          a
        - b
        + B
          c
        """,
        editor_redo,
        """
          a
        ~ b
        * B
          c
        """,
    )


def test_undo_and_redo_of_a_hunk_that_is_now_the_end_of_the_text_are_detected() -> None:
    check_review(
        """
          a
        - $0
        - b$0␃
        + B
        + C
        """,
        "",
        """
          a
        ~
        ~ b␃
        + B
        + C
        """,
        take_theirs("h1"),
        """
          a
        + B
        + C
        """,
        accept(),
        """
          a
        * $0B
        * C
          $0␃
        """,
        "",
        """
          a
        + B
        + C
          $0␃
        """,
        "B\nC\n",
        """
          a
        * B
        * C
        """,
    )


def test_undo_is_detected_where_lines_come_back_after_lines_that_stayed() -> None:
    check_review(
        """
        - $0x$0
        + a
        + c
        """,
        "c\nd\ne",
        """
        ~ x
        ! c
        ! d
        ! e
        + a
        + c
        """,
        take_theirs("h1"),
        """
        - c
        - d
        - e
        + a
        + c
        """,
        accept(),
        """
        ~ c
        ~ d
        ~ e
        * a
        * c
        """,
        editor_undo,
        """
        - c
        - d
        - e
        + a
        + c
        """,
    )


def test_undo_of_two_deletions_brings_equal_lines_back_in_order() -> None:
    """The editor reports another of the empty lines than the edit deleted."""
    check_review(
        """
          a
          a

        @@ h2
        -
        @@ h1
        - b

          b
        """,
        accept("h1"),
        """
          a
          a

        @@ h2
        -
        @@ h1
        ~ b

          b
        """,
        accept("h2"),
        """
          a
          a

        ~ b
        @@
        ~

          b
        """,
        undo,
        """
          a
          a

        @@ h2 undone

        @@ h1 undone
          b

          b
        """,
    )


def test_undo_and_redo_keep_what_the_user_typed_into_the_hunk() -> None:
    check_review(
        """
        - a
        - b of two
        + A
        + B of two
        """,
        accept(),
        """
        ~ a
        ~ b of two
        * A
        * B of two$0
        """,
        " mine",
        """
        ~ a
        ~ b of two
        * A
        * B of two mine
        """,
        replace_text("a\nb of two mine\n"),
        """
        - a
        - b of two mine
        + A
        + B of two mine
        """,
        replace_text("A\nB of two mine\n"),
        """
        ~ a
        ~ b of two
        * A
        * B of two mine
        """,
        undo,
        """
        @@ undone
          a
          b of two mine
        """,
    )


def test_typing_into_a_hunk_that_the_user_had_written_is_no_undo() -> None:
    check_review(
        """
          a
        - $0b$0
        + B
        """,
        "B",
        """
          a
        - B
        + B
        """,
        accept("h1"),
        """
          a
        ~ B
        * B$0
        """,
        " mine",
        """
          a
        ~ B
        * B mine
        """,
        replace_text("a\r\nB mine\r\n"),
        """
          a␍␊
        ~ B
        * B mine␍␊
        """,
    )


def test_undo_of_a_hunk_within_another_leaves_the_other_accepted() -> None:
    check_review(
        """

        + a
        """,
        accept("h1"),
        """

        * a
        """,
        propose("\n\n"),
        """

        * a
        @@ pending 2-2
        """,
        accept("h2"),
        """

        *
        @@ accepted 2-2
        """,
        editor_undo,
        """

        * a
        @@ pending 2-2
        """,
    )


def test_redo_of_a_hunk_that_was_amended_after_an_undo_is_detected() -> None:
    check_review(
        """
        - a
        + A
          b
        - c
        + C
        """,
        accept(),
        """
        ~ a
        * A
          b
        ~ c
        * C
        """,
        replace_text("a\nb\nc\n"),
        """
        - a
        + A
          b
        - c
        + C
        """,
        amend("h1", "AA\nAAA\n"),
        """
        - a
        + AA
        + AAA
          b
        - c
        + C
        """,
        accept(),
        """
        ~ a
        * AA
        * AAA
          b
        ~ c
        * C
        """,
        replace_text("a\nb\nc\n"),
        """
        - a
        + AA
        + AAA
          b
        - c
        + C
        """,
        replace_text("AA\nAAA\nb\nc\n"),
        """
        ~ a
        * AA
        * AAA
          b
        - c
        + C
        """,
    )
