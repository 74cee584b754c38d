"""A chat document by its headings: where each part begins and ends, found without reading the whole.

The headings are looked for once and follow each change, so that asking for a part costs the same in a
short document and in a long one. Places are lines and columns in code points, 0-based.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stet.chat.chat_headings import ChatHeading, ChatHeadings, find_headings
from stet.text.change import TextChange
from stet.text.lines import line_end, split_lines, without_end
from stet.text.position import Position

_ENDING_START = re.compile(r"\*(?:completed|failed|cancelled|limited)\b")


@dataclass(frozen=True, slots=True)
class ChatPart:
    """What stands under one heading.

    Attributes:
        turn: Whose answer it is; empty for the user's words.
        start: The line of the heading.
        body: Where the line of the heading ends.
        end: Where the last of its text ends, or `body` where there is none.
    """

    turn: str
    start: int
    body: Position
    end: Position

    @property
    def is_empty(self) -> bool:
        """Whether nothing but blank space stands there."""
        return self.end == self.body


class ChatSections:
    """The parts of one document. Its lines may be an editor's live ones: then `follow` each change."""

    def __init__(self, lines: Sequence[str], headings: Iterable[ChatHeading] | None = None) -> None:
        """Create the parts of the text in `lines`, which include their line ends.

        Args:
            lines: The text.
            headings: Those in it, in order, where they are known; else they are looked for.
        """
        self.lines = lines
        self.headings = ChatHeadings(find_headings(lines) if headings is None else headings)

    @classmethod
    def of(cls, text: str) -> "ChatSections":
        """Return the parts of a text."""
        return cls(split_lines(text))

    def apply_changes(self, changes: Iterable[TextChange]) -> None:
        """Update the headings after the text has changed; `lines` are the lines after all changes."""
        for change in changes:
            if change.splice is None:
                self.headings = ChatHeadings(find_headings(self.lines))
                return
        for change in changes:
            assert change.splice is not None, "looked at above"
            self.headings.replace_lines(*change.splice)

    def parts(self) -> Iterator[ChatPart]:
        """All of them, in order."""
        return (self._part(nth) for nth in range(len(self.headings)))

    def draft_line(self) -> int | None:
        """Return the line (0-based) of the heading under which the user is writing.

        That is the last heading, if it is the user's; otherwise there is none.
        """
        return None if not self.headings or self.headings[-1].turn else self.headings[-1].line

    def draft(self) -> ChatPart | None:
        """Return what the user is writing: under the last heading, if that is theirs.

        It looks for the end of the text; where the line of the heading is enough, use `draft_line`.
        """
        return None if self.draft_line() is None else self._part(len(self.headings) - 1)

    def answer(self, turn: str) -> ChatPart | None:
        """Where an answer goes on: under the last heading of its turn; None if that is gone."""
        nth = self.headings.index_of_last(turn)
        return None if nth is None else self._part(nth)

    def text_of(self, part: ChatPart) -> str:
        """Return the text of a part without surrounding blank space."""
        return "".join(self.lines_of(part)).strip()

    def lines_of(self, part: ChatPart) -> Sequence[str]:
        """Return the lines of a part below its heading, up to the last line that is not blank."""
        return self.lines[part.start + 1 : part.end.line + 1] if not part.is_empty else ()

    def written(self, turn: str) -> str:
        """All that stands under the headings of a turn."""
        texts = (self.text_of(part) for part in self.parts() if part.turn == turn)
        return "\n\n".join(filter(None, texts))

    def end(self) -> Position:
        """Where the last of all text ends."""
        return self._last_text_position(-1, len(self.lines)) or Position(0, 0)

    @property
    def line_end(self) -> str:
        """What the lines of the document end with."""
        return line_end(self.lines[0]) or "\n"

    def _part(self, nth: int) -> ChatPart:
        line, turn = self.headings[nth]
        end = self.headings[nth + 1].line if nth + 1 < len(self.headings) else len(self.lines)
        body = Position(line, len(without_end(self.lines[line])))
        return ChatPart(turn, line, body, self._last_text_position(line, end) or body)

    def _last_text_position(self, above: int, below: int) -> Position | None:
        """Where the last text between two lines ends; None if there is none."""
        for line in range(below - 1, above, -1):
            text = self.lines[line].rstrip()
            if text:
                return Position(line, len(text))
        return None


def has_ended(lines: Iterable[str]) -> bool:
    """Whether what stands of a turn has its last line."""
    return any(line.startswith("*") and _is_ending(line) for line in lines)


def _is_ending(line: str) -> bool:
    """Return whether a line begins and ends as the last line of a turn, whatever is in between."""
    start = _ENDING_START.match(line)
    return start is not None and without_end(line).rstrip(" \t").endswith("*", start.end())
