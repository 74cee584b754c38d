"""What may become a proposal: an edit, a new file, a move, a removal, before the gate has seen it."""

from dataclasses import dataclass

from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.position import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftBase:
    """Who wants something, and what the user is told of it: the part that all drafts share.

    Attributes:
        turn: The turn that wants it.
        chat: The conversation it belongs to.
        author: The model's name.
        name: The file as the model calls it, for messages.
        summary: One line for the user.
    """

    turn: str
    chat: str = ""
    author: str
    name: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDraft(DraftBase):
    """An edit of an existing file.

    Attributes:
        document: The text as it is now; `edit` applies to exactly this.
        edit: What is wanted.
        notes: Where several edits came together, the summary of each: the whole lines it changes, as
            offsets of `document` (code points, half-open), and the line for the user.
    """

    document: TextDocument
    edit: TextEdit
    notes: tuple[tuple[int, int, str], ...] = ()

    def summary_of(self, place: Range) -> str:
        """Return the user's line for a hunk at `place`, made of the edits that change its lines."""
        if not self.notes:
            return self.summary
        start, end = self.document.offset_at(place.start), self.document.offset_at(place.end)
        # Hunks never touch each other: what touches one is part of it.
        found = [note for first, last, note in self.notes if first <= end and start <= last]
        return "; ".join(dict.fromkeys(found)) or self.summary


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDraft(DraftBase):
    """A new file.

    Attributes:
        uri: Where it is to be.
        text: What it is to hold.
    """

    uri: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDraft(DraftBase):
    """A file that is to have another name; `name` is the one that it has.

    Attributes:
        uri: The file as it is.
        new_uri: Where it is to be.
        new_name: The same, for messages.
        links: Edits of the files that refer to it, the moved file itself perhaps among them.
        holds_text: Whether there is text in it that could be read.
        linked_from: If not, the URIs of all files that link to it.
    """

    uri: str
    new_uri: str
    new_name: str
    links: tuple[EditDraft, ...] = ()
    holds_text: bool = True
    linked_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveDraft(DraftBase):
    """A file that is to go to the trash.

    Attributes:
        uri: The file.
        text: What it holds, as far as that can be shown.
    """

    uri: str
    text: str
