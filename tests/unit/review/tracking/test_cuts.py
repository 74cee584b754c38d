"""Lines that are moved take their hunks with them."""

from collections.abc import Callable

import pytest

from stet.review.proposal import HunkState
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.relocation import MovedLineTracker
from stet.review.tracking.replay import ReplacedLines
from stet.text.change import TextChange
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness

FIRST = "def first(a):\n    total = a\n    return total\n"
SECOND = "def second(b):\n    total = b\n    return total\n"
TEXT = f"{FIRST}\n{SECOND}\n"


def replaced_whole(page: ReviewHarness, at: int, n: int, to: int) -> None:
    lines = list(page.buffer.lines)
    stretch = lines[at : at + n]
    del lines[at : at + n]
    lines[to:to] = stretch
    page.replace("".join(lines))


def cut_and_pasted(page: ReviewHarness, at: int, n: int, to: int) -> None:
    stretch = "".join(page.buffer.lines[at : at + n])
    page.type(at, 0, at + n, 0, "")
    page.type(to, 0, to, 0, stretch)


def pasted_and_cut_in_one_message(page: ReviewHarness, at: int, n: int, to: int) -> None:
    stretch = "".join(page.buffer.lines[at : at + n])
    put, cut = (to, at + n) if to <= at else (to + n, at)
    page.apply(lines_become(put, put, stretch), lines_become(cut, cut + n, ""))


def lines_become(first: int, end: int, text: str) -> TextChange:
    return TextChange(Range(Position(first, 0), Position(end, 0)), text)


MOVES = (replaced_whole, cut_and_pasted, pasted_and_cut_in_one_message)
Move = Callable[[ReviewHarness, int, int, int], None]


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize(
    ("proposed", "then"),
    [
        (TEXT.replace("total = b", "total = 2 * b"), "    total = 2 * b\n"),
        (TEXT.replace("    total = b\n", ""), "def second(b):\n    return total\n"),
        (
            TEXT.replace("    total = b\n", "    # add\n    total = b\n"),
            "    # add\n    total = b\n",
        ),
    ],
    ids=["a replacement", "a deletion", "an insertion"],
)
def test_a_hunk_goes_with_the_function_it_is_in(move: Move, proposed: str, then: str) -> None:
    page = ReviewHarness(TEXT)
    page.propose(proposed)
    move(page, 4, 4, 0)
    assert page.text.startswith("def second")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == f"{proposed[len(FIRST) + 1 :]}{FIRST}\n"
    assert then in page.text


@pytest.mark.parametrize("move", MOVES)
def test_lines_that_read_alike_are_told_by_what_was_moved_with_them(move: Move) -> None:
    page = ReviewHarness(TEXT)
    page.propose(f"{FIRST}\n{SECOND.replace('return total', 'return -total')}\n")
    move(page, 4, 4, 0)
    page.accept()
    assert page.text == f"{SECOND.replace('return total', 'return -total')}\n{FIRST}\n"


@pytest.mark.parametrize("move", MOVES)
def test_hunks_change_their_order_with_their_lines(move: Move) -> None:
    page = ReviewHarness(TEXT)
    page.propose(TEXT.replace("(a)", "(a=1)").replace("(b)", "(b=2)"))
    move(page, 4, 4, 0)
    page.accept()
    assert (
        page.text
        == TEXT[len(FIRST) + 1 :].replace("(b)", "(b=2)") + FIRST.replace("(a)", "(a=1)") + "\n"
    )


@pytest.mark.parametrize("move", MOVES)
def test_what_was_accepted_can_be_undone_where_it_was_moved(move: Move) -> None:
    page = ReviewHarness(TEXT)
    page.propose(TEXT.replace("    total = b\n", "    # add\n    total = b\n"))
    page.accept()
    move(page, 4, 5, 0)
    assert page.states == ["accepted"]
    page.send_back()
    assert page.text == f"{SECOND}\n{FIRST}\n"


def test_a_line_by_itself_is_pasted_with_its_hunk_however_little_it_says() -> None:
    page = ReviewHarness("{\n}\n{\n")
    page.propose("{\n};\n{\n")
    page.type(1, 0, 2, 0, "")
    page.type(2, 0, 2, 0, "}\n")
    page.accept()
    assert page.text == "{\n{\n};\n"


def test_a_line_that_reads_like_one_that_was_cut_is_not_taken_for_it() -> None:
    page = ReviewHarness(TEXT)
    page.propose(f"{FIRST}\n{SECOND.replace('return total', 'return -total')}\n")
    page.type(4, 0, 7, 0, "")  # cut, and not pasted; the first function ends with the same line
    assert page.states == ["conflict"]
    page.type(0, 0, 0, 0, "def third():\n    return total\n\n")
    assert page.states == ["conflict"]


@pytest.mark.parametrize("is_moved", [False, True], ids=["deleted", "moved"])
@pytest.mark.parametrize("n_above", [1, 2, 3])
def test_a_hunk_goes_to_its_lines_once_the_line_between_them_is_gone(
    n_above: int, is_moved: bool
) -> None:
    above = ["alpha one\n", "beta two\n", "gamma three\n", "delta four\n"]
    page = ReviewHarness("".join(("head\n", *above, "tail\n")))
    page.propose("".join(("head\n", *map(str.upper, above), "tail\n")))
    below = above[n_above:]
    del above[n_above:]
    page.type(1, 0, 1 + n_above, 0, "")
    page.type(1, 0, 1, 0, "mine\n")
    page.type(2, 0, 2 + len(below), 0, "")
    page.type(3, 0, 3, 0, "".join((*above, "between\n", *below)))
    assert (page.hunks[0].state, page.hunks[0].old) == (HunkState.CONFLICT, "mine\n")
    if is_moved:
        page.replace("".join(("head\n", "mine\n", "tail\n", "between\n", *above, *below)))
    else:
        page.type(3 + n_above, 0, 4 + n_above, 0, "")
    own = "".join((*above, *below))
    assert (page.hunks[0].state, page.hunks[0].old) == (HunkState.PENDING, own)
    page.accept()
    assert page.text.endswith("ALPHA ONE\nBETA TWO\nGAMMA THREE\nDELTA FOUR\n")


def test_lines_that_come_together_are_not_those_of_a_hunk_where_they_say_too_little() -> None:
    page = ReviewHarness("{\n}\nhead\n{\nbetween\n}\n")
    page.propose("{;\n};\nhead\n{\nbetween\n}\n")
    page.type(0, 0, 2, 0, "mine\n")
    page.type(3, 0, 4, 0, "")
    assert page.text == "mine\nhead\n{\n}\n"
    assert (page.hunks[0].state, page.hunks[0].old) == (HunkState.CONFLICT, "mine\n")


def test_what_is_undone_after_a_move_stands_where_it_stood() -> None:
    page = ReviewHarness(TEXT)
    page.propose(TEXT.replace("total = b", "total = 2 * b"))
    page.type(5, 4, 5, 4, "the_")
    place = page.hunks[0].range
    cut_and_pasted(page, 4, 4, 0)
    cut_and_pasted(page, 0, 4, 4)
    assert page.hunks[0].range == place
    page.type(5, 4, 5, 8, "")
    assert page.hunks[0].state is HunkState.PENDING
    page.accept()
    assert page.text == TEXT.replace("total = b", "total = 2 * b")


@pytest.mark.parametrize("move", MOVES)
def test_a_thousand_hunks_go_with_their_lines(move: Move) -> None:
    lines = [f"{word} {n}\n" for n in range(1_000) for word in ("one", "two")]
    page = ReviewHarness("".join(("head\n", *lines, "tail\n")))
    page.propose(page.text.replace("two", "2"))
    move(page, 1, 2_000, 2)
    page.accept()
    assert page.text == "".join(("head\n", "tail\n", *lines)).replace("two", "2")


def test_what_was_taken_out_has_a_bound_however_much_it_was() -> None:
    cuts = MovedLineTracker()
    for nth in range(9):
        lines = [f"line {at} of {nth}\n" for at in range(20_000)]
        anchor = Anchor(f"h{nth}", lines, (0, len(lines)), "".join(lines), "one\n")
        cuts.record_removed((ReplacedLines(0, 0, lines, ()),), [anchor], ())
    assert [*cuts._removed] == ["h3", "h4", "h5", "h6", "h7", "h8"]
