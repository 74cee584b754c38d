"""Hunks of files: closed ones, other spellings of their names, their order, hashes and
listeners.
"""

import dataclasses

import pytest

from stet.review.errors import UnknownHunk, WrongHunkState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft, Hunk, HunkState, MoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.position import Position
from tests.support.review_harness import URI, ReviewHarness, rules

OLD = "a\nb\nc\nd\ne\n"


def test_hunks_of_a_closed_file_follow_what_was_written_to_it_meanwhile() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.ledger.closed(URI)
    again = ReviewHarness("zero\n" + OLD)
    page.buffer = again.buffer
    page.ledger.opened(URI, page.buffer.lines)
    assert page.hunks[0].range.start == Position(3, 0)
    page.accept()
    assert page.text == "zero\na\nb\nC\nd\ne\n"


def test_a_closed_files_hunks_follow_the_disk_before_new_ones_are_put_beside_them() -> None:
    page = ReviewHarness(OLD)
    page.propose("a\nb\nC\nd\ne\n")
    page.ledger.closed(URI)
    on_disk = TextDocument(URI, "zero\n" + OLD)
    edit = TextEdit((Replacement(9, 10, "CC"),))
    draft = EditDraft(turn="t2", author="m", document=on_disk, name="a.md", edit=edit, summary="s")
    (hunk,) = page.ledger.propose(prepare_draft(draft, rules()))
    assert (hunk.old, hunk.range.start) == ("c\n", Position(3, 0))
    assert sorted(page.states) == ["pending", "superseded"]
    assert page.ledger.base_text(URI) == on_disk.text


def test_two_spellings_of_a_uri_are_one_file() -> None:
    page = ReviewHarness(OLD, "file:///ws/a%20b.md")
    page.propose("a\nb\nC\nd\ne\n")
    twin = "file:///ws/a%20%62.md"
    assert page.ledger.is_tracked(twin)
    assert len(page.ledger.hunks(uri=twin)) == 1
    page.uri = twin
    page.accept()
    assert page.states == ["accepted"]


def test_hunks_come_in_order_of_file_and_place_and_as_made_at_one_place() -> None:
    page = ReviewHarness("\n".join(map(str, range(12))) + "\n")
    for number in range(12):
        lines = [str(n) for n in range(12)]
        lines[11 - number] += "!"
        page.propose("\n".join(lines) + "\n", turn=f"t{number}")
    assert [hunk.old for hunk in page.hunks] == [f"{n}\n" for n in range(12)]


def test_an_unknown_hunk_is_answered_with_the_nearest() -> None:
    page = ReviewHarness(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    with pytest.raises(UnknownHunk, match=f"did you mean '{hunk.id}'"):
        page.ledger.hunk(f"{hunk.id}x")


def test_the_hash_names_the_content_not_the_place() -> None:
    page = ReviewHarness(OLD)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    page.type(0, 0, 0, 0, "zero\n")
    assert page.ledger.hunk(hunk.id).hash == hunk.hash
    assert dataclasses.replace(hunk, new="CC\n").hash != hunk.hash
    assert dataclasses.replace(hunk, old="cc\n").hash != hunk.hash


def test_listeners_are_informed_of_every_changed_file() -> None:
    page = ReviewHarness(OLD)
    reported: list[str] = []
    page.ledger.subscribe(reported.append)
    (hunk,) = page.propose("a\nb\nC\nd\ne\n")
    page.type(4, 0, 4, 0, "below")
    assert reported == [URI]
    page.type(0, 0, 0, 0, "above\n")
    page.ledger.reject(hunk.id)
    assert reported == [URI] * 3


def propose_move(ledger: ReviewLedger, author: str) -> Hunk:
    """Propose that a.md is moved to the name of the author."""
    draft = MoveDraft(
        turn=f"t-{author}",
        chat=f"{author}-1",
        author=author,
        uri=URI,
        name="a.md",
        new_uri=f"file:///ws/{author}.md",
        new_name=f"{author}.md",
        summary="s",
    )
    return ledger.propose(prepare_draft(draft, rules()))[0]


def test_a_move_over_the_move_of_another_agent_names_it() -> None:
    ledger = ReviewHarness(OLD).ledger
    first, second = propose_move(ledger, "claude"), propose_move(ledger, "codex")
    assert ledger.hunk(first.id).state is HunkState.SUPERSEDED
    assert second.reason == f"replaces {first.id} of claude: restore it to have it instead"
    assert ledger.restore(first.id).state is HunkState.PENDING
    assert ledger.hunk(second.id).state is HunkState.SUPERSEDED


def test_a_rejected_move_is_not_restored_while_a_newer_move_of_the_file_waits() -> None:
    ledger = ReviewHarness(OLD).ledger
    first = propose_move(ledger, "claude")
    ledger.reject(first.id)
    second = propose_move(ledger, "codex")
    with pytest.raises(WrongHunkState, match=f"or reject {second.id} first"):
        ledger.restore(first.id)
    assert [one.state for one in ledger.hunks()] == [HunkState.REJECTED, HunkState.PENDING]
    ledger.reject(second.id)
    assert ledger.restore(first.id).state is HunkState.PENDING
