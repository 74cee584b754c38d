"""One change of the world as an editor reports it: a document opened, changed, saved or closed.

All four are one value that goes through one function, `Workspace.apply`, so there is one order of
events and one place where the world changes.
"""

from dataclasses import dataclass, field
from enum import Enum

FULL_TEXT = -1
"""`start_line` of a `WireEdit` that replaces the whole document."""


class ModificationKind(Enum):
    """What happened to the document."""

    OPENED = "opened"
    CHANGED = "changed"
    SAVED = "saved"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class WireEdit:
    """One content change, as it came over the wire.

    Attributes:
        start_line: 0-based; `FULL_TEXT` where `text` is the whole new document.
        start_units: From the start of the line, in units of the negotiated encoding.
        end_line: 0-based; half-open like the protocol's ranges.
        end_units: As `start_units`.
        text: What stands there now.
    """

    start_line: int
    start_units: int
    end_line: int
    end_units: int
    text: str

    @classmethod
    def full(cls, text: str) -> "WireEdit":
        """Return the change that makes `text` the whole document."""
        return cls(FULL_TEXT, 0, FULL_TEXT, 0, text)


@dataclass(frozen=True, slots=True)
class Modification:
    """What an editor did to one document.

    Attributes:
        kind: What happened.
        uri: As the editor spells it.
        version: The editor's; None where the notification has none (saved, closed).
        language_id: As the editor calls it; opened only.
        text: The whole text: always with opened, sometimes with saved.
        edits: Changed only; each relative to what the one before left.
        lines: Opened only: the lines of the text, if it has been split already; taken over, not copied.
    """

    kind: ModificationKind
    uri: str
    version: int | None = None
    language_id: str = ""
    text: str | None = None
    edits: tuple[WireEdit, ...] = ()
    lines: list[str] | None = field(default=None, compare=False, repr=False)
