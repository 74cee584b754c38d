r"""A pending change that stands in the text itself, between lines of its own: the value.

A block takes the place of the lines that the change is about and says what they were and what they
would become. The line end behind its last line is that of the lines it stands for: it is not part
of what is written inside, so a block at the end of a text without a final line end has none either.
"""

from dataclasses import dataclass
from enum import Enum

from stet.text.lines import line_end


class BlockStyle(Enum):
    """What a block looks like."""

    FENCE = "fence"
    """A fenced `ai-edit` block of Markdown that holds JSON, and a tag (`stet.text.fenced_block`)."""
    MARKERS = "markers"
    """Conflict markers as git writes them (`stet.text.conflict_block`)."""


@dataclass(frozen=True, slots=True)
class BlockForm:
    r"""How a block is to be written at its place.

    Attributes:
        style: What it looks like.
        line_end: What its lines end with: that of the text, never `"\r"` in a text with `"\n"`.
        at_end: Whether nothing follows it in the text.
    """

    style: BlockStyle
    line_end: str
    at_end: bool


@dataclass(frozen=True, slots=True)
class InlineBlock:
    """A block found in a text.

    Attributes:
        id: Of the hunk it shows.
        first: Its first line, 0-based.
        end: The line behind its last one.
        before: The lines it stands for, as the block has them now; `""` for none.
        after: What they would become.
    """

    id: str
    first: int
    end: int
    before: str
    after: str


def closing_end(before: str, after: str, form: BlockForm) -> str | None:
    """Return the line end that `before` and `after` share, which becomes the block's line end.

    Returns:
        None where they have none and one is needed: such a change can't be shown as a block.
    """
    values = [value for value in (before, after) if value]
    ends = [line_end(value) for value in values]
    for end in (*ends, "\n"):
        if end and all(value.endswith(end) for value in values):
            return end
    return "" if form.at_end else None
