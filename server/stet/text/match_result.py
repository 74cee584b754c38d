"""Results and errors of block matching; every message says what to do next.

MatchError
├── BlockNotFound              the old text is not there; the closest text is quoted
│   └── BlockChangedByUser     the old text was shown, and the user has changed it since
├── AmbiguousBlock             the old text is there more than once
├── EditAlreadyApplied         the new text is there already: nothing is left to do
└── UnclearEdit                the request itself cannot be carried out safely

Lines are counted from 1.
"""

from dataclasses import dataclass
from enum import Enum

from stet.text.edit import TextEdit


class MatchKind(Enum):
    """The step that found a block; the value completes "found ..."."""

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
        edit: The edit of the live text.
        kind: The step that found the block.
    """

    edit: TextEdit
    kind: MatchKind


_MAX_SHOWN = 60
"""The maximum number of lines of the closest text in a message."""


class MatchError(Exception):
    """The block cannot be replaced; nothing was changed."""


class BlockNotFound(MatchError):
    """The old text is not in the document."""

    def __init__(
        self, closest: str = "", first_line: int = 0, last_line: int = 0, why: str = ""
    ) -> None:
        """Name the most similar lines, `closest`: 1-based, the last one inclusive; "" for none."""
        message = why or "The old text is not in the file."
        if closest:
            lines = closest.split("\n")
            shown = lines if len(lines) <= _MAX_SHOWN else [*lines[:_MAX_SHOWN], "..."]
            text = "\n".join(shown)
            message += (
                f" The closest text is in lines {first_line}-{last_line}:\n{text}\nRepeat the "
                "old text exactly as shown there, without line numbers."
            )
        elif not why:
            message += " Nothing in the file is like it: read the file again."
        super().__init__(message)


class BlockChangedByUser(BlockNotFound):
    """The old text was shown, and the user has changed that place since."""

    def __init__(self, closest: str, first_line: int, last_line: int) -> None:
        done = f"removed this text (it was at line {first_line})"
        if closest:
            done = f"changed this text (now lines {first_line}-{last_line})"
        why = (
            f"The user has {done} since you read it. Read it again and edit the current text, if "
            "the edit is still wanted."
        )
        super().__init__(closest, first_line, last_line, why)


class AmbiguousBlock(MatchError):
    """The old text is there more than once.

    Attributes:
        lines: The first line of each place (1-based), in order.
    """

    def __init__(self, lines: tuple[int, ...]) -> None:
        self.lines = lines
        shown = ", ".join(map(str, lines[:20])) + (", ..." if len(lines) > 20 else "")
        super().__init__(
            f"The old text is there {len(lines)} times, at lines {shown}. "
            "Add lines before or after it until it is unique."
        )


class EditAlreadyApplied(MatchError):
    """The new text is there already, and the old text is not.

    Attributes:
        line: The first line of the new text (1-based).
    """

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"Line {line} already has the new text. Nothing is left to do here.")


class UnclearEdit(MatchError):
    """The request cannot be carried out safely; the message says why and what to send instead."""
