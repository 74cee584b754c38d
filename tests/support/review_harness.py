"""One document with proposals: the user types, the agent proposes, the editor applies.

page = Page("a\\nb\\n")
page.propose("a\\nB\\n")
page.type(0, 0, 0, 0, "x")
page.accept()
"""

from collections.abc import Mapping

from stet.review.journal import RestoredState
from stet.review.ledger import ReviewLedger
from stet.review.policy.rules import EditRules
from stet.review.proposal import CreateDraft, EditDraft, Hunk, HunkState
from stet.review.resolve.prepared_edit import prepare_draft
from stet.review.state_restore import prepare_restore
from stet.settings.values import EditSettings
from stet.text.buffer import TextBuffer
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.position import Position, Range
from stet.workspace.path_status import PathStatus

URI = "file:///ws/a.md"


def rules(*, editable: bool = True, read_only: bool = False, **settings: object) -> EditRules:
    """Rules that allow everything but what is said."""
    return EditRules(
        EditSettings(**settings),  # type: ignore[arg-type]
        editable=lambda uri: editable,
        may_create=lambda uri: editable,
        path_status=lambda uri: PathStatus(),
        read_only=read_only,
    )


def restore_state(ledger: ReviewLedger, restored: RestoredState, texts: Mapping[str, str]) -> None:
    """Restore the hunks of an earlier run, and move them to their places in `texts`, by URI."""
    known = {hunk.id for hunk in ledger.hunks()}
    ledger.take_restored(prepare_restore(restored, texts, known))


class ReviewHarness:
    """An open document and the ledger that follows it."""

    def __init__(self, text: str, uri: str = URI) -> None:
        self.uri = uri
        self.buffer = TextBuffer(text)
        self.ledger = ReviewLedger()

    @property
    def text(self) -> str:
        return self.buffer.text

    @property
    def document(self) -> TextDocument:
        return TextDocument(self.uri, self.buffer.text, version=1)

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        return self.ledger.hunks()

    @property
    def states(self) -> list[str]:
        return [str(hunk.state) for hunk in self.hunks]

    def propose(self, new: str, turn: str = "t1", name: str = "a.md") -> tuple[Hunk, ...]:
        """Propose that the whole text becomes `new`."""
        document = self.document
        edit = TextEdit((Replacement(0, len(document.text), new),))
        draft = EditDraft(
            turn=turn, author="m", document=document, name=name, edit=edit, summary="s"
        )
        return self.ledger.propose(prepare_draft(draft, rules()))

    def propose_at(self, *places: tuple[int, int, str], turn: str = "t1") -> tuple[Hunk, ...]:
        """Propose an edit: the text between two offsets, in code points, becomes another."""
        edit = TextEdit(tuple(Replacement(*place) for place in places))
        draft = EditDraft(
            turn=turn, author="m", document=self.document, name="a.md", edit=edit, summary="s"
        )
        return self.ledger.propose(prepare_draft(draft, rules()))

    def create(self, text: str, turn: str = "t1", uri: str = "file:///ws/new.md") -> Hunk:
        draft = CreateDraft(turn=turn, author="m", uri=uri, name="new.md", text=text, summary="s")
        return self.ledger.propose(prepare_draft(draft, rules()))[0]

    def type(self, *place_and_text: int | str) -> None:
        """One edit of the user: first line, column, last line, column, text."""
        first, column, last, end, text = place_and_text
        assert isinstance(text, str)
        start, stop = Position(int(first), int(column)), Position(int(last), int(end))
        self.follow(self.buffer.apply(TextChange(Range(start, stop), text)))

    def replace(self, text: str) -> None:
        """The whole text comes anew, as from an editor that sends no ranges."""
        self.follow(*self.buffer.replace_all(text))

    def follow(self, *changes: TextChange) -> None:
        """The buffer has taken these changes in one message."""
        self.ledger.apply_changes(self.uri, changes, self.buffer.lines)

    def send(self, *hunk_ids: str) -> str:
        """Send hunks, all pending ones by default; gives the text the editor should have then."""
        ids = hunk_ids or tuple(h.id for h in self.hunks if h.state is HunkState.PENDING)
        document = self.document
        return self.ledger.outbox.send(document, ids).apply(document.text)

    def accept(self, *hunk_ids: str) -> None:
        """Send hunks, and have the editor apply them and report the smallest difference."""
        wanted = self.send(*hunk_ids)
        self.apply(*changes_between(self.text, wanted))

    def send_back(self) -> None:
        """Take all accepted hunks back through Stet; the editor does what it is asked."""
        ids = tuple(h.id for h in self.hunks if h.state is HunkState.ACCEPTED)
        before = self.document
        edit = self.ledger.outbox.send(before, ids, back=True)
        self.apply(*changes_between(before.text, edit.apply(before.text)))

    def apply(self, *changes: TextChange) -> None:
        """Changes that come in one message."""
        self.follow(*[self.buffer.apply(change) for change in changes])

    def arrived(self) -> bool:
        return self.ledger.outbox.arrived(self.uri)

    def unsend(self, reason: str = "no") -> None:
        self.ledger.outbox.cancel(self.uri, reason)

    def apply_lines(self, *changes: tuple[int, int, str]) -> None:
        """Whole lines change, in one message: the first, the one after the last, and the new text."""
        self.apply(
            *(
                TextChange(Range(Position(first, 0), Position(end, 0)), text)
                for first, end, text in changes
            )
        )

    def reopen(self, text: str) -> None:
        """The document is closed, and opened again with another text."""
        self.ledger.closed(self.uri)
        self.buffer = TextBuffer(text)
        self.ledger.opened(self.uri, self.buffer.lines)

    def restart(self) -> None:
        """The server is started again, and opens the document with the text that it has."""
        snapshot = self.ledger.anchor_snapshot(self.uri)
        kept = RestoredState(self.hunks, (snapshot,) if snapshot else ())
        self.ledger = ReviewLedger()
        restore_state(self.ledger, kept, {self.uri: self.text})
        self.ledger.opened(self.uri, self.buffer.lines)
