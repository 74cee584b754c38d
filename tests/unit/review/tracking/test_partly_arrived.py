"""An edit of several hunks of which the editor's user took some: each is told by what stands there."""

import itertools

import pytest

from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness

TEXT = "a\nb\nc\nd\ne\nf\n"
CHANGES = (("b\n", "B\n"), ("c\n", "C\nC2\n"), ("d\n", ""), ("e\n", "e\nE\n"))


def beside_each_other(*changes: tuple[str, str]) -> ReviewHarness:
    """Hunks that touch, each of a turn of its own, all on their way."""
    page = ReviewHarness(TEXT)
    for nth, (old, new) in enumerate(changes):
        page.propose(TEXT.replace(old, new), turn=f"t{nth}")
    page.send()
    return page


@pytest.mark.parametrize("told", ["as a whole", "one by one"])
@pytest.mark.parametrize(
    "taken", [some for n in range(5) for some in itertools.combinations(range(4), n)]
)
def test_of_hunks_that_touch_those_count_as_accepted_that_stand_there(
    taken: tuple[int, ...], told: str
) -> None:
    page = beside_each_other(*CHANGES)
    wanted = TEXT
    for nth in taken:
        wanted = wanted.replace(*CHANGES[nth])
    if told == "as a whole":
        page.apply(*changes_between(TEXT, wanted))
    else:
        lines = [TEXT.index(CHANGES[nth][0]) // 2 for nth in taken]
        page.apply(
            *(
                TextChange(Range(Position(line, 0), Position(line + 1, 0)), CHANGES[nth][1])
                for line, nth in sorted(zip(lines, taken, strict=True), reverse=True)
            )
        )
    assert page.text == wanted
    assert page.arrived() == (len(taken) == 4)
    page.unsend()
    states = {hunk.id: str(hunk.state) for hunk in page.hunks}
    assert states == {
        f"h{nth + 1}": "accepted" if nth in taken else "pending" for nth in range(len(CHANGES))
    }
    page.accept()
    assert page.text == "a\nB\nC\nC2\ne\nE\nf\n"
    page.send_back()
    assert page.text == TEXT


def test_a_line_that_is_put_in_behind_one_that_waits_on_is_not_put_in_twice() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nB\nc\n", turn="t1")
    page.propose("a\nb\nnew\nc\n", turn="t2")
    page.send()
    page.apply(TextChange(Range(Position(2, 0), Position(2, 0)), "new\n"))
    page.unsend()
    assert page.states == ["pending", "accepted"]
    page.accept()
    assert page.text == "a\nB\nnew\nc\n"


def test_a_deletion_has_not_arrived_where_one_of_the_lines_above_it_was_typed_in() -> None:
    page = beside_each_other(*CHANGES[:3])
    page.apply(*changes_between(TEXT, "a\nB\nC\nC2\nd\ntyped\ne\nf\n"))
    page.unsend()
    assert {hunk.id: str(hunk.state) for hunk in page.hunks}["h3"] == "pending"
