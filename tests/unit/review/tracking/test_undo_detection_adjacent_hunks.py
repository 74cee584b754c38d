"""The editor's undo and redo of hunks that touch and were accepted together are detected."""

import pytest

from tests.support.review_pictures import check_review, read_picture
from tests.support.review_steps import (
    accept,
    accept_whole,
    editor_redo,
    editor_undo,
    replace_text,
    undo,
)


@pytest.mark.parametrize(
    ("before", "accepted", "undone"),
    [
        pytest.param(
            """
              a
              b
            - c
            + C
            @@
            + Z
            """,
            """
              a
              b
            ~ c
            * C
            @@
            * Z
            """,
            """
              a
              b
            @@ undone
              c
            @@ undone
            """,
            id="a replacement and an insertion",
        ),
        pytest.param(
            """
              a
              b
            + Z
            @@
            - c
            + C
            """,
            """
              a
              b
            * Z
            @@
            ~ c
            * C
            """,
            """
              a
              b
            @@ undone
            @@ undone
              c
            """,
            id="an insertion and a replacement",
        ),
        pytest.param(
            """
              a
            - b
            + B
            @@
            + Z
            @@
            - c
            + C
            """,
            """
              a
            ~ b
            * B
            @@
            * Z
            @@
            ~ c
            * C
            """,
            """
              a
            @@ undone
              b
            @@ undone
            @@ undone
              c
            """,
            id="three hunks",
        ),
        pytest.param(
            """
              a
            - b
            @@
            - c
            + C
            """,
            """
              a
            ~ b
            @@
            ~ c
            * C
            """,
            """
              a
            @@ undone
              b
            @@ undone
              c
            """,
            id="a deletion and a replacement",
        ),
    ],
)
def test_undo_of_hunks_that_touch_and_were_accepted_together_is_detected(
    before: str, accepted: str, undone: str
) -> None:
    check_review(
        before, accept(), accepted, editor_undo, before, editor_redo, accepted, undo, undone
    )


def test_other_text_in_place_of_hunks_that_touch_is_no_undo() -> None:
    check_review(
        """
          a
          b
        - c
        + C
        @@
        + Z
        """,
        accept(),
        """
          a
          b
        ~ c
        * C
        @@
        * Z
        """,
        replace_text("a\nb\nmine\n"),
        """
          a
          b
        ~ c
        * mine
        @@ accepted 3-3
        """,
    )


@pytest.mark.parametrize(
    ("before", "accepted", "undone"),
    [
        pytest.param(
            """
              $0top
            - 1 one
            @@
            + 2 one
            """,
            """
              $0top
            ~ 1 one
            @@
            * 2 one
            """,
            """
              $0top
            @@ undone
            @@ undone
              1 one
            """,
            id="a deletion and an insertion",
        ),
        pytest.param(
            """
              $0top
            -
            + a
            + b

            -
            + c
            """,
            """
              $0top
            ~
            * a
            * b

            ~
            * c
            """,
            """
              $0top
            @@ undone


            @@ undone

            """,
            id="empty lines",
        ),
        pytest.param(
            """
              $0top
            - 1 one
            + 2 one
            @@
            - last␃
            """,
            """
              $0top
            ~ 1 one
            * 2 one
            @@
            ~ last␃
            """,
            """
              $0top
            @@ undone
              1 one
            @@ undone
              last␃
            """,
            id="the end of the text",
        ),
    ],
)
def test_undo_and_redo_of_an_edit_of_several_hunks_are_detected(
    before: str, accepted: str, undone: str
) -> None:
    def below(picture: str) -> str:
        """The picture after a line was typed at its cursor."""
        return picture.replace("$0", "zero\n              ")

    old, new = read_picture(below(before)).text, read_picture(below(accepted)).text
    check_review(
        *(before, accept_whole, accepted),
        *("zero\n", below(accepted)),
        *(replace_text(old), below(before)),
        *(replace_text(new), below(accepted)),
        *(undo, below(undone)),
    )
