"""Values of proposals: a `Proposal` for one file, and its `Hunk`s, each a decision.

A draft is a change before the policy check: an edit, a new file, a move or a removal.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.lines import whole_lines, without_end
from stet.text.position import Position, Range

STET = "stet"
"""The author of the hunks of Stet's own agent."""
WITHDRAWN = "withdrawn by the agent"
"""The reason of a withdrawn hunk."""
UNDONE_IN_EDITOR = "you undid it in the editor: accept it by itself"
"""The reason of an accepted hunk that is pending again."""


class HunkState(StrEnum):
    """The state of a hunk; the values are part of the public contract."""

    PENDING = "pending"
    SENT = "sent"
    """Accepted by the user; the edit was sent, and the editor has not reported its text yet."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    """The user has changed the place; the hunk is pending again if the user undoes the change."""
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    UNDONE = "undone"


OPEN = frozenset({HunkState.PENDING, HunkState.CONFLICT})
"""The states in which the user has to decide."""
LIVE = frozenset({HunkState.PENDING, HunkState.SENT, HunkState.CONFLICT})
"""The states in which a hunk follows the changes of its document."""


class HunkKind(StrEnum):
    """The kind of change of a hunk."""

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
"""The kinds of changes of a whole file, not of its lines."""


@dataclass(frozen=True, kw_only=True)  # without slots: `replace_hunk` copies all fields at once
class Hunk:
    """One decision for the user.

    Attributes:
        id: The id, unique in the workspace and across restarts.
        proposal: The id of the hunk's proposal.
        turn: The id of the turn that has proposed the hunk.
        chat: The id of the turn's conversation.
        uri: The URI of the file in the editor's spelling.
        new_uri: The new URI of the file for `MOVE`; otherwise empty.
        kind: The kind of change.
        state: The state of the hunk.
        range: The whole lines of the change, in code points of the current text; empty for `ADD`
            and for kinds of a whole file. For a withdrawn hunk, the range at that time.
        old: The text at `range`. For `REMOVE` the file's text.
        new: The text to write at `range`; for an accepted hunk, the written text.
        base: The text that the hunk was made against: `old`, until the user changes the place.
        proposed: The agent's text for `base`: `new`, until the user changes the place or amends.
        summary: One line for the user.
        group: The group, shared by the hunks of one function or section.
        author: The agent: `stet`, `imported` for a block in a file, or the name of another agent.
        protected: Whether the hunk needs its own approval (`stet.review.policy.protected_files`).
        inline: Whether the hunk is shown as a block (`stet.review.inline.inline_blocks`).
        block: The id of a block that another program has written; empty for a block with the hunk's
            id, and without a block.
        mixed: Whether a line of `new` has changes of both the user and the agent.
        reason: The reason for the state; may be empty.
        replaces: For a hunk in conflict with hunks of its own conversation, because the user had
            changed them, or text around them: their ids. They are superseded, and pending again
            when the conflict ends with the user's text.
        changed: A number that rises with each change of state of any hunk: the order of changes.
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
    replaces: tuple[str, ...] = ()
    changed: int = 0

    @property
    def number(self) -> int:
        """The number in the id; hunks are numbered in the order of creation."""
        return int(self.id.removeprefix("h"))

    @property
    def is_amended(self) -> bool:
        """Whether the user has changed the new text, besides its line ends."""
        new, proposed = (
            [without_end(line) for line in whole_lines(text)] for text in (self.new, self.proposed)
        )
        return new != proposed

    @property
    def is_of_absent_file(self) -> bool:
        """Whether the file does not exist in this state: a file of this name is another file."""
        if self.kind is HunkKind.REMOVE:
            return self.state is HunkState.ACCEPTED
        return self.kind is HunkKind.CREATE and self.state not in {
            HunkState.SENT,
            HunkState.ACCEPTED,
        }

    @property
    def has_moved_away(self) -> bool:
        """Whether the file has the new name, so that a file with the old name is another file."""
        return self.kind is HunkKind.MOVE and self.state is HunkState.ACCEPTED

    @property
    def shown_at(self) -> Range:
        """The displayed range: the lines that the hunk replaces, or the line above an addition."""
        line = self.range.start.line
        if self.kind is not HunkKind.ADD or line == 0:
            return self.range
        return Range(Position(line - 1, 0), Position(line - 1, 0))

    def is_on_lines_of(self, place: Range) -> bool:
        """Return whether the displayed or the changed lines share a line with `place`."""
        return self.shown_at.touches_lines_of(place) or self.range.touches_lines_of(place)

    @property
    def hash(self) -> str:
        """A hash of the content, by which an accept can refuse a hunk that has changed."""
        content = "\0".join((self.uri, self.new_uri, self.kind, self.old, self.new))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The hunks of one turn for one file; a move includes the links in other files.

    Attributes:
        id: The id, unique in the workspace and across restarts.
        turn: The id of the turn that has made the proposal.
        uri: The URI of the file.
        hunks: The ids of the hunks, in the order of creation.
    """

    id: str
    turn: str
    uri: str
    hunks: tuple[str, ...]


def replace_hunk(hunk: Hunk, **changes: object) -> Hunk:
    """Return a changed copy of a hunk, seven times as fast as `dataclasses.replace`.

    A decision about a thousand hunks makes several thousand copies and blocks the event loop.
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
    """The common fields of drafts: the author, and the description for the user.

    Attributes:
        turn: The id of the turn that makes the draft.
        chat: The id of the turn's conversation.
        author: The agent: `stet`, `imported` for a block in a file, or the name of another agent.
        name: The model's name for the file, for messages.
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
        document: The current text, to which `edit` applies.
        edit: The edit.
        notes: If several edits were merged, the summary of each: the whole lines that it changes,
            as offsets of `document` (code points, half-open), and the line for the user.
    """

    document: TextDocument
    edit: TextEdit
    notes: tuple[tuple[int, int, str], ...] = ()

    @property
    def uri(self) -> str:
        """The URI of the file."""
        return self.document.uri

    def summary_of(self, place: Range) -> str:
        """Return the summary of a hunk at `place`, from the edits that change its lines."""
        if not self.notes:
            return self.summary
        start, end = self.document.offset_at(place.start), self.document.offset_at(place.end)
        # Hunks never touch each other: an edit that touches a hunk is part of the hunk.
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
    """A move of a file; `name` is the present name.

    Attributes:
        uri: The present URI of the file.
        new_uri: The new URI.
        new_name: The new name, for messages.
        links: The edits of the files that link to the file, perhaps including the file itself.
        holds_text: Whether the file's text could be read.
        linked_from: The URIs of all files that link to the file, if its text could not be read.
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
        uri: The URI of the file.
        text: The text of the file, as far as it can be shown.
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
        new: The text to write at `place`.
        caution: The reason why the user must approve this file by name; empty if there is none.
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


def superseded_by(hunk_id: str) -> str:
    """Return the reason of a hunk that the hunk `hunk_id` has replaced."""
    return f"replaced by {hunk_id}"
