"""An edit of several hunks of which the editor's user took some: the text shows which."""

import itertools
from collections.abc import Callable, Collection, Sequence

import pytest

from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import Action, check_review, read_picture
from tests.support.review_steps import accept, change_lines, give_up, report_difference, send, undo

PENDING = ("- b\n+ B\n", "- c\n+ C\n+ C2\n", "- d\n", "+ E\n")
ACCEPTED = ("~ b\n* B\n", "~ c\n* C\n* C2\n", "~ d\n", "* E\n")


def draw(accepted: Collection[int] = (), headings: Sequence[str] = ("", "@@\n", "@@\n", "")) -> str:
    """The picture of four hunks, three of which touch and some of which are accepted."""
    b, c, d, e = (
        heading + (ACCEPTED if hunk in accepted else PENDING)[hunk]
        for hunk, heading in enumerate(headings)
    )
    return f"  a\n{b}{c}{d}  e\n{e}  f\n"


UNDONE = """
          a
        @@ undone
          b
        @@ undone
          c
        @@ undone
          d
          e
        @@ undone
          f
        """
CHANGES = ((1, 2, "B\n"), (2, 3, "C\nC2\n"), (3, 4, ""), (5, 5, "E\n"))


def report_whole(*hunks: int) -> Action:
    """Make the changes of some hunks, as one difference."""
    picture = read_picture(draw(hunks))
    return report_difference(picture.text)


def report_one_by_one(*hunks: int) -> Action:
    """Make the changes of some hunks, each as a change of its own, from the bottom to the top."""
    return change_lines(*(CHANGES[hunk] for hunk in reversed(hunks)))


@pytest.mark.parametrize("report", [report_whole, report_one_by_one])
@pytest.mark.parametrize(
    "taken", [some for n in range(5) for some in itertools.combinations(range(4), n)]
)
def test_partially_applied_edit_has_the_hunks_accepted_that_are_in_the_text(
    taken: tuple[int, ...], report: Callable[..., Action]
) -> None:
    def check_arrival(page: ReviewHarness) -> None:
        assert page.text == read_picture(draw(taken)).text
        assert page.arrived() == (len(taken) == 4)

    check_review(
        draw(),
        send(),
        draw(headings=["@@ sent\n"] * 4),
        (report(*taken), check_arrival, give_up),
        draw(taken),
        accept(),
        draw(range(4)),
        undo,
        UNDONE,
    )


def test_partially_applied_edit_does_not_write_a_line_again_after_a_pending_hunk() -> None:
    check_review(
        """
          a
        - b
        + B
        @@
        + new
          c
        """,
        send(),
        """
          a
        @@ sent
        - b
        + B
        @@ sent
        + new
          c
        """,
        change_lines((2, 2, "new\n")),
        """
          a
        @@ sent
        - b
        - new
        + B
        @@ sent
        + new
          c
        """,
        give_up,
        """
          a
        - b
        + B
        @@
        * new
          c
        """,
    )


def test_partially_applied_edit_has_a_deletion_pending_where_a_line_above_was_typed_in() -> None:
    check_review(
        """
          a
        - b
        + B
        @@
        - c
        + C
        + C2
        @@
        - d
          e
          f
        """,
        send(),
        """
          a
        @@ sent
        - b
        + B
        @@ sent
        - c
        + C
        + C2
        @@ sent
        - d
          e
          f
        """,
        report_difference("a\nB\nC\nC2\nd\ntyped\ne\nf\n"),
        """
          a
        @@ sent
        - B
        - C
        - C2
        + B
        @@ sent
        + C
        + C2
        @@ sent
        - d
        - typed
          e
          f
        """,
        give_up,
        """
          a
        ~ b
        * B
        @@
        ~ c
        * C
        * C2
        @@
        - d
          typed
          e
          f
        """,
    )
