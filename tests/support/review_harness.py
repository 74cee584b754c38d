"""One document with proposals: the user types, the agent proposes, the editor applies.

page = ReviewHarness("a\\nb\\n")
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
    """Make rules that allow everything except as given."""
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
    """An open document and the ledger that tracks it."""

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
        """Propose `new` as the whole text."""
        document = self.document
        edit = TextEdit((Replacement(0, len(document.text), new),))
        draft = EditDraft(
            turn=turn, author="m", document=document, name=name, edit=edit, summary="s"
        )
        return self.ledger.propose(prepare_draft(draft, rules()))

    def propose_at(self, *places: tuple[int, int, str], turn: str = "t1") -> tuple[Hunk, ...]:
        """Propose an edit: each text between two offsets, in code points, is replaced."""
        edit = TextEdit(tuple(Replacement(*place) for place in places))
        draft = EditDraft(
            turn=turn, author="m", document=self.document, name="a.md", edit=edit, summary="s"
        )
        return self.ledger.propose(prepare_draft(draft, rules()))

    def create(self, text: str, turn: str = "t1", uri: str = "file:///ws/new.md") -> Hunk:
        draft = CreateDraft(turn=turn, author="m", uri=uri, name="new.md", text=text, summary="s")
        return self.ledger.propose(prepare_draft(draft, rules()))[0]

    def type(self, *place_and_text: int | str) -> None:
        """Apply one edit of the user: first line, column, last line, column, text."""
        first, column, last, end, text = place_and_text
        assert isinstance(text, str)
        start, stop = Position(int(first), int(column)), Position(int(last), int(end))
        self.follow(self.buffer.apply(TextChange(Range(start, stop), text)))

    def replace(self, text: str) -> None:
        """Replace the whole text, like an editor that sends no ranges."""
        self.follow(*self.buffer.replace_all(text))

    def follow(self, *changes: TextChange) -> None:
        """Report changes of the buffer to the ledger in one message."""
        self.ledger.apply_changes(self.uri, changes, self.buffer.lines)

    def send(self, *hunk_ids: str) -> str:
        """Send hunks, by default all pending ones; return the expected text of the editor."""
        ids = hunk_ids or tuple(h.id for h in self.hunks if h.state is HunkState.PENDING)
        document = self.document
        return self.ledger.outbox.send(document, ids).apply(document.text)

    def accept(self, *hunk_ids: str) -> None:
        """Send hunks; the editor applies them and reports the smallest difference."""
        wanted = self.send(*hunk_ids)
        self.apply(*changes_between(self.text, wanted))

    def send_back(self) -> None:
        """Undo all accepted hunks through Stet; the editor applies the edit."""
        ids = tuple(h.id for h in self.hunks if h.state is HunkState.ACCEPTED)
        before = self.document
        edit = self.ledger.outbox.send(before, ids, back=True)
        self.apply(*changes_between(before.text, edit.apply(before.text)))

    def apply(self, *changes: TextChange) -> None:
        """Apply changes in one message."""
        self.follow(*[self.buffer.apply(change) for change in changes])

    def arrived(self) -> bool:
        return self.ledger.outbox.arrived(self.uri)

    def unsend(self, reason: str = "no") -> None:
        self.ledger.outbox.cancel(self.uri, reason)

    def apply_lines(self, *changes: tuple[int, int, str]) -> None:
        """Change whole lines in one message: first line, end line (excluded), new text."""
        self.apply(
            *(
                TextChange(Range(Position(first, 0), Position(end, 0)), text)
                for first, end, text in changes
            )
        )

    def reopen(self, text: str) -> None:
        """Close the document, and open it again with another text."""
        self.ledger.closed(self.uri)
        self.buffer = TextBuffer(text)
        self.ledger.opened(self.uri, self.buffer.lines)

    def restart(self) -> None:
        """Restart the server, which opens the document with its current text."""
        snapshot = self.ledger.anchor_snapshot(self.uri)
        kept = RestoredState(self.hunks, (snapshot,) if snapshot else ())
        self.ledger = ReviewLedger()
        restore_state(self.ledger, kept, {self.uri: self.text})
        self.ledger.opened(self.uri, self.buffer.lines)
