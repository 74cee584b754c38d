"""What block matching returns."""

from dataclasses import dataclass
from enum import Enum

from stet.text.edit import TextEdit


class MatchKind(Enum):
    """Which step of the ladder found the block; the value completes "found ..."."""

    EXACT = "exactly"
    SEEN = "exactly, in the text shown"
    MERGED = "in the text shown, and merged with what the user changed there since"
    TRAILING_SPACE = "up to trailing white space"
    INDENT = "up to the indent"
    PUNCTUATION = "up to typographic punctuation"


@dataclass(frozen=True, slots=True)
class BlockMatch:
    """A block that was found.

    Attributes:
        edit: What to do with the live text.
        kind: Which step of the ladder found it.
    """

    edit: TextEdit
    kind: MatchKind
