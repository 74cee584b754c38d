"""What belongs together is kept by one call of the journal: all of it outlives a kill, or
nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from stet.review.errors import HunkOverlap
from stet.review.journal import AnchorSnapshot, NullJournal
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft, Hunk, MoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from tests.support.review_harness import rules


@dataclass(slots=True)
class Recording(NullJournal):
    """A journal that notes what it is asked to keep: the ids, and the files whose texts come
    along.
    """

    kept: list[tuple[tuple[str, ...], tuple[str, ...], bool]] = field(default_factory=list)

    def persist(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        ids, files = tuple(hunk.id for hunk in hunks), tuple(one.uri for one in snapshots)
        self.kept.append((ids, tuple(sorted(files)), decision))


def link(name: str) -> EditDraft:
    """An edit of the only line of a file."""
    document = TextDocument(f"file:///ws/{name}", "[[a]]\n", version=1)
    edit = TextEdit((Replacement(2, 3, "b"),))
    return EditDraft(turn="t1", author="m", document=document, name=name, edit=edit, summary="s")


def moved(ledger: ReviewLedger) -> tuple[Hunk, ...]:
    draft = MoveDraft(
        turn="t1",
        author="m",
        uri="file:///ws/a.md",
        name="a.md",
        new_uri="file:///ws/b.md",
        new_name="b.md",
        summary="s",
        links=(link("x.md"), link("y.md")),
    )
    return ledger.propose(prepare_draft(draft, rules()))


def test_a_move_is_kept_together_with_the_edits_of_its_links() -> None:
    journal = Recording()
    hunks = moved(ReviewLedger(journal))
    assert [hunk.id for hunk in hunks] == ["h1", "h2", "h3"]
    files = ("file:///ws/x.md", "file:///ws/y.md")
    assert journal.kept == [(("h1", "h2", "h3"), files, False)]


def test_a_move_of_whose_links_one_is_in_the_way_leaves_all_as_it_was() -> None:
    journal = Recording()
    ledger = ReviewLedger(journal)
    moved_before = moved(ledger)
    for hunk in moved_before[:2]:
        ledger.reject(hunk.id)
    before, kept = ledger.hunks(), list(journal.kept)
    with pytest.raises(HunkOverlap, match="h3"):
        moved(ledger)
    assert ledger.hunks() == before
    assert [proposal.hunks for proposal in ledger.proposals("t1")] == [("h1", "h2", "h3")]
    assert journal.kept == kept


def test_decisions_about_several_files_are_kept_together() -> None:
    journal = Recording()
    ledger = ReviewLedger(journal)
    hunks = moved(ledger)
    journal.kept.clear()
    with ledger.batch():
        for hunk in hunks:
            ledger.reject(hunk.id)
    assert journal.kept == [(("h1", "h2", "h3"), (), True)]
