"""The language of pictures that the tests of this folder are written in
(`tests.support.review_pictures`).
"""

import pytest

from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import (
    PicturedReview,
    PictureMismatch,
    check_picture,
    check_review,
    read_picture,
    render_review,
)
from tests.support.review_steps import (
    accept,
    editor_redo,
    editor_undo,
    reject,
    reopen,
    restart,
    send,
    undo,
)

ALL_MARKS = """
          context
        - removed
        + written
        +

        + added␠␠
          crlf␍␊
        ~ was accepted␍␊
        * is accepted␍␊
        @@
        - touches␍␊
          cr␍
        ~ was there
        ! mine
        + theirs
          the end␃
        """

BEFORE = """
          one
        - tw$0o
        + TWO
          three
        """
AFTER = """
          one
        ~ two
        ! twxo
        + TWO
          three
        """


def test_render_review_draws_what_the_pictured_review_was_made_of() -> None:
    page = PicturedReview(ALL_MARKS)
    assert page.text == ("context\nremoved\n\ncrlf\r\nis accepted\r\ntouches\r\ncr\rmine\nthe end")
    assert page.states == ["pending", "pending", "accepted", "pending", "conflict"]
    assert render_review(page) == read_picture(ALL_MARKS).plain


@pytest.mark.parametrize("line", AFTER.strip("\n ").splitlines(), ids=str.strip)
@pytest.mark.parametrize("other", ["", "  other"], ids=["missing", "changed"])
def test_check_review_fails_where_one_line_of_the_expected_picture_is_wrong(
    line: str, other: str
) -> None:
    wrong = AFTER.replace(f"{line}\n", f"{' ' * 8}{other}\n" if other else "")
    check_review(BEFORE, "x", AFTER)
    with pytest.raises(PictureMismatch):
        check_review(BEFORE, "x", wrong)


def test_check_review_reports_the_difference_of_the_pictures() -> None:
    with pytest.raises(PictureMismatch) as raised:
        check_review(BEFORE, "x", AFTER.replace("twxo", "two"))
    assert str(raised.value) == (
        "after step 1:\n"
        "         |   one\n"
        "         | ~ two\n"
        "expected | ! two\n"
        "drawn    | ! twxo\n"
        "         | + TWO\n"
        "         |   three"
    )


def test_check_review_fails_where_the_first_picture_is_none_of_the_ledger() -> None:
    with pytest.raises(PictureMismatch, match="before the first step"):
        check_review(
            """
              one$0
            - two
            + two
            """,
            "x",
            """
              onex
            - two
            + two
            """,
        )


def test_check_review_fails_where_the_acceptance_gives_another_text() -> None:
    def lose_the_edit(page: ReviewHarness) -> None:
        page.accept = lambda *hunk_ids: None  # type: ignore[method-assign]

    with pytest.raises(PictureMismatch, match=r"after the acceptance(.|\n)*expected \| TWO"):
        check_review(BEFORE, lose_the_edit, BEFORE)


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        ("one\n", "no line of a picture"),
        ("? one\n", "no line of a picture"),
        ("@@ second\n@@ h2 pending now\n", "no heading"),
        ("+ new$0\n", "not in the text"),
        ("- one\n+ new\n- two\n", "begins with @@"),
        ("\n    one\n  ? two", "margin"),
        ("\n  one\n        ", "left of the margin"),
    ],
)
def test_read_picture_refuses_what_is_no_picture(picture: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_picture(picture)


@pytest.mark.parametrize("before", ["  one\n", "  $0o$0n$0e\n"])
def test_check_review_refuses_text_without_one_place_to_type_it(before: str) -> None:
    with pytest.raises(ValueError, match="one cursor or selection"):
        check_review(before, "x", before)


def test_check_review_refuses_a_first_picture_with_a_closed_hunk_and_a_step_without_picture() -> (
    None
):
    with pytest.raises(ValueError, match="can't have a hunk that is rejected"):
        check_review("@@ rejected\n  one\n", reopen, "@@ rejected\n  one\n")
    with pytest.raises(ValueError, match="followed by a picture"):
        check_review("  one\n", reopen, "  one\n", reopen)


def test_check_picture_of_each_state() -> None:
    page = PicturedReview(
        """
          one
        - two
        @@
        + three
          four
        - five
        + 5
          six
        """
    )
    page.take((reject("h1"), send("h2")), "")
    check_picture(
        page,
        """
          one
        @@ rejected
          two
        @@ sent
        + three
          four
        - five
        + 5
          six
        """,
    )


def test_check_picture_names_hunks_that_are_not_in_the_order_they_were_made() -> None:
    page = PicturedReview(
        """
        @@ h2
        - one
        @@ h1
        + two
        """
    )
    page.take(accept("h2"), "")
    check_picture(
        page,
        """
        @@ h2
        ~ one
        @@ h1
        + two
        """,
    )
    assert page.hunks[0].id == "h2"


def test_check_picture_gives_the_lines_of_a_hunk_within_another() -> None:
    page = ReviewHarness("one\nfour\n")
    page.propose("one\n2\n3\nfour\n", "t1")
    page.accept()
    page.propose("one\n2\nthree\nfour\n", "t2")
    page.accept()
    check_picture(
        page,
        """
          one
        * 2
        * three
        @@ accepted 3-3
          four
        """,
    )


def test_editor_undo_and_editor_redo_go_back_and_forth_by_steps() -> None:
    check_review(
        """
          o$0ne
        - two
        """,
        "x",
        """
          oxne
        - two
        """,
        accept(),
        """
          oxne
        ~ two
        """,
        (editor_undo, editor_undo),
        """
          one
        - two
        """,
        (editor_redo, editor_redo, reopen),
        """
          oxne
        ~ two
        """,
        undo,
        """
          oxne
        @@ undone
          two
        """,
    )


def test_restart_leaves_the_picture_and_what_can_be_undone() -> None:
    check_review(
        """
          one$0
        - two
        + TWO
        @@
        ~ three
        ! mine
        + THREE
          four
        ~ five
        * FIVE
          six␍␊
          seven␃
        """,
        restart,
        """
          one$0
        - two
        + TWO
        @@
        ~ three
        ! mine
        + THREE
          four
        ~ five
        * FIVE
          six␍␊
          seven␃
        """,
        "\nmore",
        """
          one
          more
        - two
        + TWO
        @@
        ~ three
        ! mine
        + THREE
          four
        ~ five
        * FIVE
          six␍␊
          seven␃
        """,
        undo,
        """
          one
          more
        - two
        + TWO
        @@
        ~ three
        ! mine
        + THREE
          four
        @@ undone
          five
          six␍␊
          seven␃
        """,
    )
