"""What may become a proposal: an edit or a new file, before the gate has seen it."""

from dataclasses import dataclass

from stet.text.document import TextDocument
from stet.text.edit import TextEdit


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDraft:
    """An edit of an existing file.

    Attributes:
        turn: The turn that wants it.
        author: The model's name.
        document: The text as it is now; `edit` applies to exactly this.
        name: The file as the model calls it, for messages.
        edit: What is wanted.
        summary: One line for the user.
        real_name: The name of what it leads to, links resolved.
    """

    turn: str
    author: str
    document: TextDocument
    name: str
    edit: TextEdit
    summary: str
    real_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDraft:
    """A new file.

    Attributes:
        turn: The turn that wants it.
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
