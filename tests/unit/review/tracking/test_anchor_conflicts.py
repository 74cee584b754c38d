"""Anchors report a conflict where their text is changed or gone, and end the conflict with the
text's return.
"""

import pytest

from tests.support.review_pictures import PicturedReview, check_review
from tests.support.review_steps import take_theirs


@pytest.mark.parametrize(
    ("before", "typed", "conflict", "undone", "after"),
    [
        pytest.param(
            """
              one
              two
            - th$0ree
            + THREE
              four
              five
            """,
            "x",
            """
              one
              two
            ~ three
            ! th$0x$0ree
            + THREE
              four
              five
            """,
            "",
            """
              one
              two
            - three
            + THREE
              four
              five
            """,
            id="a replacement",
        ),
        pytest.param(
            """
              one
              two
            - th$0ree
              four
              five
            """,
            "x",
            """
              one
              two
            ~ three
            ! th$0x$0ree
              four
              five
            """,
            "",
            """
              one
              two
            - three
              four
              five
            """,
            id="a deletion",
        ),
    ],
)
def test_conflict_begins_with_typing_inside_a_hunk_and_ends_with_its_undo(
    before: str, typed: str, conflict: str, undone: str, after: str
) -> None:
    check_review(before, typed, conflict, undone, after)


@pytest.mark.parametrize("theirs", ["+ TWO\n", ""], ids=["a replacement", "a deletion"])
def test_conflict_has_a_reason(theirs: str) -> None:
    page = PicturedReview(f"~ two\n! twxo\n{theirs}")
    (hunk,) = page.hunks
    assert hunk.reason == "you edited this text"


def test_conflict_ends_when_the_deleted_lines_of_a_hunk_come_back() -> None:
    check_review(
        """
          one
          $0two
        - three
        + THREE
          four
          $0five
        """,
        "",
        """
          one
        ~ three
        + THREE
          $0five
        """,
        "two\nthree\nfour\n",
        """
          one
          two
        - three
        + THREE
          four
          five
        """,
    )


def test_conflict_ends_though_lines_were_typed_at_its_edges() -> None:
    check_review(
        """
          one
          two
        - th$0ree
        + THREE
          four
          five
        """,
        "x",
        """
          one
          two
        ~ three
        ! $0thxree
        + THREE
          four
          five
        """,
        "before\n",
        """
          one
          two
        ~ three
        ! before
        ! thxree
        + THREE
          $0four
          five
        """,
        "behind\n",
        """
          one
          two
        ~ three
        ! before
        ! th$0x$0ree
        ! behind
        + THREE
          four
          five
        """,
        "",
        """
          one
          two
          before
        - three
        + THREE
          behind
          four
          five
        """,
    )


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [
        pytest.param(
            """
              one
              two
            - $0three
            + THREE
              four
              five
            """,
            "x",
            """
              one
              two
            ~ three
            ! xthree
            + THREE
              four
              five
            """,
            id="at the beginning",
        ),
        pytest.param(
            """
              one
              two$0
            - $0three
            + THREE
              four
              five
            """,
            "",
            """
              one
            ~ three
            ! twothree
            + THREE
              four
              five
            """,
            id="the line end before",
        ),
        pytest.param(
            """
              one
              two
            - three$0
            + THREE
              four
              five
            """,
            "x",
            """
              one
              two
            ~ three
            ! threex
            + THREE
              four
              five
            """,
            id="at the end",
        ),
    ],
)
def test_conflict_begins_with_typing_at_the_ends_of_a_replaced_word(
    before: str, typed: str, after: str
) -> None:
    check_review(before, typed, after)


def test_conflicts_of_three_hunks_end_when_their_block_comes_back() -> None:
    check_review(
        """
          line 0
          $0line 1
        - line 2
        + LINE 2
          line 3
        - line 4
        + LINE 4
          line 5
        - line 6
        + LINE 6
          line 7
          $0line 8
        """,
        "",
        """
          line 0
        ~ line 2
        + LINE 2
        @@
        ~ line 4
        + LINE 4
        @@
        ~ line 6
        + LINE 6
          $0line 8
        """,
        "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\n",
        """
          line 0
          line 1
        - line 2
        + LINE 2
          line 3
        - line 4
        + LINE 4
          line 5
        - line 6
        + LINE 6
          line 7
          line 8
        """,
    )


def test_conflict_has_no_part_in_a_line_above_that_is_deleted_and_comes_back() -> None:
    check_review(
        """
          a
        - $0b
        + B
          c
        """,
        "x",
        """
          $0a
        ~ b
        ! $0xb
        + B
          c
        """,
        "",
        """
        ~ b
        ! $0xb
        + B
          c
        """,
        "a\n",
        """
          a
        ~ b
        ! xb
        + B
          c
        """,
        take_theirs("h1"),
        """
          a
        - xb
        + B
          c
        """,
    )


def test_conflict_of_a_line_pushed_down_by_an_equal_line_ends_when_that_goes() -> None:
    check_review(
        """
          a
        - $0
        + b
        + c
        """,
        "x",
        """
          a
        ~
        ! x
        + b
        + c
          $0␃
        """,
        "\n",
        """
          a
          x
        - $0
        + b
        + c
          $0␃
        """,
        "",
        """
          a
        ~
        ! $0x$0
        + b
        + c
        """,
        "",
        """
          a
        -
        + b
        + c
        """,
    )


def test_conflict_of_a_hunk_cut_short_ends_when_the_line_above_goes() -> None:
    check_review(
        """
          a
        - $0
        - b
        + A
        + B
          c
        """,
        "\n",
        """
          a
          $0
        -
        - b
        + A
        + B
          c
        """,
        "x\n",
        """
          a
          $0x
          $0
        -
        - b
        + A
        + B
          c
        """,
        "",
        """
          a
          $0
        - $0
        - b
        + A
        + B
          c
        """,
        "",
        """
          a
        -
        - b
        + A
        + B
          c
        """,
    )


@pytest.mark.parametrize(
    ("before", "joined", "after"),
    [
        pytest.param(
            """
              one
            - t$0wo hundred
            @@
            - $0three hundred
            + THREE HUNDRED
              four
            """,
            """
              one
            ~ two hundred
            ! t$0three hundred
            @@
            ~ three hundred
            + THREE HUNDRED
              four
            """,
            """
              one
            ~ two hundred
            ! t
            @@
            - three hundred
            + THREE HUNDRED
              four
            """,
            id="the lower line",
        ),
        pytest.param(
            """
              one
            - two hundred$0
            + TWO HUNDRED
            @@
            - three$0 hundred
            + THREE HUNDRED
              four
            """,
            """
              one
            ~ two hundred
            ! two hundred$0 hundred
            + TWO HUNDRED
            @@
            ~ three hundred
            + THREE HUNDRED
              four
            """,
            """
              one
            - two hundred
            + TWO HUNDRED
               hundred
            ~ three hundred
            + THREE HUNDRED
              four
            """,
            id="the upper line",
        ),
    ],
)
def test_conflict_of_joined_lines_ends_for_the_line_that_is_whole_again(
    before: str, joined: str, after: str
) -> None:
    check_review(before, "", joined, "\n", after)
