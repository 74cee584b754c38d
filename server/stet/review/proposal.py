"""What the agent wants, as values: a `Proposal` for one file, made of `Hunk`s that are decided one by one.

A draft is what a turn wants before the policy check: an edit, a new file, a move or a removal.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.position import Position, Range

UNDONE_IN_EDITOR = "you undid it in the editor: it needs an approval of its own"
"""The reason of an accepted hunk that is pending again."""


class HunkState(StrEnum):
    """The state of a hunk; the values are part of the public contract."""

    PENDING = "pending"
    SENT = "sent"
    """Accepted by the user; the edit has been sent, and the editor's text has not come back yet."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    """The user wrote over the place; the hunk is pending again if the user undoes that."""
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    UNDONE = "undone"


OPEN = frozenset({HunkState.PENDING, HunkState.CONFLICT})
"""States in which the user has a decision to make."""
LIVE = frozenset({HunkState.PENDING, HunkState.SENT, HunkState.CONFLICT})
"""States in which a hunk still follows its document."""


class HunkKind(StrEnum):
    """What a hunk does to its file."""

    ADD = "add"
    REPLACE = "replace"
    DELETE = "delete"
    CREATE = "create"
    MOVE = "move"
    REMOVE = "remove"

    @classmethod
    def of_texts(cls, old: str, new: str) -> "HunkKind":
        """Return the kind of a change of lines from `old` to `new`."""
        if not old:
            return cls.ADD
        return cls.REPLACE if new else cls.DELETE


WHOLE_FILE = frozenset({HunkKind.CREATE, HunkKind.MOVE, HunkKind.REMOVE})
"""Kinds that are about a file as such, not about lines of it."""


@dataclass(frozen=True, kw_only=True)  # without slots: `replace_hunk` copies all fields at once
class Hunk:
    """One decision for the user.

    Attributes:
        id: Unique in the workspace, across restarts.
        proposal: The proposal it is part of.
        turn: The turn that made it.
        chat: The conversation of that turn.
        uri: Its file, as the editor spells it.
        new_uri: The new name of the file for `MOVE`; otherwise empty.
        kind: The kind of change.
        state: Its state.
        range: The whole lines of the change, in code points of the current text; empty for `ADD`
            and for kinds of a whole file. For a withdrawn hunk, the range at that time.
        old: The text at `range`. For `REMOVE` the file's text.
        new: The text to write there; for an accepted hunk, the text that it wrote.
        base: The text that the hunk was made against: `old`, until the user types within it.
        proposed: The agent's text for `base`: `new`, until the user types within it or amends it.
        summary: One line for the user.
        group: Hunks of the same group belong together for a reader: a function, a section.
        author: The model that made it.
        protected: Whether it needs an approval of its own (`stet.review.policy.protected_files`).
        inline: Whether it is shown as a block in the text itself
            (`stet.review.inline.inline_blocks`).
        block: The id of a block that another program has written; otherwise empty, and the block
            has the hunk's id.
        mixed: Whether a line of `new` has changes of both the user and the agent.
        reason: The reason for its state; may be empty.
        changed: Rises with every change of state, across all hunks: the order of the changes.
    """

    id: str
    proposal: str
    turn: str
    chat: str
    uri: str
    new_uri: str = ""
    kind: HunkKind
    state: HunkState
    range: Range
    old: str
    new: str
    base: str
    proposed: str
    summary: str
    group: str
    author: str
    protected: bool = False
    inline: bool = False
    block: str = ""
    mixed: bool = False
    reason: str = ""
    changed: int = 0

    @property
    def number(self) -> int:
        """The number in its id: hunks are numbered in the order in which they were made."""
        return int(self.id.removeprefix("h"))

    @property
    def is_of_absent_file(self) -> bool:
        """Whether its file does not exist, before or after it: a file with the name is another file."""
        if self.kind is HunkKind.REMOVE:
            return self.state is HunkState.ACCEPTED
        return self.kind is HunkKind.CREATE and self.state not in {
            HunkState.SENT,
            HunkState.ACCEPTED,
        }

    @property
    def has_moved_away(self) -> bool:
        """Whether its file has the new name, so that a file with the old name is another file."""
        return self.kind is HunkKind.MOVE and self.state is HunkState.ACCEPTED

    @property
    def shown_at(self) -> Range:
        """Where it is shown: the lines that it replaces, or the line above an addition."""
        line = self.range.start.line
        if self.kind is not HunkKind.ADD or line == 0:
            return self.range
        return Range(Position(line - 1, 0), Position(line - 1, 0))

    def is_on_lines_of(self, place: Range) -> bool:
        """Return whether it shares a line with `place`, where it is shown or where it applies."""
        return self.shown_at.touches_lines_of(place) or self.range.touches_lines_of(place)

    @property
    def hash(self) -> str:
        """A hash of the content: an accept can refuse a hunk that was replaced meanwhile."""
        content = "\0".join((self.uri, self.new_uri, self.kind, self.old, self.new))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The hunks of one turn for one file; a move includes the links to the file in other files.

    Attributes:
        id: Unique in the workspace, across restarts.
        turn: The turn that made it.
        uri: Its file.
        hunks: Ids, in the order they were made.
    """

    id: str
    turn: str
    uri: str
    hunks: tuple[str, ...]


def replace_hunk(hunk: Hunk, **changes: object) -> Hunk:
    """Return a copy of a hunk with changes, in a seventh of the time of `dataclasses.replace`.

    A decision about a thousand hunks makes several thousand copies while the event loop waits.
    """
    assert changes.keys() <= Hunk.__dataclass_fields__.keys(), "a hunk has only its fields"
    copied = object.__new__(Hunk)
    # A copied dict shares its keys with all other hunks; a new one does not.
    fields = hunk.__dict__.copy()
    fields.update(changes)
    object.__setattr__(copied, "__dict__", fields)
    return copied


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftBase:
    """What all drafts have: who makes the draft, and what the user reads about it.

    Attributes:
        turn: The turn that makes it.
        chat: The conversation of that turn.
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
        document: The text as it is now; `edit` applies to exactly this text.
        edit: The edit.
        notes: If several edits were merged, the summary of each: the whole lines that it changes, as
            offsets of `document` (code points, half-open), and the line for the user.
    """

    document: TextDocument
    edit: TextEdit
    notes: tuple[tuple[int, int, str], ...] = ()

    @property
    def uri(self) -> str:
        """The URI of the file."""
        return self.document.uri

    def summary_of(self, place: Range) -> str:
        """Return the line for the user for a hunk at `place`, from the edits that change its lines."""
        if not self.notes:
            return self.summary
        start, end = self.document.offset_at(place.start), self.document.offset_at(place.end)
        # Hunks never touch each other: an edit that touches a hunk is part of it.
        found = [note for first, last, note in self.notes if first <= end and start <= last]
        return "; ".join(dict.fromkeys(found)) or self.summary


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDraft(DraftBase):
    """A new file.

    Attributes:
        uri: The URI of the file.
        text: The text of the file.
    """

    uri: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDraft(DraftBase):
    """Another name for a file; `name` is the present name.

    Attributes:
        uri: The present URI of the file.
        new_uri: The new URI.
        new_name: The new name, for messages.
        links: Edits of the files that refer to it, which may include the moved file itself.
        holds_text: Whether its text could be read.
        linked_from: The URIs of all files that link to it, if its text could not be read.
    """

    uri: str
    new_uri: str
    new_name: str
    links: tuple[EditDraft, ...] = ()
    holds_text: bool = True
    linked_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveDraft(DraftBase):
    """The removal of a file, which goes to the trash.

    Attributes:
        uri: The file.
        text: Its text, as far as the text can be shown.
    """

    uri: str
    text: str


Draft = EditDraft | CreateDraft | MoveDraft | RemoveDraft


def new_hunk(draft: Draft, place: Range, old: str, new: str, caution: str) -> Hunk:
    """Return a pending hunk of a draft, without an id, a proposal and a group.

    Args:
        draft: The draft.
        place: The whole lines of the change.
        old: The text at `place`.
        new: The text to write there.
        caution: Why the user's yes must name the file; empty if any yes will do.
    """
    return Hunk(
        id="",
        proposal="",
        turn=draft.turn,
        chat=draft.chat,
        uri=draft.uri,
        kind=HunkKind.of_texts(old, new),
        state=HunkState.PENDING,
        range=place,
        old=old,
        new=new,
        base=old,
        proposed=new,
        summary=draft.summary,
        group="",
        author=draft.author,
        protected=bool(caution),
        reason=caution,
    )
