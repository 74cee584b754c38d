"""An edit that the editor confirmed, and whose text comes after the wait for it was given up."""

from tests.support.review_pictures import check_review
from tests.support.review_steps import (
    accept,
    change_lines,
    give_up,
    replace_text,
    report_difference,
    send,
)


def test_timed_out_edits_that_come_one_by_one_are_accepted_one_by_one() -> None:
    check_review(
        """
          }
          }
        + N
          }
        - }
        """,
        (send("h1"), give_up, send("h2"), give_up),
        """
          }
          }
        + N
          }
        - }
        """,
        report_difference("}\n}\n}\n"),
        """
          }
          }
        + N
          }
        ~ }
        """,
        report_difference("}\n}\nN\n}\n"),
        """
          }
          }
        * N
          }
        ~ }
        """,
    )


def test_timed_out_edit_is_accepted_when_it_comes_after_another_edit() -> None:
    check_review(
        """
        +
        + N
          a
        - b
        +

          a
        """,
        (send("h1"), give_up),
        """
        +
        + N
          a
        - b
        +

          a
        """,
        accept("h2"),
        """
        +
        + N
          a
        ~ b
        *

          a
        """,
        report_difference("\nN\na\n\n\na\n"),
        """
        *
        * N
          a
        ~ b
        *

          a
        """,
    )


def test_timed_out_edit_is_still_expected_after_a_message_that_changes_nothing() -> None:
    check_review(
        """
          a
        - b
        + B
        """,
        (send("h1"), give_up, change_lines()),
        """
          a
        - b
        + B
        """,
        replace_text("a\nB\n"),
        """
          a
        ~ b
        * B
        """,
    )
