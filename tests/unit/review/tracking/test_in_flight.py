"""What the user types while an edit is in flight, and the arrival of the edit after the typing."""

from tests.support.review_pictures import check_review
from tests.support.review_steps import accept, expect, propose, send, undo

HUNKS_THAT_TOUCH = """
          a
        + N
        @@
        - b
        + B
          c
        """
IN_FLIGHT = """
          a
        @@ sent
        + N
        @@ sent
        - b
        + B
          c
          $0␃
        """
TYPED_BELOW = """
          a
        @@ sent
        + N
        @@ sent
        - $0b$0
        + B
          c
          mine
        """


def test_edit_in_flight_leaves_what_is_typed_in_the_hunk_below_to_that_hunk() -> None:
    check_review(
        """
        - a
        + A
        @@
        - b␃
        + B␃
        """,
        send("h1"),
        """
        @@ sent
        - a
        + A
        @@
        - b$0␃
        + B␃
        """,
        "\nmore\n",
        """
        @@ sent
        - $0a$0
        + A
        @@
        - b
        + B
          more
        """,
        "A",
        """
        @@ sent
        - A
        + A
        @@
        - b
        + B
          more
        """,
        (expect(lambda page: page.arrived()), accept()),
        """
        ~ a
        * A
        @@
        ~ b
        * B
          more
        """,
    )


def test_edit_in_flight_of_hunks_that_touch_arrives_as_one_change_after_typing() -> None:
    check_review(
        HUNKS_THAT_TOUCH,
        send(),
        IN_FLIGHT,
        "mine\n",
        TYPED_BELOW,
        "N\nB",
        """
          a
        @@ sent
        + N
        @@ sent
        - N
        - B
        + B
          c
          mine
        """,
        expect(lambda page: page.arrived()),
        """
          a
        * N
        @@
        ~ b
        * B
          c
          mine
        """,
    )


def test_edit_in_flight_has_not_arrived_while_its_last_line_is_another() -> None:
    check_review(
        HUNKS_THAT_TOUCH,
        send(),
        IN_FLIGHT,
        "mine\n",
        TYPED_BELOW,
        "N\nB typed",
        """
          a
        @@ sent
        + N
        @@ sent
        - N
        - B typed
        + B
          c
          mine
        """,
        expect(lambda page: not page.arrived()),
        """
          a
        @@ sent
        + N
        @@ sent
        - N
        - B typed
        + B
          c
          mine
        """,
    )


def test_undo_of_an_edit_within_an_edit_leaves_another_hunk_on_its_lines() -> None:
    """The difference of the texts matches the wrong one of two lines that are equal."""
    check_review(
        """
        - before all
        + later all
          pending line
        + before all
          last
        """,
        (
            accept(),
            propose("latest all\npending line\nbefore all\nlast\n"),
            accept(),
            propose("latest all\nPENDING LINE\nbefore all\nlast\n"),
            undo,
        ),
        """
        @@ h1 undone
        @@ h3 undone
          before all
        @@ h4
        - pending line
        + PENDING LINE
        @@ h2 undone
          last
        """,
    )
