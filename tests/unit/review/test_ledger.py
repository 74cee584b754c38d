"""From a proposal to the user's decision, and what an editor makes of an accepted hunk."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.drafts import EditDraft
from stet.review.errors import Overlap, UnknownHunk, WrongState
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.position import Position, Range
from tests.support.page import URI, Page, rules

OLD = "a\nb\nc\nd\ne\n"
NEW = "A\nb\nc\nnew\nd\n"


def test_an_edit_becomes_a_hunk_for_every_stretch_of_lines() -> None:
    page = Page(OLD)
    made = page.propose(NEW)
    first = Hunk(
        id="h1",
        proposal="p1",
        turn="t1",
        chat="",
        uri=URI,
        kind=HunkKind.REPLACE,
        state=HunkState.PENDING,
        range=Range(Position(0, 0), Position(1, 0)),
        old="a\n",
        new="A\n",
        base="a\n",
        proposed="A\n",
        summary="s",
        group="p1@h1",
        author="m",
        changed=1,
    )
    assert [(h.kind, h.range.start.line, h.old, h.new) for h in made] == [
        ("replace", 0, "a\n", "A\n"),
        ("add", 3, "", "new\n"),
        ("delete", 4, "e\n", ""),
    ]
    assert made[0] == first
    assert page.hunks == made


def test_an_edit_that_changes_nothing_leaves_no_trace() -> None:
    page = Page(OLD)
    assert page.propose(OLD) == ()
    assert (page.hunks, page.ledger.proposals("t1")) == ((), ())


def test_accepting_all_gives_the_proposed_text_and_rejecting_all_leaves_the_users() -> None:
    page = Page(OLD)
    page.propose(NEW)
    page.accept()
    assert (page.text, set(page.states)) == (NEW, {"accepted"})
    page = Page(OLD)
    for hunk in page.propose(NEW):
        page.ledger.reject(hunk.id, "not now")
    assert page.text == OLD
    assert {(hunk.state, hunk.reason) for hunk in page.hunks} == {("rejected", "not now")}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_hunks_accepted_one_by_one_in_any_order_give_the_proposed_text(
    order: tuple[int, ...],
) -> None:
    page = Page(OLD)
    made = page.propose(NEW)
    for number in order:
        page.accept(made[number].id)
    assert page.text == NEW
    assert [page.document.text_in(hunk.range) for hunk in page.hunks] == ["A\n", "new\n", ""]


def test_hunks_of_neighbouring_lines_each_know_their_own_text_when_accepted_together() -> None:
    page = Page("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.propose("A1\nA2\nb\nc\n")
    page.propose("a\nnew\nb\nc\n")
    page.accept()
    assert page.text == "A1\nA2\nnew\nB\nc\n"
    assert [page.document.text_in(h.range) for h in page.hunks] == ["A1\nA2\n", "new\n", "B\n"]


def test_a_hunk_between_accepted_neighbours_stays_between_them() -> None:
    page = Page("a\nb\nc\n")
    (first,) = page.propose("A\nb\nc\n")
    (second,) = page.propose("a\nB\nc\n")
    page.propose("a\nnew\nb\nc\n")
    page.accept(first.id, second.id)
    page.accept()
    assert page.text == "A\nnew\nB\nc\n"


def test_insertions_that_end_at_one_point_keep_their_order_one_by_one() -> None:
    page = Page("a\nb\nc\n")
    first, second = page.propose("a\n1\nb\n2\nc\n")
    page.type(1, 0, 2, 0, "")
    page.accept(first.id)
    page.accept(second.id)
    assert page.text == "a\n1\n2\nc\n"


# -- sent, and what comes back -----------------------------------------------------------------


def test_a_sent_hunk_is_accepted_only_when_its_text_comes_back() -> None:
    page = Page(OLD)
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
    page = Page("x\nx\ny\nz\n")
    (first,) = page.propose("x\nx\nx\ny\nz\n")
    (second,) = page.propose("x\nx\nY\nz\n")
    page.send(first.id)
    page.type(0, 0, 0, 0, "x\n")
    assert page.ledger.hunk(first.id).range == Range(Position(2, 0), Position(3, 0))
    page.accept(second.id)
    assert page.text == "x\nx\nx\nY\nz\n"


def test_a_conflict_stays_one_when_another_hunk_is_accepted() -> None:
    page = Page(OLD)
    first, second = page.propose("A\nb\nc\nD\ne\n")
    page.type(3, 0, 3, 1, "mine")
    page.accept(first.id)
    assert [page.ledger.hunk(h.id).state for h in (first, second)] == ["accepted", "conflict"]
    assert page.text == "A\nb\nc\nmine\ne\n"


def test_typing_above_while_it_is_sent_is_told_apart() -> None:
    page = Page(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    page.type(0, 0, 0, 0, "zero\n")
    page.type(3, 0, 4, 0, "C\n")
    assert page.states == ["sent"]
    assert page.arrived()
    (hunk,) = page.hunks
    assert (hunk.state, page.document.text_in(hunk.range)) == ("accepted", "C\n")


def test_typing_behind_the_edit_in_the_same_message_is_told_apart() -> None:
    page = Page("    a\n    b\n")
    page.propose("    a\n    new\n    b\n")
    page.send()
    # The smallest difference begins within the next line; the user goes on in that line.
    cut = TextChange(Range(Position(1, 4), Position(1, 4)), "new\n    ")
    typed = TextChange(Range(Position(2, 5), Position(2, 5)), "!")
    page.apply(cut, typed)
    assert (page.text, page.states) == ("    a\n    new\n    b!\n", ["accepted"])


def test_an_insertion_cut_through_its_neighbour_is_found_though_the_user_typed_before() -> None:
    page = Page("    a\n    b\n")
    page.propose("    a\n    new\n    b\n")
    page.send()
    page.type(0, 0, 0, 0, "typed\n")
    page.type(2, 4, 2, 4, "new\n    ")
    assert page.arrived()
    (hunk,) = page.hunks
    assert (hunk.state, page.document.text_in(hunk.range)) == ("accepted", "    new\n")


def test_text_typed_at_the_edge_of_what_was_sent_does_not_hide_it() -> None:
    page = Page(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    page.type(2, 0, 2, 0, "mine\n")
    page.type(3, 0, 4, 0, "C\n")
    assert page.arrived()
    assert page.states == ["accepted"]


def test_text_like_the_new_one_beside_it_is_not_taken_for_it() -> None:
    page = Page("a\nb\n")
    page.propose("a\nb\nb\n")
    page.send()
    page.type(0, 0, 0, 1, "x")
    assert not page.arrived()
    assert page.states == ["sent"]


def test_what_did_not_come_about_is_pending_again_and_can_be_sent_anew() -> None:
    page = Page(OLD)
    page.propose(NEW)
    page.send()
    page.unsend("the editor refused")
    assert {(h.state, h.reason) for h in page.hunks} == {("pending", "the editor refused")}
    page.accept()
    assert page.text == NEW


def test_what_did_not_come_about_where_the_user_wrote_is_a_conflict() -> None:
    page = Page(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    page.type(2, 0, 2, 1, "mine")
    page.unsend()
    assert page.states == ["conflict"]


def test_an_insertion_that_did_not_come_about_waits_beside_lines_edited_before() -> None:
    page = Page(OLD)
    page.propose("a\nb\nnew\nc\nd\ne\n")
    page.type(1, 1, 1, 1, "!")
    page.type(2, 1, 2, 1, "!")
    page.send()
    page.unsend()
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nb!\nnew\nc!\nd\ne\n"


def test_what_is_on_its_way_is_decided_already() -> None:
    page = Page(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    page.send()
    with pytest.raises(WrongState, match=f"{hunk.id} can't be rejected: it is sent"):
        page.ledger.reject(hunk.id)
    assert page.states == ["sent"]


def test_a_proposal_made_meanwhile_keeps_its_own_place() -> None:
    page = Page(OLD)
    page.propose("a\nb\nnew\nc\nd\ne\n")
    wanted = page.send()
    (later,) = page.propose("a\nb\nc\nd\nE\n", turn="t2")
    page.replace(wanted)
    page.accept(later.id)
    assert page.text == "a\nb\nnew\nc\nd\nE\n"


# -- several turns -----------------------------------------------------------------------------


def test_a_later_turn_supersedes_in_the_same_place_and_leaves_the_rest() -> None:
    page = Page(OLD)
    first, second = page.propose("A\nb\nC\nd\ne\n")
    (third,) = page.propose("a\nb\nCC\nd\ne\n", turn="t2")
    found = {hunk.id: (hunk.state, hunk.reason) for hunk in page.hunks}
    assert found == {
        first.id: ("pending", ""),
        second.id: ("superseded", f"replaced by {third.id}"),
        third.id: ("pending", ""),
    }


def test_one_turn_may_not_propose_twice_for_the_same_place() -> None:
    page = Page(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    with pytest.raises(Overlap, match=rf"lines 3-3 .*\({hunk.id}: s\).*one edit"):
        page.propose("a\nB\nCC\nd\ne\n")
    assert page.hunks == (hunk,)
    page.type(2, 0, 2, 1, "mine")
    page.propose("a\nb\nMINE\nd\ne\n")
    assert sorted(page.states) == ["pending", "superseded"]


def test_what_is_on_its_way_is_not_superseded() -> None:
    page = Page(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.send()
    with pytest.raises(Overlap):
        page.propose("a\nb\nCC\nd\ne\n", turn="t2")
    page = Page("", "file:///ws/new.md")
    page.create("text\n")
    page.send()
    with pytest.raises(Overlap):
        page.create("other\n", turn="t2")


def test_a_new_file_waits_as_one_hunk_and_a_second_wish_replaces_it() -> None:
    page = Page("", "file:///ws/new.md")
    first = page.create("text\n")
    assert (first.kind, first.old, first.new, first.range.is_empty) == (
        "create",
        "",
        "text\n",
        True,
    )
    second = page.create("better\n", turn="t2")
    assert {hunk.id: hunk.state for hunk in page.hunks} == {
        first.id: "superseded",
        second.id: "pending",
    }
    page.send()
    page.ledger.outbox.confirm_whole(second.id)
    assert page.ledger.hunk(second.id).state is HunkState.ACCEPTED


# -- closed files, names, listing --------------------------------------------------------------


def test_hunks_of_a_closed_file_follow_what_was_written_to_it_meanwhile() -> None:
    page = Page(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.ledger.closed(URI)
    again = Page("zero\n" + OLD)
    page.buffer = again.buffer
    page.ledger.opened(URI, page.buffer.lines)
    assert page.hunks[0].range.start == Position(3, 0)
    page.accept()
    assert page.text == "zero\na\nb\nC\nd\ne\n"


def test_a_closed_files_hunks_follow_the_disk_before_new_ones_are_put_beside_them() -> None:
    page = Page(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.ledger.closed(URI)
    on_disk = TextDocument(URI, "zero\n" + OLD)
    edit = TextEdit((Replacement(9, 10, "CC"),))
    draft = EditDraft(turn="t2", author="m", document=on_disk, name="a.md", edit=edit, summary="s")
    (hunk,) = page.ledger.propose_edit(draft, rules())
    assert (hunk.old, hunk.range.start) == ("c\n", Position(3, 0))
    assert sorted(page.states) == ["pending", "superseded"]
    assert page.ledger.base_text(URI) == on_disk.text


def test_two_spellings_of_a_uri_are_one_file() -> None:
    page = Page(OLD, "file:///ws/a%20b.md")
    page.propose("a\nb\nC\nd\ne\n")
    twin = "file:///ws/a%20%62.md"
    assert page.ledger.follows(twin)
    assert len(page.ledger.hunks(uri=twin)) == 1
    page.uri = twin
    page.accept()
    assert page.states == ["accepted"]


def test_hunks_come_in_order_of_file_and_place_and_as_made_at_one_place() -> None:
    page = Page("\n".join(map(str, range(12))) + "\n")
    for number in range(12):
        lines = [str(n) for n in range(12)]
        lines[11 - number] += "!"
        page.propose("\n".join(lines) + "\n", turn=f"t{number}")
    assert [hunk.old for hunk in page.hunks] == [f"{n}\n" for n in range(12)]


def test_an_unknown_hunk_is_answered_with_the_nearest() -> None:
    page = Page(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    with pytest.raises(UnknownHunk, match=f"did you mean '{hunk.id}'"):
        page.ledger.hunk(f"{hunk.id}x")


def test_the_hash_names_the_content_not_the_place() -> None:
    page = Page(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    page.type(0, 0, 0, 0, "zero\n")
    assert page.ledger.hunk(hunk.id).hash == hunk.hash
    assert dataclasses.replace(hunk, new="CC\n").hash != hunk.hash
    assert dataclasses.replace(hunk, old="cc\n").hash != hunk.hash


def test_listeners_hear_of_every_file_that_changed() -> None:
    page = Page(OLD)
    heard: list[str] = []
    page.ledger.listen(heard.append)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    page.type(4, 0, 4, 0, "below")
    assert heard == [URI]
    page.type(0, 0, 0, 0, "above\n")
    page.ledger.reject(hunk.id)
    assert heard == [URI] * 3


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_is_typed_round_an_edit_on_its_way_it_arrives_once(data: st.DataObject) -> None:
    """The user types above or below before or after it; the editor sends smallest differences."""
    page = Page("".join(f"  {n}\n" for n in range(9)))
    hunks = page.propose("".join(data.draw(st.sampled_from(WISHES))))
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
WISHES = [
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
