"""From an edit to hunks: where each stands, what it does, and which can't be decided apart."""

from stet.review.drafts import CreateDraft, EditDraft
from stet.review.proposal import HunkKind
from stet.review.protected import is_protected
from stet.text.diff import LineHunk
from stet.text.document import TextDocument
from stet.text.position import Position, Range


def place_of(document: TextDocument, hunk: LineHunk) -> Range:
    """The whole lines that `hunk` replaces in `document`."""
    start = document.clamp(Position(hunk.old_start, 0))
    end = document.clamp(Position(hunk.old_start + len(hunk.old), 0))
    return Range(start, end)


def kind_of(old: str, new: str) -> HunkKind:
    """What putting `new` in the place of `old` does to a file."""
    if not old:
        return HunkKind.ADD
    return HunkKind.REPLACE if new else HunkKind.DELETE


def overlap(one: Range, other: Range) -> bool:
    """Whether two places cannot both be decided alone: they share text, or insert at one point."""
    if one.is_empty and other.is_empty:
        return one == other
    return one.start < other.end and other.start < one.end


def is_guarded(draft: EditDraft | CreateDraft) -> bool:
    """Whether the draft's file needs a yes of its own, by its name or the one behind a link."""
    return is_protected(draft.name) or is_protected(draft.real_name)
