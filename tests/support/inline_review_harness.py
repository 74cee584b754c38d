"""A document whose hunks are blocks in its text, and the texts that most of its tests use."""

from stet.review.proposal import Hunk, HunkState
from stet.text.diff import changes_between
from tests.support.review_harness import ReviewHarness

CODE = "file:///ws/a.py"
NOTE = "file:///ws/a.md"
OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\n2\nthree\nfour\nfive\nsix\n"
MARKED = (
    "one\n<<<<<<< yours\ntwo\n=======\n2\n>>>>>>> stet h1 (s)\nthree\nfour\nfive\n"
    "<<<<<<< yours\n=======\nsix\n>>>>>>> stet h2 (s)\n"
)
FENCED = (
    'one\n```ai-edit\n{"id":"h1","type":"replace","before":"two","after":"2"}\n```\n#ai_edit\n'
    'three\nfour\nfive\n```ai-edit\n{"id":"h2","type":"add","before":"","after":"six"}\n```\n'
    "#ai_edit\n"
)


class InlineReviewHarness(ReviewHarness):
    """A document whose hunks are shown in its text."""

    def show(self, *hunk_ids: str) -> None:
        """Insert blocks, by default all showable ones; the editor reports the smallest change."""
        ids = hunk_ids or self.ledger.blocks.showable(self.document)
        self._do(self.ledger.blocks.show(self.document, ids))

    def take_out(self, *hunk_ids: str, then: HunkState = HunkState.REJECTED) -> None:
        """Remove blocks from the text, by default because they are rejected."""
        self._do(
            self.ledger.blocks.take_out(
                self.document, hunk_ids, then, dict.fromkeys(hunk_ids, "no")
            )
        )

    def amend(self, **new: str) -> None:
        """Give blocks other new lines, by hunk id."""
        self._do(self.ledger.blocks.rewrite(self.document, new))

    def _do(self, edit: object) -> None:
        assert edit is not None
        self.apply(*changes_between(self.text, edit.apply(self.text)))  # type: ignore[attr-defined]

    def hunk(self, nth: int) -> Hunk:
        """Return the hunk that was proposed as the `nth`, from 1."""
        return self.ledger.hunk(f"h{nth}")

    def edit(self, old: str, new: str) -> None:
        """Replace, as the user, a text that occurs once."""
        assert self.text.count(old) == 1
        self.replace(self.text.replace(old, new))


def shown(uri: str = CODE, old: str = OLD, new: str = NEW) -> InlineReviewHarness:
    """Make a document that shows all hunks from `old` to `new` in its text."""
    page = InlineReviewHarness(old, uri)
    page.propose(new)
    page.show()
    return page


def texts(hunk: Hunk) -> tuple[str, str, str, bool]:
    """Return state, old text, new text, and whether the hunk is shown in the text."""
    return hunk.state, hunk.old, hunk.new, hunk.inline
