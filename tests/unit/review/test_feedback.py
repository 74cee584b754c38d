"""The feedback to a conversation about its proposals and its files."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.review.feedback import (
    FeedbackDelta,
    FileDelta,
    HunkOutcome,
    ModelKnowledge,
    collect_feedback,
    external_changes,
)
from stet.review.ledger import ReviewLedger
from stet.review.proposal import CreateDraft, EditDraft, HunkState
from stet.review.resolve.prepared_edit import prepare_draft
from stet.settings.values import PrivacySettings, Settings
from stet.text.diff import LineHunk, changes_between
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.workspace.workspace import WireEdit, Workspace
from tests.support.agent_harness import type_into
from tests.support.review_harness import rules
from tests.support.workspaces import insertion, make_workspace

URI = "file:///ws/a.py"
TEXT = "one\ntwo\nthree\nfour\n"


class Talk:
    """A conversation about `a.py`, which is open."""

    def __init__(self, text: str = TEXT, settings: Settings | None = None) -> None:
        self.world: Workspace = make_workspace(opened={"/ws/a.py": text}, settings=settings)
        self.ledger = ReviewLedger()
        self.known = ModelKnowledge()
        self.show()

    @property
    def live(self) -> TextDocument:
        document = self.world.document(URI)
        assert document is not None
        return document

    def show(self) -> None:
        """The model sees the file."""
        self.known = dataclasses.replace(self.known, shown={URI: self.live})

    def propose(self, old: str, new: str, *, turn: str = "t1", chat: str = "main") -> str:
        """Propose that one text becomes another; gives the hunk's id."""
        (hunk,) = self.ledger.propose(
            prepare_draft(self.draft(old, new, turn=turn, chat=chat), rules())
        )
        return hunk.id

    def draft(self, old: str, new: str, *, turn: str = "t1", chat: str = "main") -> EditDraft:
        """Propose that one text becomes another."""
        at = self.live.text.index(old)
        edit = TextEdit((Replacement(at, at + len(old), new),))
        return EditDraft(
            turn=turn,
            chat=chat,
            author="m",
            document=self.live,
            name="a.py",
            edit=edit,
            summary="s",
        )

    def accept(self, hunk: str) -> None:
        """The user accepts, and the editor applies it."""
        edit = self.ledger.outbox.send(self.live, (hunk,))
        for change in changes_between(self.live.text, edit.apply(self.live.text)):
            start, end = change.range.start, change.range.end
            typed = WireEdit(start.line, start.character, end.line, end.character, change.text)
            self.type(typed)
        assert self.ledger.hunk(hunk).state is HunkState.ACCEPTED

    def type(self, edit: WireEdit) -> None:
        type_into(self.world, self.ledger, edit)

    def news(self, chat: str = "main") -> FeedbackDelta:
        """Return the feedback; it is known then."""
        found = collect_feedback(self.world.snapshot(), self.ledger.hunks(chat=chat), self.known)
        self.known = found.knowledge
        return found

    def begin(self) -> None:
        """The first turn begins, before anything is proposed."""
        assert self.news() == FeedbackDelta((), (), ModelKnowledge(0, {URI: self.live}))


@pytest.fixture
def talk() -> Talk:
    one = Talk()
    one.begin()
    return one


def test_pending_hunks_are_reported_every_time(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\n")
    outcome = HunkOutcome(hunk, HunkState.PENDING, "a.py", 2, "s")
    assert talk.news().outcomes == (outcome,)
    assert talk.news().outcomes == (outcome,)


def test_decisions_are_reported_once(talk: Talk) -> None:
    accepted, rejected = talk.propose("two\n", "2\n"), talk.propose("four\n", "4\n")
    talk.accept(accepted)
    talk.ledger.reject(rejected, "Too short")
    assert talk.news() == FeedbackDelta(
        (
            HunkOutcome(rejected, HunkState.REJECTED, "a.py", 4, "s", reason="Too short"),
            HunkOutcome(accepted, HunkState.ACCEPTED, "a.py", 2, "s"),
        ),
        (),
        ModelKnowledge(max(hunk.changed for hunk in talk.ledger.hunks()), {URI: talk.live}),
    )
    assert talk.news().outcomes == ()


def test_repeated_decision_is_reported_again(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\n")
    talk.ledger.reject(hunk, "No")
    talk.news()
    talk.ledger.restore(hunk)
    assert [verdict.state for verdict in talk.news().outcomes] == [HunkState.PENDING]
    talk.ledger.reject(hunk, "No, again")
    assert [verdict.reason for verdict in talk.news().outcomes] == ["No, again"]


def test_decisions_before_the_conversation_are_not_reported() -> None:
    talk = Talk()
    talk.ledger.reject(talk.propose("two\n", "2\n"))
    waiting = talk.propose("four\n", "4\n")
    assert [verdict.hunk for verdict in talk.news().outcomes] == [waiting]


def test_amended_hunk_is_shown_once(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\nII\n")
    talk.news()
    talk.ledger.amend(hunk, "2\nii\n")
    (amended,) = talk.news().outcomes
    assert amended == HunkOutcome(
        hunk,
        HunkState.PENDING,
        "a.py",
        2,
        "s",
        diff=(LineHunk(1, ("II",), 1, ("ii",)),),
        is_changed=True,
    )
    (again,) = talk.news().outcomes
    assert again == dataclasses.replace(amended, diff=())
    talk.accept(hunk)
    (accepted,) = talk.news().outcomes
    assert accepted == dataclasses.replace(amended, state=HunkState.ACCEPTED)


def test_conflict_is_reported_with_the_current_text(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\n")
    talk.news()
    talk.type(WireEdit(1, 0, 1, 3, "zwei"))
    found = talk.news()
    assert found.outcomes == (
        HunkOutcome(hunk, HunkState.CONFLICT, "a.py", 2, "s", theirs=("zwei\n",)),
    )
    assert found.files == (FileDelta("a.py", (LineHunk(1, ("two\n",), 1, ("zwei\n",)),)),)
    assert talk.news().files == ()


def test_revert_in_the_editor_is_reported(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\n")
    talk.accept(hunk)
    talk.news()
    talk.type(WireEdit(1, 0, 1, 1, "two"))
    found = talk.news()
    assert [(verdict.hunk, verdict.state) for verdict in found.outcomes] == [
        (hunk, HunkState.UNDONE)
    ]


def test_hunks_superseded_or_withdrawn_by_the_agent_are_not_reported(talk: Talk) -> None:
    talk.propose("two\n", "2\n")
    second = talk.propose("two\n", "II\n", turn="t2")
    assert [verdict.hunk for verdict in talk.news().outcomes] == [second]
    back = talk.draft("two\n", "two\n")
    assert talk.ledger.propose(prepare_draft(back, rules()), amends=[second]) == ()
    assert talk.news().outcomes == ()


def test_hunks_superseded_by_another_conversation_are_reported(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\n")
    talk.propose("two\n", "II\n", turn="t2", chat="other")
    assert talk.news().outcomes == (HunkOutcome(hunk, HunkState.SUPERSEDED, "a.py", 2, "s"),)


def test_changes_of_the_user_are_reported_without_accepted_hunks(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\nII\n2.0\n")
    talk.accept(hunk)
    talk.type(insertion(0, 0, "zero\n"))
    talk.type(WireEdit(5, 0, 5, 5, "3"))  # `three`, right below the hunk
    assert talk.news().files == (
        FileDelta(
            "a.py", (LineHunk(0, (), 0, ("zero\n",)), LineHunk(2, ("three\n",), 5, ("3\n",)))
        ),
    )


def test_change_within_an_accepted_hunk_is_reported(talk: Talk) -> None:
    hunk = talk.propose("two\n", "2\nII\n")
    talk.accept(hunk)
    talk.news()
    talk.type(WireEdit(2, 0, 2, 2, "ii"))
    assert talk.news().files == (FileDelta("a.py", (LineHunk(2, ("II\n",), 2, ("ii\n",)),)),)


def test_unchanged_file_is_not_reported(talk: Talk) -> None:
    talk.type(insertion(0, 0, "x"))
    talk.type(WireEdit(0, 0, 0, 1, ""))
    assert talk.news().files == ()


def test_hidden_file_is_reported_by_its_decision_only(
    talk: Talk,
) -> None:
    hunk = talk.propose("two\n", "2\n")
    waiting = talk.propose("four\n", "4\n")
    talk.type(WireEdit(3, 0, 3, 4, "secret"))
    talk.ledger.reject(hunk, "No")
    talk.world.with_settings(Settings(privacy=PrivacySettings(deny=("a.py",))))
    found = talk.news()
    assert found.outcomes == (
        HunkOutcome(waiting, HunkState.CONFLICT),
        HunkOutcome(hunk, HunkState.REJECTED),
    )
    assert (found.files, dict(found.knowledge.shown)) == ((), {})


def test_removed_file_is_reported_once() -> None:
    talk = Talk()
    talk.known = ModelKnowledge(0, {"file:///ws/b.py": TextDocument("file:///ws/b.py", "b\n")})
    assert talk.news().files == (FileDelta("b.py", is_gone=True),)
    assert talk.news().files == ()


def test_pending_new_file_is_reported_by_name(talk: Talk) -> None:
    draft = CreateDraft(
        turn="t1",
        chat="main",
        author="m",
        uri="file:///ws/n.py",
        name="n.py",
        text="x\n",
        summary="New",
    )
    hunk = talk.ledger.propose(prepare_draft(draft, rules()))[0]
    assert talk.news().outcomes == (HunkOutcome(hunk.id, HunkState.PENDING, "n.py", 0, "New"),)


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8)


@given(LINES, LINES.map("".join), st.data())
def test_changes_beside_accepted_hunks_lead_from_one_text_to_the_other(
    before: list[str], after: str, data: st.DataObject
) -> None:
    """Old lines are those of the text before; new ones are at their reported places."""
    old = TextDocument(URI, "".join(before))
    talk = Talk(old.text)
    at = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(at, len(before)))
    target = "".join([*before[:at], "X\n", *before[end:]])
    draft = EditDraft(
        turn="t", chat="main", author="m", document=talk.live, name="a.py", summary="s",
        edit=TextEdit((Replacement(0, len(old.text), target),)),
    )  # fmt: skip
    for hunk in talk.ledger.propose(prepare_draft(draft, rules())):
        talk.accept(hunk.id)
    accepted = talk.ledger.hunks()
    assert external_changes(old, talk.live, accepted) == ()
    for change in changes_between(talk.live.text, after):
        start, stop = change.range.start, change.range.end
        talk.type(WireEdit(start.line, start.character, stop.line, stop.character, change.text))
    still = [hunk for hunk in talk.ledger.hunks() if hunk.state is HunkState.ACCEPTED]
    for one in external_changes(old, talk.live, still):
        assert old.lines[one.old_start : one.old_start + len(one.old)] == one.old
        assert talk.live.lines[one.new_start : one.new_start + len(one.new)] == one.new
