"""Several changes in one message, as of a macro or a held undo key, are followed as single
keystrokes are.
"""

import pytest

from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import Action, check_review
from tests.support.review_steps import change_lines

BACK_AND_FORTH = {
    "a line of a hunk deleted and put back": ((1, 2, ""), (1, 1, "b\n")),
    "the lines of two hunks deleted and put back": ((1, 4, ""), (1, 1, "b\nc\nd\n")),
    "a line above put in and deleted": ((1, 1, "new\n"), (1, 2, "")),
    "the whole text deleted and put back": ((0, 5, ""), (0, 0, "a\nb\nc\nd\ne\n")),
}


def hunks_stay(action: Action) -> Action:
    """Do an action that leaves all hunks as they were, with all that is known of them."""

    def act(page: ReviewHarness) -> None:
        text, hunks = page.text, page.hunks
        action(page)
        assert (page.text, page.hunks) == (text, hunks)

    return act


@pytest.mark.parametrize("times", [1, 3, 12])
@pytest.mark.parametrize("changes", BACK_AND_FORTH.values(), ids=BACK_AND_FORTH)
def test_batched_changes_that_undo_each_other_leave_hunks_as_they_were(
    changes: tuple[tuple[int, int, str], ...], times: int
) -> None:
    hunks = """
          $0a
        @@ h1
        - b
        + B
          c
        @@ h3
        + more
        @@ h2
        - d
        + D
          e
        """
    check_review(
        hunks,
        hunks_stay(change_lines(*changes * times)),
        hunks,
        "first\n",
        hunks.replace("$0", "first\n          "),
    )


def test_batched_changes_are_each_read_by_the_text_after_it() -> None:
    check_review(
        """
          a
        - b
        + B
          c
        """,
        change_lines((1, 2, ""), (1, 1, "x\n"), (1, 2, ""), (1, 1, "b\n")),
        """
          a
        - b
        + B
          c
        """,
        change_lines((1, 1, "x\n"), (1, 2, "y\n")),
        """
          a
          y
        - b
        + B
          c
        """,
    )


def test_batched_changes_delete_many_lines_of_a_hunk_and_put_them_back() -> None:
    hunk = "".join(f"- {number}\n" for number in range(60)) + "+ all of it\n"
    every_other = range(59, 0, -2)
    delete = change_lines(*((at, at + 1, "") for at in every_other))
    put_back = change_lines(*((at, at, f"{at}\n") for at in reversed(every_other)))

    def delete_and_put_back(page: ReviewHarness) -> None:
        delete(page)
        put_back(page)

    check_review(hunk, hunks_stay(delete_and_put_back), hunk)


def test_batched_changes_that_leave_the_text_leave_hunks_among_equal_lines() -> None:
    hunks = """
          a
        @@ h2
        + N

        @@ h1
        -
          b
        """
    check_review(
        hunks,
        hunks_stay(change_lines((1, 1, "\n"), (3, 4, ""))),
        hunks,
        hunks_stay(change_lines((2, 3, ""), (1, 1, "\n"))),
        hunks,
    )
