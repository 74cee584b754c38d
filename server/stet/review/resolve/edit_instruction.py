"""Edit instructions by position, such as `replace:3-5`, `after:## Setup` and `end`.

Lines are 1-based, as `read_file` numbers them, and refer to the text the model was shown;
`stet.review.resolve.edit_resolver` rebases the result onto the current text.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import dominant_line_end, line_end, line_ends, without_end
from stet.text.position import Position
from stet.text.reindent import adopt_known_line_ends

POSITIONS = (
    "start, end, after:## Heading, insert:N, replace:N, replace:N-M, delete:N, delete:N-M, create, "
    "open"
)
_LINES = re.compile(r"(insert|replace|delete):\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?")
_MARKS = re.compile(r"(#{1,6})(?:\s|$)")


class InvalidInstruction(Exception):
    """The instruction can't be executed; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class EditInstruction:
    """A parsed position.

    Attributes:
        kind: The kind of the edit.
        first: The first line, 1-based; 0 if the kind has no line.
        last: The last line, 1-based, included.
        heading: The heading of `after` as written, with its parents before it.
    """

    kind: Literal["start", "end", "after", "insert", "replace", "delete", "create"]
    first: int = 0
    last: int = 0
    heading: str = ""


def parse_instruction(position: str) -> EditInstruction:
    """Parse a position.

    Raises:
        InvalidInstruction: If it is not one of `POSITIONS`.
    """
    text = position.strip()
    match text:
        case "start" | "end" | "create":
            return EditInstruction(text)
    if text.startswith("after:") and (heading := text.removeprefix("after:").strip()):
        return EditInstruction("after", heading=heading)
    if found := _LINES.fullmatch(text):
        kind, first, last = found[1], int(found[2]), int(found[3] or found[2])
        if kind == "insert" and found[3]:
            raise InvalidInstruction(
                f"{position!r}: `insert` takes one line number, `insert:{first}`."
            )
        if first < 1 or last < first:
            raise InvalidInstruction(
                f"{position!r}: lines count from 1, and the first is not after the last."
            )
        return EditInstruction(kind, first, last)  # type: ignore[arg-type]  # the pattern's three words
    raise InvalidInstruction(f"There is no position {position!r}. Use one of: {POSITIONS}.")


def resolve_instruction(
    instruction: EditInstruction, content: str, shown: TextDocument
) -> TextEdit:
    """Return the edit that an instruction means in the text that the model was shown.

    `content` is written as whole lines with the file's line ends; an empty `content` is no line.

    Raises:
        InvalidInstruction: If the lines or the heading do not exist.
    """
    match instruction.kind:
        case "replace" | "delete":
            return _replace_lines(instruction, content, shown)
        case "insert":
            if instruction.first > shown.n_lines + 1:
                raise InvalidInstruction(
                    f"insert:{instruction.first} is past the end: the text has {shown.n_lines} "
                    f"lines, and insert:{shown.n_lines + 1} appends."
                )
            return _insert(shown, instruction.first - 1, content)
        case "start" | "end" | "after":
            return _insert(shown, instruction_line(instruction, shown) - 1, content)
        case "create":
            raise InvalidInstruction("The file already exists; edit it, or create another one.")


def instruction_line(instruction: EditInstruction, shown: TextDocument) -> int:
    """Return the line (1-based) at which the instruction's content would begin.

    Raises:
        InvalidInstruction: If the heading does not exist.
    """
    match instruction.kind:
        case "start":
            return _after_front_matter(shown) + 1
        case "end":
            return shown.n_lines + 1
        case "after":
            return find_section(shown, instruction.heading)[0] + 1
    return instruction.first


def find_section(shown: TextDocument, heading: str) -> tuple[int, int]:
    """Return the lines (0-based, half-open) from a Markdown heading to the next one.


    Args:
        shown: The text that the model was shown.
        heading: The heading as the model wrote it: `## Setup`, or `## A > ### B`.

    Raises:
        InvalidInstruction: If there is not exactly one such heading; the message lists the
            headings.
    """
    headings = _headings(shown)
    path = [_HeadingName.of(part) for part in re.split(r"\s+>\s+(?=#)", heading)]
    found = [span for span, parents in headings if _ends_with(parents, path)]
    if len(found) == 1:
        first = found[0][1]
        return first, next((span[0] for span, _ in headings if span[0] >= first), shown.n_lines)
    if found:
        lines = ", ".join(str(first + 1) for first, _ in found)
        raise InvalidInstruction(
            f"The heading {heading!r} is at lines {lines}. Add its parent, as in `after:## "
            "Parent > ### Heading`, or use `insert:N`."
        )
    known = "; ".join(str(parents[-1]) for _, parents in headings[:20]) or "none"
    raise InvalidInstruction(f"There is no heading {heading!r}. The headings are: {known}.")


@dataclass(frozen=True, slots=True)
class _HeadingName:
    """A heading: its level from 1 (0 if not written) and its words."""

    level: int
    words: str

    @classmethod
    def of(cls, written: str) -> "_HeadingName":
        """Parse a heading that a model wrote: `## Setup`, `## Setup ##` or `Setup`."""
        marks = _MARKS.match(written.strip())
        level = len(marks[1]) if marks else 0
        words = re.sub(r"\s#+$", "", written.strip()) if level else written
        return cls(level, " ".join(words.split()[1 if level else 0 :]))

    def is_named_by(self, other: "_HeadingName") -> bool:
        """Return whether the written heading `other` means this heading."""
        return self.words == other.words and other.level in (0, self.level)

    def __str__(self) -> str:
        return f"{'#' * self.level} {self.words}"


_Chain = tuple[_HeadingName, ...]


def _ends_with(parents: _Chain, path: list[_HeadingName]) -> bool:
    """Return whether `path` names the last of `parents`, after some of the others in order."""
    if not parents[-1].is_named_by(path[-1]):
        return False
    rest = iter(parents[:-1])
    return all(any(title.is_named_by(part) for title in rest) for part in path[:-1])


def _headings(shown: TextDocument) -> list[tuple[tuple[int, int], _Chain]]:
    """Return the lines (0-based, half-open) and the chain, outermost first, of each heading."""
    # Late: only instructions with a heading need the parser.
    from markdown_it import MarkdownIt

    found: list[tuple[tuple[int, int], _Chain]] = []
    chain: _Chain = ()
    # The parser splits lines as CommonMark does: pass the document's lines, so that the numbers
    # agree, and without front matter, which would be parsed as a heading.
    skipped = _after_front_matter(shown)
    lines = [line.rstrip("\r\n") for line in shown.lines]
    source = "\n".join(["" for _ in lines[:skipped]] + lines[skipped:])
    for token, inline in pairwise(MarkdownIt("commonmark").parse(source)):
        if token.type != "heading_open" or token.map is None or token.level:
            continue
        title = _HeadingName(int(token.tag[1]), " ".join(inline.content.split()))
        chain = (*(each for each in chain if each.level < title.level), title)
        found.append(((token.map[0], token.map[1]), chain))
    return found


def _after_front_matter(shown: TextDocument) -> int:
    """Return the first line (0-based) after the YAML front matter; 0 if there is none."""
    is_yaml = shown.language_id == "yaml" or shown.uri.endswith((".yaml", ".yml"))
    if is_yaml or shown.lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(shown.lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
    return 0


def _replace_lines(instruction: EditInstruction, content: str, shown: TextDocument) -> TextEdit:
    if instruction.last > shown.n_lines:
        raise InvalidInstruction(
            f"{instruction.kind}:{instruction.first}-{instruction.last} is past the end: the text "
            f"has {shown.n_lines} lines."
        )
    start = shown.offset_at(Position(instruction.first - 1, 0))
    end = shown.offset_at(shown.clamp(Position(instruction.last, 0)))
    if instruction.kind == "delete":
        return TextEdit((Replacement(start, end, ""),))
    last_end = line_end(shown.lines[instruction.last - 1])
    text = _as_lines(content, shown, closed=bool(last_end))
    if text and len(line_ends(shown.text)) > 1:
        text = adopt_known_line_ends(text, (shown.text[start:end],), dominant_line_end(shown.text))
        text = without_end(text) + last_end if last_end else text
    return TextEdit((Replacement(start, end, text),))


def _insert(shown: TextDocument, line: int, content: str) -> TextEdit:
    """Return the insertion of `content` as whole lines before `line` (0-based), or at the end."""
    if line < shown.n_lines:
        offset = shown.offset_at(Position(line, 0))
        return TextEdit((Replacement(offset, offset, _as_lines(content, shown, closed=True)),))
    offset = len(shown.text)
    if content and shown.text and not line_end(shown.lines[shown.n_lines - 1]):
        # A text without a final line end keeps none.
        text = dominant_line_end(shown.text) + _as_lines(content, shown, closed=False)
    else:
        text = _as_lines(content, shown, closed=True)
    return TextEdit((Replacement(offset, offset, text),))


def _as_lines(content: str, shown: TextDocument, *, closed: bool) -> str:
    """Return `content` with the file's line ends; if `closed`, with a final line end."""
    if not content:
        return ""
    end = dominant_line_end(shown.text)
    lines = re.split(r"\r\n|\n|\r", content)
    if lines[-1] == "":
        lines.pop()
    return end.join(lines) + (end if closed else "")
