"""What an editor makes of an accepted hunk: its text comes, comes with other text, or never."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.errors import WrongHunkState
from stet.review.proposal import Hunk
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.position import Position, Range
from tests.support.review_harness import URI, ReviewHarness

OLD = "a\nb\nc\nd\ne\n"
NEW = "A\nb\nc\nnew\nd\n"


def test_a_sent_hunk_is_accepted_only_when_its_text_comes_back() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    assert (page.states, page.ledger.outbox.is_sent(URI), page.arrived()) == (["sent"], True, False)
    page.type(2, 0, 2, 1, "C")
    assert (page.states, page.ledger.outbox.is_sent(URI), page.arrived()) == (
        ["accepted"],
        False,
        True,
    )


def test_what_is_not_sent_keeps_its_place_though_the_editor_reports_another_difference() -> None:
    page = ReviewHarness("x\nx\ny\nz\n")
    (first,) = page.propose("x\nx\nx\ny\nz\n")
    (second,) = page.propose("x\nx\nY\nz\n")
    page.send(first.id)
    page.type(0, 0, 0, 0, "x\n")
    assert page.ledger.hunk(first.id).range == Range(Position(2, 0), Position(3, 0))
    page.accept(second.id)
    assert page.text == "x\nx\nx\nY\nz\n"


@pytest.mark.parametrize("state", ["sent", "pending"])
@pytest.mark.parametrize("new", ["a\nb\nc\nnew\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nd\ne\n"])
@pytest.mark.parametrize("text", ["x", "x\n", "x\ny\nz", ""])
def test_the_old_text_of_a_sent_hunk_is_what_its_range_holds(
    state: str, new: str, text: str
) -> None:
    page = ReviewHarness(OLD)
    (hunk,) = page.propose(new)
    page.send()
    if state == "pending":
        page.ledger.outbox.withdraw(hunk.id)
    page.type(0, 0, 5, 0, text)
    (hunk,) = page.hunks
    assert (hunk.state, hunk.old) == (state, page.document.text_in(hunk.range))


def test_a_conflict_stays_one_when_another_hunk_is_accepted() -> None:
    page = ReviewHarness(OLD)
    first, second = page.propose("A\nb\nc\nD\ne\n")
    page.type(3, 0, 3, 1, "mine")
    page.accept(first.id)
    assert [page.ledger.hunk(h.id).state for h in (first, second)] == ["accepted", "conflict"]
    assert page.text == "A\nb\nc\nmine\ne\n"


def test_typing_above_an_edit_in_flight_is_distinguished() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    page.type(0, 0, 0, 0, "zero\n")
    page.type(3, 0, 4, 0, "C\n")
    assert page.states == ["sent"]
    assert page.arrived()
    (hunk,) = page.hunks
    assert (hunk.state, page.document.text_in(hunk.range)) == ("accepted", "C\n")


def test_typing_after_the_edit_in_the_same_message_is_distinguished() -> None:
    page = ReviewHarness("    a\n    b\n")
    page.propose("    a\n    new\n    b\n")
    page.send()
    # The smallest difference begins within the next line; the user goes on in that line.
    cut = TextChange(Range(Position(1, 4), Position(1, 4)), "new\n    ")
    typed = TextChange(Range(Position(2, 5), Position(2, 5)), "!")
    page.apply(cut, typed)
    assert (page.text, page.states) == ("    a\n    new\n    b!\n", ["accepted"])


def test_an_insertion_cut_through_its_neighbour_is_found_though_the_user_typed_before() -> None:
    page = ReviewHarness("    a\n    b\n")
    page.propose("    a\n    new\n    b\n")
    page.send()
    page.type(0, 0, 0, 0, "typed\n")
    page.type(2, 4, 2, 4, "new\n    ")
    assert page.arrived()
    (hunk,) = page.hunks
    assert (hunk.state, page.document.text_in(hunk.range)) == ("accepted", "    new\n")


def test_text_typed_at_the_edge_of_what_was_sent_does_not_hide_it() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    page.type(2, 0, 2, 0, "mine\n")
    page.type(3, 0, 4, 0, "C\n")
    assert page.arrived()
    assert page.states == ["accepted"]


def test_similar_text_beside_the_edit_does_not_confirm_it() -> None:
    page = ReviewHarness("a\nb\n")
    page.propose("a\nb\nb\n")
    page.send()
    page.type(0, 0, 0, 1, "x")
    assert not page.arrived()
    assert page.states == ["sent"]


def test_failed_edit_is_pending_and_can_be_sent_again() -> None:
    page = ReviewHarness(OLD)
    page.propose(NEW)
    page.send()
    page.unsend("the editor refused")
    assert {(h.state, h.reason) for h in page.hunks} == {("pending", "the editor refused")}
    page.accept()
    assert page.text == NEW


def test_failed_edit_where_the_user_typed_is_a_conflict() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    page.type(2, 0, 2, 1, "mine")
    page.unsend()
    assert page.states == ["conflict"]


def test_failed_insertion_is_pending_beside_lines_edited_before() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nnew\nc\nd\ne\n")
    page.type(1, 1, 1, 1, "!")
    page.type(2, 1, 2, 1, "!")
    page.send()
    page.unsend()
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nb!\nnew\nc!\nd\ne\n"


def test_hunk_in_flight_cannot_be_decided() -> None:
    page = ReviewHarness(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    page.send()
    with pytest.raises(WrongHunkState, match=f"{hunk.id} can't be rejected: it is sent"):
        page.ledger.reject(hunk.id)
    assert page.states == ["sent"]


def test_a_proposal_made_meanwhile_keeps_its_own_place() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nnew\nc\nd\ne\n")
    wanted = page.send()
    (later,) = page.propose("a\nb\nc\nd\nE\n", turn="t2")
    page.replace(wanted)
    page.accept(later.id)
    assert page.text == "a\nb\nnew\nc\nd\nE\n"


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_edit_in_flight_is_confirmed_once_whatever_is_typed_around_it(data: st.DataObject) -> None:
    """The user types above or below before or after it; the editor sends smallest differences."""
    page = ReviewHarness("".join(f"  {n}\n" for n in range(9)))
    hunks = page.propose("".join(data.draw(st.sampled_from(PROPOSALS))))
    chosen = data.draw(st.sets(st.sampled_from([hunk.id for hunk in hunks]), min_size=1))
    before = page.text
    wanted = page.send(*sorted(chosen))
    changes = list(changes_between(before, wanted))
    early = [TextChange(Range(END, END), "  late\n")] if data.draw(st.booleans()) else []
    late = [TextChange(Range(START, START), "  first\n")] if data.draw(st.booleans()) else []
    messages = [early, changes, late]
    if data.draw(st.booleans()):
        messages = [[*early, *changes, *late]]
    for message in messages:
        page.apply(*message)
    assert page.arrived()
    page.accept()
    assert page.text == (
        "  first\n" * len(late) + page_after(before, hunks) + "  late\n" * len(early)
    )
    assert set(page.states) == {"accepted"}


START, END = Position(0, 0), Position(9, 0)
PROPOSALS = [
    ["  0\n", "  X\n", "  2\n", "  new\n", "  3\n", "  5\n", "  6\n", "  7\n", "  8\n"],
    ["  0\n", "  new\n", "  1\n", "  2\n", "  4\n", "  5\n", "  Y\n", "  Z\n", "  8\n"],
    ["  0\n", "  2\n", "  n\n", "  3\n", "  4\n", "  n\n", "  5\n", "  6\n", "  7\n", "  8\n"],
]


def page_after(text: str, hunks: tuple[Hunk, ...]) -> str:
    document = TextDocument(URI, text)
    return TextEdit(
        tuple(
            Replacement(
                document.offset_at(hunk.range.start), document.offset_at(hunk.range.end), hunk.new
            )
            for hunk in hunks
        )
    ).apply(text)
