"""What may become a proposal: an edit, a new file, a move, a removal, before the gate has seen it."""

from dataclasses import dataclass

from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.position import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDraft:
    """An edit of an existing file.

    Attributes:
        turn: The turn that wants it.
        chat: The conversation it belongs to.
        author: The model's name.
        document: The text as it is now; `edit` applies to exactly this.
        name: The file as the model calls it, for messages.
        edit: What is wanted.
        summary: One line for the user.
        notes: Where several edits came together, the summary of each: the whole lines it changes, as
            offsets of `document` (code points, half-open), and the line for the user.
        real_name: The name of what it leads to, links resolved.
    """

    turn: str
    author: str
    document: TextDocument
    name: str
    edit: TextEdit
    summary: str
    notes: tuple[tuple[int, int, str], ...] = ()
    real_name: str = ""
    chat: str = ""

    def summary_of(self, place: Range) -> str:
        """The line for the user of a hunk at `place`: of those edits that change its lines."""
        start, end = self.document.offset_at(place.start), self.document.offset_at(place.end)
        # Hunks never touch each other: what touches one is part of it.
        found = [note for first, last, note in self.notes if first <= end and start <= last]
        return "; ".join(dict.fromkeys(found)) or self.summary


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDraft:
    """A new file.

    Attributes:
        turn: The turn that wants it.
        chat: The conversation it belongs to.
        author: The model's name.
        uri: Where it is to be.
        name: The file as the model calls it, for messages.
        text: What it is to hold.
        summary: One line for the user.
        real_name: The name of what it leads to, links resolved.
    """

    turn: str
    author: str
    uri: str
    name: str
    text: str
    summary: str
    real_name: str = ""
    chat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDraft:
    """A file that is to have another name.

    Attributes:
        turn: The turn that wants it.
        chat: The conversation it belongs to.
        author: The model's name.
        uri: The file as it is.
        name: The same, as the model calls it, for messages.
        real_name: The name of what that leads to, links resolved.
        new_uri: Where it is to be.
        new_name: The same, for messages.
        new_real_name: The name of what that leads to, links resolved.
        summary: One line for the user.
        links: Edits of the files that refer to it, the moved file itself perhaps among them.
    """

    turn: str
    author: str
    uri: str
    name: str
    new_uri: str
    new_name: str
    summary: str
    links: tuple[EditDraft, ...] = ()
    real_name: str = ""
    new_real_name: str = ""
    chat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveDraft:
    """A file that is to go to the trash.

    Attributes:
        turn: The turn that wants it.
        chat: The conversation it belongs to.
        author: The model's name.
        uri: The file.
        name: The file as the model calls it, for messages.
        text: What it holds, as far as that can be shown.
        summary: One line for the user.
        real_name: The name of what it leads to, links resolved.
    """

    turn: str
    author: str
    uri: str
    name: str
    text: str
    summary: str
    real_name: str = ""
    chat: str = ""
