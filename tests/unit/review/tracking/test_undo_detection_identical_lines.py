"""Accepted hunks among lines that are alike: the hunks that are reported as accepted make the
text.
"""

import pytest

from tests.support.review_pictures import check_review
from tests.support.review_steps import accept, undo


@pytest.mark.parametrize(
    ("before", "typed", "after", "then", "end", "and_then", "last"),
    [
        pytest.param(
            """
              }
            -
            @@
            +
            + N
              a
            """,
            accept("h1"),
            """
              }
            ~
            @@
            +
            + N
              a
            """,
            accept("h2"),
            """
              }
            ~
            @@
            *
            * N
              a
            """,
            undo,
            """
              }
            @@ undone
            @@ undone

              a
            """,
            id="a deletion, then the line after it",
        ),
        pytest.param(
            """
              }
            -
            @@
            +
            + N
              a
            """,
            accept("h2"),
            """
              }
            -
            @@
            *
            * N
              a
            """,
            accept("h1"),
            """
              }
            ~
            @@
            *
            * N
              a
            """,
            undo,
            """
              }
            @@ undone

            @@ undone
              a
            """,
            id="the line after it, then a deletion",
        ),
        pytest.param(
            """
            -
            @@
            +
            + N
              b
              a
            """,
            accept("h1"),
            """
            ~
            @@
            +
            + N
              b
              a
            """,
            accept("h2"),
            """
            ~
            @@
            *
            * N
              b
              a
            """,
            undo,
            """
            @@ undone
            @@ undone

              b
              a
            """,
            id="at the beginning",
        ),
        pytest.param(
            """
            -
            @@
            +
            + N
              b
              a
            """,
            accept("h2"),
            """
            -
            @@
            *
            * N
              b
              a
            """,
            accept("h1"),
            """
            ~
            @@
            *
            * N
              b
              a
            """,
            undo,
            """
            @@ undone

            @@ undone
              b
              a
            """,
            id="at the beginning, in reverse",
        ),
        pytest.param(
            """
            - }
            @@
            + }

              }
            """,
            accept("h1"),
            """
            ~ }
            @@
            + }

              }
            """,
            accept("h2"),
            """
            ~ }
            @@
            * }

              }
            """,
            undo,
            """
            @@ undone
            @@ undone
              }

              }
            """,
            id="a line like the deleted line",
        ),
        pytest.param(
            """
            - }
            @@
            + }

              }
            """,
            accept("h2"),
            """
            - }
            @@
            * }

              }
            """,
            accept("h1"),
            """
            ~ }
            @@
            * }

              }
            """,
            undo,
            """
            @@ undone
              }
            @@ undone

              }
            """,
            id="a line like the deleted line, in reverse",
        ),
    ],
)
def test_accepted_hunk_stays_accepted_when_the_next_hunk_looks_like_its_undo(
    before: str, typed: str, after: str, then: str, end: str, and_then: str, last: str
) -> None:
    check_review(before, typed, after, then, end, and_then, last)


def test_hunk_after_two_accepted_deletions_keeps_its_line() -> None:
    check_review(
        """
          a
        - }
        @@
        -
        @@
        - }
        + X
          b
        """,
        accept("h1", "h2"),
        """
          a
        ~ }
        @@
        ~
        @@
        - }
        + X
          b
        """,
    )
