"""The blocks of a note, told apart by a CommonMark parser; what is inside a paragraph is left as it is."""

from functools import lru_cache
from typing import Any, TypeAlias

from stet.notes.front_matter import find_front_matter
from stet.text.lines import n_breaks, split_lines

MAX_CHARACTERS = 1_000_000
"""A longer note is not read: no person wrote it."""
MAX_LINES = 30_000
"""Nor is one of more lines: each may be a block of its own."""
MAX_PIPES = 20_000
"""In a note with more, tables are not told apart: each cell is a block of its own."""

Token: TypeAlias = Any
"""A token of the parser: `type`, `content`, `map` (first line and end, 0-based)."""


def parse_blocks(text: str) -> tuple[list[Token], int]:
    """Return the blocks of a note below its front matter, and the number of lines above them."""
    if len(text) > MAX_CHARACTERS or n_breaks(text) > MAX_LINES:
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
    # Only a note that may need it pays for the library.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(["inline", "text_join"])
    return parser.enable("table") if has_tables else parser
