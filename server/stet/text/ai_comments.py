r"""Comments that instruct the agent: `AI!` (do it) and `AI?` (answer it), as in aider.

    # Say the name, too. AI!          done
    // AI? Why is this a list?        answered

The mark is at the beginning or the end of a line of the comment, in upper or lower case. Line
comments below each other, with the same sign and in the same column, are one comment: all of its
lines are the instruction, whichever has the mark.

`instruction_on_line` is called at every move of the cursor, so it searches only for fixed strings.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from stet.text.edit import Replacement
from stet.text.lines import split_lines
from stet.text.sequence import split_when

AT_START = re.compile(r"AI([!?])(?=[\s:,.]|$)[\s:,.]*", re.IGNORECASE)
"""The mark at the beginning of a comment's text, with the separator after it."""
BLOCKS = (
    ("/*", "*/"), ("<!--", "-->"), ("(*", "*)"), ("{-", "-}"), ("--[[", "]]"), ("#|", "|#"),
    ("#=", "=#"), ("<#", "#>"), ("%{", "%}"), ("{#", "#}"), ("{{!--", "--}}"), ("{{!", "}}"),
    ("<%--", "--%>"), ("<%#", "%>"), ("=begin", "=end"), ("@*", "*@"), ("/+", "+/"), ("#[", "]#"),
    ("{", "}"),
)  # fmt: skip
"""The opening and the closing sign of block comments, in many languages."""


class Marker(StrEnum):
    """The kind of instruction that a comment contains."""

    DO = "AI!"
    """The agent carries the instruction out."""
    ANSWER = "AI?"
    """The agent answers the question."""


_AT_END = re.compile(r"(?<!\w)AI([!?])$", re.IGNORECASE)
_SIGN = re.compile(r"//+!?|#+[!:]?|--+|;+|%+|(?:rem|dnl)\b|[^\w\s]+", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_LONG_BRACKET = re.compile(r"--\[(=*)\[")


@dataclass(frozen=True, slots=True)
class AiComment:
    """A comment that instructs the agent.

    Attributes:
        marker: The kind of instruction.
        text: The text without signs and marks; empty if there is no other text.
        start: The offset of the comment's sign in the text (code points).
        end: The offset after the comment's last character, before the line end (code points).
    """

    marker: Marker
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _CommentLine:
    """A block comment, or one line of a line comment.

    Attributes:
        start: The offset of the first character (code points).
        end: The offset after the last character (code points).
        lines: The lines of the text, without signs.
        line: The line number, 0-based; -1 for a block comment.
        column: The column of the sign (code points, 0-based).
        sign: The comment sign; empty for a block comment.
        is_alone: Whether the line has no text before the comment.
    """

    start: int
    end: int
    lines: tuple[str, ...]
    line: int = -1
    column: int = 0
    sign: str = ""
    is_alone: bool = False


def find_ai_comments(text: str, comments: Iterable[tuple[int, int]]) -> tuple[AiComment, ...]:
    """Return the instructions among the comments of `text`, in order.

    Args:
        text: The whole text.
        comments: The offsets of the comments (code points, half-open), in order, disjoint.
            Consecutive line comments may be given as one.
    """
    groups = split_when(_comment_lines(text, comments), _is_split)
    return tuple(filter(None, map(_parse_group, groups)))


def removal_edit(text: str, start: int, end: int) -> Replacement:
    """Return the edit that removes a comment from `text`: whole lines if they contain nothing else.

    Otherwise the edit also removes the white space before the comment, or after a comment that
    begins the line.
    """
    first = _line_start(text, start)
    line_end = _LINE_END.search(text, end)
    last = line_end.start() if line_end else len(text)
    before, after = text[first:start], text[end:last]
    if before.strip():
        return Replacement(first + len(before.rstrip()), end if after.strip() else last, "")
    if after.strip():
        return Replacement(start, end + len(after) - len(after.lstrip()), "")
    return Replacement(first, line_end.end() if line_end else last, "")


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _parse_group(group: Sequence[_CommentLine]) -> AiComment | None:
    lines, marks = [], set()
    for line in (line for piece in group for line in piece.lines):
        content, found = _without_marks(line)
        lines.append(content)
        marks |= found
    if not marks:
        return None
    marker = Marker.DO if Marker.DO in marks else Marker.ANSWER
    return AiComment(marker, "\n".join(lines).strip(), group[0].start, group[-1].end)


def _without_marks(line: str) -> tuple[str, set[Marker]]:
    found = set()
    if begins := AT_START.match(line):
        found.add(Marker(f"AI{begins[1]}"))
        line = line[begins.end() :]
    if ends := _AT_END.search(line):
        found.add(Marker(f"AI{ends[1]}"))
        line = line[: ends.start()].rstrip()
    return line, found


def _is_split(before: _CommentLine, piece: _CommentLine) -> bool:
    """Return whether `piece` does not continue the comment `before`."""
    is_next = before.line >= 0 and piece.line == before.line + 1 and piece.is_alone
    return not is_next or (piece.column, piece.sign) != (before.column, before.sign)


def _comment_lines(text: str, comments: Iterable[tuple[int, int]]) -> Iterator[_CommentLine]:
    starts = list(accumulate(map(len, split_lines(text)), initial=0))
    for start, end in comments:
        raw = text[start:end]
        if (inner := _block_comment_lines(raw)) is not None:
            yield _CommentLine(start, start + len(raw.rstrip()), inner)
            continue
        at = start
        for line in split_lines(raw):
            if content := line.strip():
                begins = at + len(line) - len(line.lstrip())
                number = bisect_right(starts, begins) - 1
                before = text[starts[number] : begins]
                sign = found[0] if (found := _SIGN.match(content)) else ""
                lines = (content[len(sign) :].strip(),)
                place = (begins, begins + len(content))
                yield _CommentLine(*place, lines, number, len(before), sign, not before.strip())
            at += len(line)


def _block_comment_lines(raw: str) -> tuple[str, ...] | None:
    """Return the lines of a block comment; None for any other comment."""
    raw = raw.strip()
    pairs: Sequence[tuple[str, str]] = BLOCKS
    if bracket := _LONG_BRACKET.match(raw):
        pairs = ((bracket[0], f"]{bracket[1]}]"),)
    for opening, closing in pairs:
        is_long = len(raw) >= len(opening) + len(closing)
        if is_long and raw.startswith(opening) and raw.endswith(closing):
            inner = raw[len(opening) : -len(closing)]
            if opening == "/*":
                inner = inner.lstrip("*!").rstrip("*")
                return tuple(_undecorated(line) for line in split_lines(inner))
            return tuple(line.strip() for line in split_lines(inner))
    return None


def _undecorated(line: str) -> str:
    """Return a line of a comment without its decoration, as in `* text`."""
    content = line.strip()
    bare = content.lstrip("*")
    return bare.strip() if not bare or bare[0].isspace() else content


MAX_LINE = 2000
"""Code points at the end of a line that `instruction_on_line` searches for a mark."""
MAX_CLOSING = 8
"""Code points of text after the mark that may close a comment."""

_SIGNS = ("#", "//", "--", ";", "%", "/*", "<!--", "(*", "{-", "{#")
"""Signs that begin a comment, anywhere in a line."""
_SIGNS_AT_START = ("*", '"', "'", "!", "..", "rem ", "dnl ")
"""Signs that begin a comment only at the beginning of a line."""
_CLOSINGS = tuple(closing for _, closing in BLOCKS if not closing[0].isalpha())
_MAX_MARKS = 4
"""The maximum number of marks on a line that are checked."""


def instruction_on_line(line: str) -> tuple[Marker | None, str]:
    """Return the mark of a comment on this line, and its text without sign and mark, by a quick
    check. Return None and "" for a line without a mark.

    A string that looks like a comment is treated as a comment. A line of a comment whose sign is on
    another line counts only if the line contains the comment's end.
    """
    line = line[-MAX_LINE:].strip()
    folded = line.lower()
    places = [place for mark in ("ai!", "ai?") if (place := folded.rfind(mark)) >= 0]
    if not places:
        return None, ""
    at = max(places)
    before, after = line[:at], line[at + 3 :].strip()
    is_end = not after or (len(after) <= MAX_CLOSING and after.endswith(_CLOSINGS))
    if is_end and not (before[-1:].isalnum() or before[-1:] == "_"):
        signs = [place + len(sign) for sign in _SIGNS if (place := before.find(sign)) >= 0]
        signs += [len(sign) for sign in _SIGNS_AT_START if folded.startswith(sign)]
        if signs or after:
            return Marker(f"AI{line[at + 2]}"), before[min(signs, default=0) :].strip(" \t*!")
    return _instruction_at_start(line, folded)


def _instruction_at_start(line: str, folded: str) -> tuple[Marker | None, str]:
    """Return the same as `instruction_on_line`, for a mark right after the sign."""
    at = -1
    for _ in range(_MAX_MARKS):
        places = [folded.find(mark, at + 1) for mark in ("ai!", "ai?")]
        at = min((place for place in places if place >= 0), default=-1)
        if at < 0:
            break
        before, content = folded[:at].rstrip(), line[at + 3 :]
        is_begun = before.endswith(_SIGNS) or before in {one.strip() for one in _SIGNS_AT_START}
        if is_begun and (begins := AT_START.match(line, at)):
            closing = next((one for one in _CLOSINGS if content.endswith(one)), "")
            return Marker(f"AI{line[at + 2]}"), line[begins.end() :].removesuffix(closing).strip()
    return None, ""
