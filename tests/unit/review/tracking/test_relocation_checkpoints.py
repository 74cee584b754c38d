"""Checkpoints: a text that comes back as a whole has its hunks where they were."""

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.tracking.relocation import MAX_TEXTS
from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import (
    Action,
    PicturedReview,
    check_picture,
    check_review,
    read_picture,
)
from tests.support.review_steps import (
    accept,
    change_lines,
    propose,
    reject,
    replace_text,
    restore,
    undo,
)

pytestmark = pytest.mark.slow


LINES = [f"{word}\n" for word in ("one", "two", "three", "four", "five", "six")]
TEXT = "".join(LINES)
PICTURES = {
    "a deletion": """
          one
          two
        - three
          four
          five
          six
        """,
    "a replacement": """
          one
          two
        - three
        + 3
          four
          five
          six
        """,
    "an insertion": """
          one
          two
        + X
          three
          four
          five
          six
        """,
    "an insertion at the end": """
          one
          two
          three
          four
          five
          six
        + X
        """,
    "a deletion of two": """
          one
          two
        - three
        - four
          five
          six
        """,
}


def as_a_whole(page: ReviewHarness, text: str) -> None:
    page.replace(text)


def as_one_range(page: ReviewHarness, text: str) -> None:
    lines = page.buffer.lines
    page.type(0, 0, len(lines) - 1, len(lines[-1]), text)


def closed_and_opened(page: ReviewHarness, text: str) -> None:
    page.reopen(text)


WAYS = (as_a_whole, as_one_range, closed_and_opened)


def moved(at: int, to: int) -> str:
    lines = LINES.copy()
    lines.insert(to, lines.pop(at))
    return "".join(lines)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_checkpoint_brings_a_hunk_back_after_a_line_was_moved_and_moved_back(
    way: Callable[[ReviewHarness, str], None], picture: str
) -> None:
    for at in range(6):
        for to in range(6):
            page = PicturedReview(picture)
            way(page, moved(at, to))
            way(page, TEXT)
            check_picture(page, picture, f"line {at} moved to line {to}, and back")
            page.accept()
            wanted = read_picture(picture).accepted_text
            assert (page.text, page.states) == (wanted, ["accepted"]), (at, to)


def test_checkpoint_leaves_a_hunk_that_came_later_in_order() -> None:
    check_review(
        PICTURES["a deletion"],
        replace_text(moved(2, 3)),
        """
          one
          two
          four
        - three
          five
          six
        """,
        propose("1\ntwo\nfour\nthree\nfive\nsix\n"),
        """
        @@ h2
        - one
        + 1
          two
          four
        @@ h1
        - three
          five
          six
        """,
        replace_text(TEXT),
        """
        @@ h2
        - one
        + 1
          two
        @@ h1
        - three
          four
          five
          six
        """,
    )


def test_checkpoint_leaves_a_hunk_decided_that_was_decided_later() -> None:
    check_review(
        """
        - one
        + 1
          two
          three
          four
          five
        - six
        + 6
        """,
        (replace_text(moved(2, 3)), reject("h1")),
        """
        @@ rejected
          one
          two
          four
          three
          five
        - six
        + 6
        """,
        replace_text(TEXT),
        """
        @@ rejected
          one
          two
          three
          four
          five
        - six
        + 6
        """,
    )


@pytest.mark.parametrize("then", [(), (replace_text(moved(4, 3)), replace_text(TEXT))])
def test_checkpoint_of_a_text_that_comes_back_by_stets_undo(then: tuple[Action, ...]) -> None:
    """While it was rejected, the insertion has gone astray with lines that were moved."""
    check_review(
        """
        - one
        + 1
          two
          three
          four
          five
          six
        + X
        """,
        (
            replace_text(moved(4, 3)),
            replace_text(TEXT),
            accept("h1"),
            reject("h2"),
            change_lines((4, 6, "six\nfive\n")),
            change_lines((6, 6, "six\n"), (4, 5, "")),
            restore("h2"),
        ),
        """
        ~ one
        * 1
          two
          three
          four
        + X
          five
          six
        """,
        (undo, *then),
        """
        @@ undone
          one
          two
          three
          four
          five
          six
        + X
        """,
    )


SHORT = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(
    base=SHORT, proposed=SHORT, texts=st.lists(SHORT, max_size=4), ways=st.lists(st.integers(0, 2))
)
def test_checkpoints_leave_each_hunk_on_its_lines_whatever_the_text_becomes(
    base: str, proposed: str, texts: list[str], ways: list[int]
) -> None:
    page = ReviewHarness(base)
    if not page.propose(proposed):
        return
    for number, text in enumerate([*texts, base]):
        WAYS[(ways or [0])[number % len(ways or [0])]](page, text)
        for hunk in page.hunks:
            assert 0 <= hunk.range.start.line <= hunk.range.end.line < len(page.buffer.lines)
            assert page.document.text_in(hunk.range) == hunk.old
    page.accept()


def test_checkpoints_take_little_memory_however_large_the_texts_were() -> None:
    page = PicturedReview(PICTURES["a replacement"])
    tracemalloc.start()
    page.replace("x\n")
    before, _ = tracemalloc.get_traced_memory()
    for nth in range(MAX_TEXTS - 2):
        page.replace("".join(f"line {at} of text {nth}\n" for at in range(3_000)))
    page.replace("x\n")
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 500_000, "less than three of these texts"
    page.replace(TEXT)
    check_picture(page, PICTURES["a replacement"])
