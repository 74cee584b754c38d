"""The parts of a note: its YAML front matter, its blocks and its headings.

A CommonMark parser separates the blocks; the text inside a paragraph is left unchanged.
"""

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from stet.text.lines import n_breaks, split_lines

MAX_CHARACTERS = 64 * 1024
"""A longer front matter, in code points, is not read: it is generated."""
MAX_NOTE_CHARACTERS = 1_000_000
"""A longer note, in code points, is not read: it is generated."""
MAX_LINES = 30_000
"""A note with more lines is not read: each line may be a separate block."""
MAX_PIPES = 20_000
"""Tables are not parsed in a note with more `|`: each cell is a separate block."""
MAX_TITLE = 200

_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)

Token: TypeAlias = Any
"""A token of the parser: `type`, `content`, `map` (first line and end, 0-based)."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML between the opening and the closing line of a front matter.

    Attributes:
        yaml: The text between the two lines, with its last line end.
        start: The start of the YAML, in code points of the whole text.
    """

    yaml: str
    start: int

    @property
    def end(self) -> int:
        """The start of the closing line, in code points of the whole text."""
        return self.start + len(self.yaml)


def find_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of `text`, or None if it is missing or has no end."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARACTERS)
    if closing is None:
        return None
    return FrontMatter(text[opening.end() : closing.start()], opening.end())


@dataclass(frozen=True, slots=True)
class NoteHeading:
    """A heading: its line (1-based), its level (1-6) and its text on one line."""

    line: int
    level: int
    title: str


def parse_blocks(text: str) -> tuple[list[Token], int]:
    """Return the blocks of a note below its front matter, and the number of lines above them."""
    if len(text) > MAX_NOTE_CHARACTERS or n_breaks(text) > MAX_LINES:
        return [], 0
    front = find_front_matter(text)
    above = 0
    if front is not None:
        above = len(split_lines(text[: front.end]))
        text = "".join(split_lines(text[front.end :])[1:])
    parser = block_parser(has_tables=text.count("|") <= MAX_PIPES)
    return parser.parse(text.removeprefix("\ufeff")), above


@lru_cache(maxsize=2)
def block_parser(*, has_tables: bool = True) -> Token:
    """Return the parser of `parse_blocks`."""
    # Imported late: not all notes need the library.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(["inline", "text_join"])
    return parser.enable("table") if has_tables else parser


def headings_in(text: str) -> tuple[NoteHeading, ...]:
    """Return the headings of a note, in order of position."""
    tokens, above = parse_blocks(text)
    return tuple(
        NoteHeading(
            above + opening.map[0] + 1,
            int(opening.tag[1]),
            " ".join(inside.content[: 2 * MAX_TITLE].split())[:MAX_TITLE],
        )
        for opening, inside in itertools.pairwise(tokens)
        if opening.type == "heading_open"
    )
