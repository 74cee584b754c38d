"""What the agent wants, as values: a `Proposal` for one file, made of `Hunk`s decided one by one."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from stet.text.position import Position, Range


class HunkState(StrEnum):
    """Where a hunk is on its way; the words of the public contract."""

    PENDING = "pending"
    SENT = "sent"
    """Accepted by the user; the editor has been asked, its text has not come back yet."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    """The user wrote over the place; it may come back by itself if they undo that."""
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    UNDONE = "undone"


OPEN = frozenset({HunkState.PENDING, HunkState.CONFLICT})
"""States in which the user has a decision to make."""
LIVE = frozenset({HunkState.PENDING, HunkState.SENT, HunkState.CONFLICT})
"""States in which a hunk still follows its document."""

UNDONE_IN_EDITOR = "you undid it in the editor: it needs an approval of its own"
"""The reason of an accepted hunk that is pending again."""


class HunkKind(StrEnum):
    """What a hunk does to its file."""

    ADD = "add"
    REPLACE = "replace"
    DELETE = "delete"
    CREATE = "create"
    MOVE = "move"
    REMOVE = "remove"


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
        new_uri: For `MOVE`, where the file goes; else empty.
        kind: What it does.
        state: Where it is on its way.
        range: The whole lines it is about, in code points of the current text; empty for `ADD` and
            for kinds of a whole file. Once withdrawn, as it was then.
        old: What stands at `range`. For `REMOVE` the file's text.
        new: What it would write there; for an accepted hunk, what it wrote.
        base: The text it was made against: `old`, until the user types within it.
        proposed: What the agent wrote for `base`: `new`, until the user types within it or amends it.
        summary: One line for the user.
        group: Hunks with the same group are one thing to a reader: a function, a section.
        author: The model that made it.
        protected: Whether it needs a yes of its own (`stet.review.policy.protected_files`).
        inline: Whether it is shown as a block in the text itself (`stet.review.inline.inline_blocks`).
        block: The id in that block where another program has written it; else empty, and the block has
            the hunk's.
        mixed: Whether a line of `new` has changes of the user's in it too, beside the agent's.
        reason: Why it is in its state, where there is something to say.
        changed: Rises with every change of state, across all hunks: tells what came after what.
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
        """Which of all hunks that were made it is: tells of two which was made first."""
        return int(self.id.removeprefix("h"))

    @property
    def is_of_absent_file(self) -> bool:
        """Whether it makes a file that is not there yet, or again, or has removed one: a file that
        has the name is another.
        """
        if self.kind is HunkKind.REMOVE:
            return self.state is HunkState.ACCEPTED
        return self.kind is HunkKind.CREATE and self.state not in {
            HunkState.SENT,
            HunkState.ACCEPTED,
        }

    @property
    def shown_at(self) -> Range:
        """Where a reader sees it: what it replaces, or the line that an addition goes below."""
        line = self.range.start.line
        if self.kind is not HunkKind.ADD or line == 0:
            return self.range
        return Range(Position(line - 1, 0), Position(line - 1, 0))

    def is_on_lines_of(self, place: Range) -> bool:
        """Whether it shares a line with `place`, where it is shown or where it applies."""
        return self.shown_at.touches_lines_of(place) or self.range.touches_lines_of(place)

    @property
    def hash(self) -> str:
        """Names the content, so that an accept can refuse what was replaced meanwhile."""
        content = "\0".join((self.uri, self.new_uri, self.kind, self.old, self.new))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One turn's wish for one file; a move has its links in other files with it.

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
    """As `dataclasses.replace`, in a seventh of the time: a decision about a thousand hunks makes
    several thousand copies while the event loop waits.
    """
    assert changes.keys() <= Hunk.__dataclass_fields__.keys(), "a hunk has only its fields"
    copied = object.__new__(Hunk)
    # A copy shares its keys with all other hunks; what is put together does not.
    fields = hunk.__dict__.copy()
    fields.update(changes)
    object.__setattr__(copied, "__dict__", fields)
    return copied
