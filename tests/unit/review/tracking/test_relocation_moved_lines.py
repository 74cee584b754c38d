"""Lines that are moved take their hunks along."""

from collections.abc import Callable

import pytest

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.relocation import MovedLineTracker
from stet.review.tracking.replay import ReplacedLines
from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import Action, check_picture, check_review, read_picture
from tests.support.review_steps import accept, change_lines, replace_text, undo

pytestmark = pytest.mark.slow


FIRST = """
          def first(a):
              total = a
              return total

        """


def above(one: str, other: str) -> str:
    """One picture above another one, with the same margin."""
    lines = [*one.splitlines()[1:-1], *other.splitlines()[1:]]
    return "\n" + "\n".join(lines)


def replace_whole(at: int, n: int, to: int) -> Action:
    """Move `n` lines from line `at` to line `to`; the editor sends the whole text."""

    def act(page: ReviewHarness) -> None:
        lines = list(page.buffer.lines)
        moved = lines[at : at + n]
        del lines[at : at + n]
        lines[to:to] = moved
        page.replace("".join(lines))

    return act


def cut_and_paste(at: int, n: int, to: int) -> Action:
    """Move lines in two messages, the deletion first."""

    def act(page: ReviewHarness) -> None:
        moved = "".join(page.buffer.lines[at : at + n])
        page.apply_lines((at, at + n, ""))
        page.apply_lines((to, to, moved))

    return act


def paste_and_cut_in_one_message(at: int, n: int, to: int) -> Action:
    """Move lines in one message, the insertion first."""

    def act(page: ReviewHarness) -> None:
        moved = "".join(page.buffer.lines[at : at + n])
        put, cut = (to, at + n) if to <= at else (to + n, at)
        page.apply_lines((put, put, moved), (cut, cut + n, ""))

    return act


MOVES = (replace_whole, cut_and_paste, paste_and_cut_in_one_message)
Move = Callable[[int, int, int], Action]


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize(
    "second",
    [
        """
          def second(b):
        -     total = b
        +     total = 2 * b
              return total

        """,
        """
          def second(b):
        -     total = b
              return total

        """,
        """
          def second(b):
        +     # add
              total = b
              return total

        """,
        """
          def second(b):
              total = b
        -     return total
        +     return -total

        """,
    ],
    ids=["a replacement", "a deletion", "an insertion", "a line that the other function has too"],
)
def test_moved_lines_of_a_function_take_their_hunk_along(move: Move, second: str) -> None:
    check_review(above(FIRST, second), move(4, 4, 0), above(second, FIRST))


@pytest.mark.parametrize("move", MOVES)
def test_moved_lines_change_the_order_of_hunks(move: Move) -> None:
    check_review(
        """
        - def first(a):
        + def first(a=1):
              total = a
              return total

        - def second(b):
        + def second(b=2):
              total = b
              return total

        """,
        move(4, 4, 0),
        """
        @@ h2
        - def second(b):
        + def second(b=2):
              total = b
              return total

        @@ h1
        - def first(a):
        + def first(a=1):
              total = a
              return total

        """,
    )


@pytest.mark.parametrize("move", MOVES)
def test_moved_lines_take_an_accepted_hunk_along_that_can_be_undone(move: Move) -> None:
    accepted = """
          def second(b):
        *     # add
              total = b
              return total

        """
    undone = """
          def second(b):
        @@ undone
              total = b
              return total

        """
    check_review(
        above(FIRST, accepted.replace("*", "+")),
        accept(),
        above(FIRST, accepted),
        move(4, 5, 0),
        above(accepted, FIRST),
        undo,
        above(undone, FIRST),
    )


def test_moved_line_takes_its_hunk_along_however_short_the_line_is() -> None:
    check_review(
        """
          {
        - $0}
        + };
          $0{
        """,
        "",
        """
          {
        ~ }
        + };
          {
          $0␃
        """,
        "}\n",
        """
          {
          {
        - }
        + };
        """,
    )


def test_moved_lines_are_not_confused_with_a_line_equal_to_a_deleted_line() -> None:
    check_review(
        """
          def first(a):
              total = a
              return total

          $0def second(b):
              total = b
        -     return total
        +     return -total
          $0
        """,
        "",
        """
          $0def first(a):
              total = a
              return total

        ~     return total
        +     return -total

        """,
        "def third():\n    return total\n\n",
        """
          def third():
              return total

          def first(a):
              total = a
              return total

        ~     return total
        +     return -total

        """,
    )


def test_moved_lines_that_are_moved_back_have_their_hunk_where_it_was() -> None:
    check_review(
        """
          def first(a):
              total = a
              return total

          def second(b):
        -     $0total = b
        +     total = 2 * b
              return total

        """,
        "the_",
        """
          def first(a):
              total = a
              return total

          $0def second(b):
        -     the_total = b
        +     the_total = 2 * b
              return total

          $0␃
        """,
        "",
        """
          $0def first(a):
              total = a
              return total

        ~     total = b
        +     total = 2 * b
        """,
        "def second(b):\n    the_total = b\n    return total\n\n",
        """
          $0def second(b):
        -     the_total = b
        +     the_total = 2 * b
              return total

          $0def first(a):
              total = a
              return total

        """,
        "",
        """
          def first(a):
              total = a
              return total

        ~     total = b
        +     total = 2 * b
          $0␃
        """,
        "def second(b):\n    the_total = b\n    return total\n\n",
        """
          def first(a):
              total = a
              return total

          def second(b):
        -     $0the_$0total = b
        +     the_total = 2 * b
              return total

        """,
        "",
        """
          def first(a):
              total = a
              return total

          def second(b):
        -     total = b
        +     total = 2 * b
              return total

        """,
    )


@pytest.mark.parametrize("move", MOVES)
def test_moved_lines_take_a_thousand_hunks_along(move: Move) -> None:
    hunks = "".join(f"  one {n}\n- two {n}\n+ 2 {n}\n" for n in range(1_000))
    before = read_picture(f"  head\n{hunks}  tail\n")
    page = ReviewHarness(before.text)
    page.propose(before.accepted_text)
    check_picture(page, before.plain)
    move(1, 2_000, 2)(page)
    after = f"  head\n  tail\n{hunks}"
    check_picture(page, after)
    page.accept()
    assert page.text == read_picture(after).accepted_text


def test_moved_line_tracker_has_a_bound_however_many_lines_are_deleted() -> None:
    tracker = MovedLineTracker()
    for nth in range(9):
        lines = [f"line {at} of {nth}\n" for at in range(20_000)]
        anchor = Anchor(f"h{nth}", lines, (0, len(lines)), "".join(lines), "one\n")
        tracker.record_removed((ReplacedLines(0, 0, lines, ()),), [anchor], ())
    assert [*tracker._removed] == ["h3", "h4", "h5", "h6", "h7", "h8"]


@pytest.mark.parametrize("is_moved", [False, True], ids=["deleted", "moved"])
@pytest.mark.parametrize("n_above", [1, 2, 3])
def test_moved_lines_have_their_hunk_once_the_line_between_them_is_gone(
    n_above: int, is_moved: bool
) -> None:
    lines = ("alpha one\n", "beta two\n", "gamma three\n", "delta four\n")
    above, below = "".join(lines[:n_above]), "".join(lines[n_above:])
    former, removed = ("".join(f"{mark} {line}" for line in lines) for mark in "~-")
    written = "".join(f"+ {line.upper()}" for line in lines)
    parted = "".join(f"  {line}" for line in (*lines[:n_above], "between\n", *lines[n_above:]))
    between = "  between\n" * is_moved
    check_review(
        f"  head\n{removed}{written}  tail\n",
        (
            change_lines((1, 1 + n_above, "")),
            change_lines((1, 1, "mine\n")),
            change_lines((2, 6 - n_above, "")),
            change_lines((3, 3, f"{above}between\n{below}")),
        ),
        f"  head\n{former}! mine\n{written}  tail\n{parted}",
        replace_text(f"head\nmine\ntail\nbetween\n{above}{below}")
        if is_moved
        else change_lines((3 + n_above, 4 + n_above, "")),
        f"  head\n  mine\n  tail\n{between}{removed}{written}",
    )


def test_moved_lines_that_are_too_common_have_no_hunk_once_they_are_together() -> None:
    check_review(
        """
        - $0{
        - }
        + {;
        + };
          $0head
          {
          between
          }
        """,
        "mine\n",
        """
        ~ {
        ~ }
        ! mine
        + {;
        + };
          head
          {
          $0between
          $0}
        """,
        "",
        """
        ~ {
        ~ }
        ! mine
        + {;
        + };
          head
          {
          }
        """,
    )


ENDS = "head\nalpha one\nbeta two\r\nbetween three\ntail four\n"
"""A text of which an agent changes a word and a line end."""


def page_with_line_end() -> ReviewHarness:
    """Return a page whose pending hunk changes a line, and only the line end of the next one."""
    page = ReviewHarness(ENDS)
    page.propose(ENDS.replace("alpha one\nbeta two\r\n", "ALPHA one\nbeta two\n"))
    return page


def hunk_texts(page: ReviewHarness) -> tuple[str, str, str]:
    """Return the state of the only hunk, and its texts."""
    [hunk] = page.hunks
    return str(hunk.state), hunk.old, hunk.new


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("is_moved", [False, True], ids=["deleted", "moved"])
def test_moved_line_of_a_pending_hunk_is_its_line_once_the_line_between_them_is_gone(
    move: Move, is_moved: bool
) -> None:
    page = page_with_line_end()
    move(2, 1, 3)(page)
    assert page.text == "head\nalpha one\nbetween three\nbeta two\r\ntail four\n"
    assert hunk_texts(page) == ("pending", "alpha one\n", "ALPHA one\n")
    if is_moved:
        move(2, 1, 0)(page)
    else:
        page.apply_lines((2, 3, ""))
    assert hunk_texts(page) == (
        "pending", "alpha one\nbeta two\r\n", "ALPHA one\nbeta two\n",
    )  # fmt: skip
    page.accept()
    assert page.text.removeprefix("between three\n") == "head\nALPHA one\nbeta two\ntail four\n"


def test_moved_line_of_a_pending_hunk_does_not_draw_it_to_a_copy_of_its_lines() -> None:
    page = page_with_line_end()
    page.apply_lines((2, 3, ""))
    page.apply_lines((4, 4, "alpha one\nbeta two\r\n"))
    assert hunk_texts(page) == ("pending", "alpha one\n", "ALPHA one\n")
    assert page.hunks[0].range.start.line == 1
