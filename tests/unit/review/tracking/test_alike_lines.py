"""An edit that comes late, or is reported as another difference, where lines are alike.

Whatever is told of the hunks has to explain the text: those that are accepted, and no others, make it.
"""

import pytest

from stet.text.diff import changes_between
from tests.support.review_harness import ReviewHarness

ALIKE = {
    "a deletion and the line put in behind it": ("}\n\na\n", "}\na\n", "}\n\n\nN\na\n"),
    "at the beginning": ("\nb\na\n", "b\na\n", "\n\nN\nb\na\n"),
    "a line put in that reads like the one taken out": ("}\n\n}\n", "\n}\n", "}\n}\n\n}\n"),
}


@pytest.mark.parametrize("is_second_first", [False, True])
@pytest.mark.parametrize(("text", "first", "second"), ALIKE.values(), ids=ALIKE)
def test_an_accepted_hunk_stays_accepted_when_the_next_one_looks_like_its_undo(
    text: str, first: str, second: str, *, is_second_first: bool
) -> None:
    page = ReviewHarness(text)
    hunks = [h.id for h in (*page.propose(first, "t1"), *page.propose(second, "t2"))]
    for hunk in reversed(hunks) if is_second_first else hunks:
        page.accept(hunk)
    assert page.states == ["accepted", "accepted"]
    page.send_back()
    assert (page.text, page.states) == (text, ["undone", "undone"])


def test_a_hunk_behind_two_accepted_deletions_keeps_its_line() -> None:
    page = ReviewHarness("a\n}\n\n}\nb\n")
    page.propose("a\n\n}\nb\n", "t1")
    page.propose("a\n}\n}\nb\n", "t2")
    [third] = page.propose("a\n}\n\nX\nb\n", "t3")
    page.accept(*[hunk.id for hunk in page.hunks if hunk.id != third.id])
    assert (page.text, page.states) == ("a\n}\nb\n", ["accepted", "accepted", "pending"])
    page.accept()
    assert page.text == "a\nX\nb\n"


def given_up(page: ReviewHarness, *edits: tuple[str, ...]) -> None:
    """Edits that the editor said yes to one after the other, and whose text has not come."""
    for hunks in edits:
        page.send(*hunks)
        page.unsend()


def test_edits_given_up_that_come_one_by_one_are_each_known() -> None:
    page = ReviewHarness("}\n}\n}\n}\n")
    [added] = page.propose("}\n}\nN\n}\n}\n", "t1")
    [gone] = page.propose("}\n}\n}\n", "t2")
    given_up(page, (added.id,), (gone.id,))
    page.apply(*changes_between(page.text, "}\n}\n}\n"))
    assert {h.id: h.state for h in page.hunks} == {added.id: "pending", gone.id: "accepted"}
    page.apply(*changes_between(page.text, "}\n}\nN\n}\n"))
    assert page.states == ["accepted", "accepted"]


def test_an_edit_given_up_is_known_behind_one_that_came_in_time() -> None:
    page = ReviewHarness("a\nb\n\na\n")
    late = page.propose("\nN\na\nb\n\na\n", "t1")[0].id
    in_time = page.propose("a\n\n\na\n", "t2")[0].id
    given_up(page, (late,))
    page.accept(in_time)
    assert {h.id: h.state for h in page.hunks} == {late: "pending", in_time: "accepted"}
    page.apply(*changes_between(page.text, "\nN\na\n\n\na\n"))
    assert page.states == ["accepted", "accepted"]


def test_a_message_that_changes_nothing_gives_no_edit_up() -> None:
    page = ReviewHarness("a\nb\n")
    [hunk] = page.propose("a\nB\n")
    given_up(page, (hunk.id,))
    page.follow()
    page.replace("a\nB\n")
    assert page.states == ["accepted"]
