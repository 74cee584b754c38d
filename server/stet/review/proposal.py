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


LIVE = frozenset({HunkState.PENDING, HunkState.SENT, HunkState.CONFLICT})
"""States in which a hunk still follows its document."""


class HunkKind(StrEnum):
    """What a hunk does to its file."""

    ADD = "add"
    REPLACE = "replace"
    DELETE = "delete"
    CREATE = "create"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One decision for the user.

    Attributes:
        id: Unique in the ledger.
        proposal: The proposal it is part of.
        turn: The turn that made it.
        uri: Its file, as the editor spells it.
        kind: What it does.
        state: Where it is on its way.
        range: What it replaces, in code points of the current text; empty for `ADD` and `CREATE`.
        old: The text it was made against; it applies only while that stands at `range`.
        new: What it would write there.
        summary: One line for the user.
        group: Hunks with the same group are one thing to a reader.
        author: The model that made it.
        protected: Whether it needs a yes of its own (`stet.review.protected`).
        reason: Why it is in its state, where there is something to say.
    """

    id: str
    proposal: str
    turn: str
    uri: str
    kind: HunkKind
    state: HunkState
    range: Range
    old: str
    new: str
    summary: str
    group: str
    author: str
    protected: bool = False
    reason: str = ""

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
        content = "\0".join((self.uri, self.kind, self.old, self.new))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One turn's wish for one file.

    Attributes:
        id: Unique in the ledger.
        turn: The turn that made it.
        uri: Its file.
        hunks: Ids, in the order they were made.
    """

    id: str
    turn: str
    uri: str
    hunks: tuple[str, ...]
