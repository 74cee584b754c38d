"""The layout of a chat document, and the places where text is inserted into it.

    # Stet: main

    ## You

    What does this do?

    ## Stet (t1)

    It adds two numbers.

    *completed · 120 tokens · gpt-4.1*

    ## You

The user may change the document at any time. So nothing is replaced but the status line of a
running turn (`stet.chat.chat_status`): Stet inserts text at a place that it looks up in the current
text, and only headings mark the parts. The user's text stays in its place, to the last character.

`ChatSections` finds the headings once and follows each change, so a lookup of a part costs the same
in a short document and in a long one. A change of the number of lines moves all headings below it.
`ChatHeadings` does not renumber them one by one: all headings from one heading on (the gap) have a
common shift, which moves to the place where lines are added or removed. Lines and columns are
0-based, columns in code points.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.escape import escape
from stet.text.lines import line_end, without_end
from stet.text.position import Position, Range

_HEADING = re.compile(r"## (?:You|Stet \((?P<turn>[A-Za-z0-9]+)\))[ \t]*")


class ChatHeading(NamedTuple):
    """A heading that Stet has written.

    Attributes:
        line: The line of the heading, 0-based.
        turn: The id of the turn that the text below answers; empty for the user's text.
    """

    line: int
    turn: str


class ChatHeadings:
    """The headings of one document, in order."""

    def __init__(self, headings: Iterable[ChatHeading]) -> None:
        """Start with `headings`, in order."""
        self._headings = list(headings)
        self._gap = len(self._headings)
        self._shift = 0
        """The number that is added to the lines of the headings from `_gap` on."""

    def __len__(self) -> int:
        return len(self._headings)

    def __getitem__(self, index: int) -> ChatHeading:
        heading = self._headings[index]
        is_shifted = (index if index >= 0 else index + len(self)) >= self._gap
        return ChatHeading(heading.line + self._shift, heading.turn) if is_shifted else heading

    def __iter__(self) -> Iterator[ChatHeading]:
        return (self[nth] for nth in range(len(self)))

    def index_of_last(self, turn: str) -> int | None:
        """Return the index of the last heading of a turn; None if there is no heading."""
        for nth in range(len(self._headings) - 1, -1, -1):
            if self._headings[nth].turn == turn:
                return nth
        return None

    def replace_lines(self, first: int, before: Sequence[str], after: Sequence[str]) -> None:
        """Update the headings after a change of the text.

        Args:
            first: The first line that was replaced, 0-based.
            before: The replaced lines.
            after: The new lines.
        """
        found = list(find_headings(after, first))
        start, end = self._index_from(first), self._index_from(first + len(before))
        n_moved = len(after) - len(before)
        if not n_moved and not found and start == end:
            return
        self._move_gap(end)
        self._headings[start:end] = found
        self._gap = start + len(found)
        self._shift += n_moved

    def _index_from(self, line: int) -> int:
        """Return the index of the first heading at or after a line."""
        return bisect_left(range(len(self)), line, key=lambda nth: self[nth].line)

    def _move_gap(self, index: int) -> None:
        """Make the common shift begin at the heading `index`; no line changes."""
        low, high = sorted((index, self._gap))
        shift = self._shift if index > self._gap else -self._shift
        if shift:
            self._headings[low:high] = [
                ChatHeading(line + shift, turn) for line, turn in self._headings[low:high]
            ]
        self._gap = index


def find_headings(lines: Iterable[str], first: int = 0) -> Iterator[ChatHeading]:
    """Yield the headings in lines, of which the first has the number `first`."""
    for number, line in enumerate(lines, first):
        if line.startswith("## ") and (match := _HEADING.fullmatch(without_end(line))):
            yield ChatHeading(number, match["turn"] or "")


_ENDING_START = re.compile(r"\*(?:completed|failed|cancelled|limited)\b")


@dataclass(frozen=True, slots=True)
class ChatPart:
    """The text under one heading.

    Attributes:
        turn: The turn that the text answers; empty for the user's text.
        start: The line of the heading.
        body: The end of the heading's line.
        end: The end of the part's text, or `body` if there is no text.
    """

    turn: str
    start: int
    body: Position
    end: Position

    @property
    def is_empty(self) -> bool:
        """Whether the part has only blank space."""
        return self.end == self.body


class ChatSections:
    """The parts of one document. Its lines may be an editor's live ones: see `apply_changes`."""

    def __init__(self, lines: Sequence[str], headings: Iterable[ChatHeading] | None = None) -> None:
        """Create the parts of the text in `lines`, which include their line ends.

        Args:
            lines: The text.
            headings: The headings of the text, in order, if known; otherwise they are searched for.
        """
        self.lines = lines
        self.headings = ChatHeadings(find_headings(lines) if headings is None else headings)

    def apply_changes(self, changes: Iterable[TextChange]) -> None:
        """Update the headings after the text has changed; `lines` are the lines after all
        changes.
        """
        for change in changes:
            if change.splice is None:
                self.headings = ChatHeadings(find_headings(self.lines))
                return
        for change in changes:
            assert change.splice is not None, "looked at above"
            self.headings.replace_lines(*change.splice)

    def parts(self) -> Iterator[ChatPart]:
        """Return all parts, in order."""
        return (self.part(nth) for nth in range(len(self.headings)))

    def draft_line(self) -> int | None:
        """Return the line (0-based) of the heading of the user's draft.

        This is the last heading if it is the user's; otherwise return None.
        """
        return None if not self.headings or self.headings[-1].turn else self.headings[-1].line

    def draft(self) -> ChatPart | None:
        """Return the user's draft: the part under the last heading, if this is the user's.

        This searches for the end of the text; if the heading's line is enough, use `draft_line`.
        """
        return None if self.draft_line() is None else self.part(len(self.headings) - 1)

    def answer(self, turn: str) -> ChatPart | None:
        """Return the part under a turn's last heading; None if the user has deleted it."""
        nth = self.headings.index_of_last(turn)
        return None if nth is None else self.part(nth)

    def text_of(self, part: ChatPart) -> str:
        """Return the text of a part without surrounding blank space."""
        return "".join(self.lines_of(part)).strip()

    def lines_of(self, part: ChatPart) -> Sequence[str]:
        """Return the lines of a part below its heading, up to the last line that is not blank."""
        return self.lines[part.start + 1 : part.end.line + 1] if not part.is_empty else ()

    def end(self) -> Position:
        """Return the end of the last text in the document."""
        return self._last_text_position(-1, len(self.lines)) or Position(0, 0)

    @property
    def line_end(self) -> str:
        """The line end of the document's lines."""
        return line_end(self.lines[0]) or "\n"

    def part(self, nth: int) -> ChatPart:
        """Return the part under the heading with the index `nth`."""
        line, turn = self.headings[nth]
        end = self.headings[nth + 1].line if nth + 1 < len(self.headings) else len(self.lines)
        body = Position(line, len(without_end(self.lines[line])))
        return ChatPart(turn, line, body, self._last_text_position(line, end) or body)

    def text_end_before(self, part: ChatPart, line: int) -> Position:
        """Return the end of the text of a part above a line, or of its heading if there is none."""
        return self._last_text_position(part.start, line) or part.body

    def _last_text_position(self, above: int, below: int) -> Position | None:
        """Return the end of the last text between two lines; None if there is no text."""
        for line in range(below - 1, above, -1):
            text = self.lines[line].rstrip()
            if text:
                return Position(line, len(text))
        return None


def has_ended(lines: Iterable[str]) -> bool:
    """Return whether the text of a turn has its last line."""
    return any(line.startswith("*") and _is_ending(line) for line in lines)


def _is_ending(line: str) -> bool:
    """Return whether a line begins and ends as the last line of a turn, with any text between."""
    start = _ENDING_START.match(line)
    return start is not None and without_end(line).rstrip(" \t").endswith("*", start.end())


YOU = "## You"
LINES_AT_ONCE = 1_000
"""The number of lines of the user's draft that are compared with a sent message at a time."""
_START = r"(?:\A|(?<=[\r\n]))"  # of a line, however lines end
_LIKE_HEADING = re.compile(rf"{_START}(?=## (?:You|Stet \()[^\r\n]*|\*… )")
"""The start of a line that would be a heading of Stet or its status line (`chat_status`)."""
_PICTURE = re.compile(r"!(?=\[)")
_LINK = re.compile(r"\](?=\((?!https?://)|:)", re.IGNORECASE)
"""The middle of a link that leads to no web page, or of a link's or a picture's definition."""
_HTML = re.compile(
    r"<(?=(?:i(?:mg|frame|mage)|svg|math|video|audio|embed|object|script|style|picture|source|link|meta|base"
    r"|form|input|body|table)\b|[a-z](?:[\w.+-]{60}|[\w.+-]{0,59}(?:[\s/]|:(?!:))))",
    re.IGNORECASE,
)
"""The start of a tag that loads a resource or has attributes, or of an address in brackets."""
_UNSETTLED = re.compile(
    r"(?:!|\](?:\([htps:/]{0,7})?|<(?:[A-Za-z][\w.+-]{0,60}:?)?|\r)\Z", re.IGNORECASE
)
"""Text that a following character may complete to a match of the patterns above."""
_INTRODUCTION = (
    "*Write below the last `## You` heading, then send it with a code action or `stet.send`.*"
)


@dataclass(frozen=True, slots=True)
class Insertion:
    """A text that is inserted at one place; only a status line is removed.

    Attributes:
        at: The place, in code points.
        text: The inserted text.
        end: The end of the status line that is removed; None if no text is removed.
    """

    at: Position
    text: str
    end: Position | None = None

    @property
    def range(self) -> Range:
        """The range that the text replaces."""
        return Range(self.at, self.end or self.at)

    def apply(self, text: str) -> str:
        """Return `text` with the insertion."""
        document = TextDocument("", text)
        start, end = map(document.offset_at, (self.range.start, self.range.end))
        return text[:start] + self.text + text[end:]


def new_document(chat: str) -> str:
    """Return the text of a new document."""
    return f"# Stet: {chat}\n\n{_INTRODUCTION}\n\n{YOU}\n\n"


def after_draft(document: ChatSections, text: str, turn: str) -> Insertion:
    """Return the insertion of an answer's heading after the sent text.

    A heading for the user's next words follows.

    Args:
        document: The present document.
        text: The sent text. The user may have added text since; the added text is then their next
            message.
        turn: The turn that answers.
    """
    line = document.draft_line()
    at = None if line is None else _position_after(document, line, text)
    if at is None:
        draft = document.draft()
        at = document.end() if draft is None else draft.end
    return Insertion(at, _lines(document, f"\n\n{_turn_suffix(turn)}\n\n{YOU}\n\n"))


def before_draft(document: ChatSections, question: str, turn: str) -> Insertion:
    """Return the insertion, before the user's draft, of a question that was not asked in the
    document, with its answer's heading.
    """
    new = f"{YOU}\n\n{escape_markdown(question).strip()}\n\n{_turn_suffix(turn)}\n\n"
    line = document.draft_line()
    if line is not None:
        return Insertion(Position(line, 0), _lines(document, new))
    at = document.end()
    gap = "" if at == Position(0, 0) else "\n\n"
    return Insertion(at, _lines(document, f"{gap}{new}{YOU}\n\n"))


def continue_answer(document: ChatSections, part: ChatPart, new: str) -> Insertion:
    """Return the insertion of the next piece of an answer after the part that is already
    written.
    """
    if part.is_empty:
        return Insertion(part.body, _lines(document, "\n\n" + new.lstrip()))
    return Insertion(part.end, _lines(document, new))


def escape_markdown(text: str) -> str:
    r"""Escape untrusted text: the result has no headings of Stet, no pictures and no actions.

    A viewer of the document would fetch a picture and so send the address to the picture's server;
    a link may run a command of the editor. A blank in between disables both after any text (another
    backslash would disable a backslash), and changes no code. Links to pages stay. The line feed is
    the only line end left.
    """
    text = _LIKE_HEADING.sub(r"\\", escape(text))
    return _PICTURE.sub("! ", _LINK.sub("] ", _HTML.sub("&lt;", text)))


def stable_length(text: str) -> int:
    """Return how many code points of an incomplete text can be shown: more text does not change
    their form after `escape_markdown`.
    """
    line = text.rfind("\n") + 1
    if text.startswith("#", line):
        return line
    unstable = _UNSETTLED.search(text)
    return unstable.start() if unstable else len(text)


def _turn_suffix(turn: str) -> str:
    return f"## Stet ({turn})"


def _position_after(document: ChatSections, heading: int, words: str) -> Position | None:
    """Return the end of `words` if the text below a heading begins with them.

    No more of the text is read than `words` are long, apart from blank lines before them.

    Args:
        document: The document as it is now.
        heading: The line of the heading, 0-based.
        words: The text to find at the beginning, without surrounding blank space.

    Returns:
        The position in code points; None if the text begins with other words.
    """
    lines = document.lines
    line = heading + 1
    while words and line < len(lines) and not lines[line].strip():
        line += 1
    if not words or line == len(lines):
        return None
    column = len(lines[line]) - len(lines[line].lstrip())
    n_found = 0
    # First compare many lines at a time, as long as all of them are part of the words.
    while line < len(lines):
        text = "".join(lines[line : line + LINES_AT_ONCE])[column:]
        if n_found + len(text) >= len(words) or not words.startswith(text, n_found):
            break
        line, column, n_found = line + LINES_AT_ONCE, 0, n_found + len(text)
    for number in range(line, min(line + LINES_AT_ONCE, len(lines))):
        text = lines[number][column : column + len(words) - n_found]
        if not words.startswith(text, n_found):
            return None
        n_found += len(text)
        if n_found == len(words):
            return Position(number, column + len(text)) if text[-1] not in "\r\n" else None
        column = 0
    return None


def _lines(document: ChatSections, new: str) -> str:
    """Return `new` with the line ends of the document."""
    end = document.line_end
    return new if end == "\n" else new.replace("\n", end)
