"""The parts of a note: its YAML front matter with the note's other names, and its blocks.

A CommonMark parser separates the blocks; the text inside a paragraph is left unchanged.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from stet.notes.yaml_text import unquote_name
from stet.text.lines import n_breaks, split_lines

MAX_CHARACTERS = 64 * 1024
"""A longer front matter is not read: no person wrote it."""

_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_QUOTED = r"\"(?P<double>(?:[^\"\\\r\n]|\\.){0,500}+)\"|'(?P<single>(?:[^'\r\n]|''){0,500}+)'"
_IN_FLOW = re.sub(r"\?P<\w+>", "?:", _QUOTED)
_LINE_END = r"(?:\r\n|\n|\r)"
_ALIASES = re.compile(
    rf"^[\"']?alias(?:es)?[\"']?[ \t]*:(?:[ \t]*+(?:(?:#[^\r\n]*)?{_LINE_END}[ \t]++)?"
    rf"\[(?P<flow>(?:{_IN_FLOW}|[^\]])*+)\]"
    rf"|(?P<lines>[^\r\n]*(?:{_LINE_END}(?:[ \t#-][^\r\n]*)?)*+))",
    re.MULTILINE | re.IGNORECASE,
)
_ITEM = re.compile(r"-(?:[ \t]+|\Z)")
_BLOCK = re.compile(r"(?P<sign>[|>])[-+1-9]{0,2}(?:[ \t]+#.*)?[ \t]*\Z")
_FOLD = re.compile(r"(?<!\n)\n(?!\n)")
_WRAP = re.compile(r"(?<![ \t\r\n])[ \t]*+[\r\n]\s*+")
_BETWEEN = re.compile(r"[,\n]")
_NAME = re.compile(rf"\s*(?:{_QUOTED})")
_NAMES = re.compile(rf"\s*(?:{_QUOTED}|[^,]+)")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML between the first line and the closing one.

    Attributes:
        yaml: The text between the two marks, with its last line end.
        start: Where it begins, in code points of the whole text.
    """

    yaml: str
    start: int

    @property
    def end(self) -> int:
        """Where the closing mark begins, in code points of the whole text."""
        return self.start + len(self.yaml)


def find_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of `text`, or None if it is missing or has no end."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARACTERS)
    return (
        None
        if closing is None
        else FrontMatter(text[opening.end() : closing.start()], opening.end())
    )


def aliases_in(text: str) -> tuple[str, ...]:
    """Return the `aliases` of a note. No YAML parser is used, because a scan reads thousands of
    notes.
    """
    front = find_front_matter(text)
    found = None if front is None else _ALIASES.search(front.yaml)
    if found is None:
        return ()
    if found["flow"] is not None:
        names = [_WRAP.sub(" ", _plain(piece[0])) for piece in _NAMES.finditer(found["flow"])]
    else:
        names = _names_on([line.strip() for line in split_lines(found["lines"])])
    return tuple(name for each in names if (name := each.strip()))


def _names_on(lines: list[str]) -> list[str]:
    """Return the names on the lines of a value: one for each list item, or separated by commas."""
    if lines[0].startswith("["):
        return []  # not closed
    if lines[0] and not lines[0].startswith("#"):
        return _BETWEEN.split(_text(lines))
    items: list[list[str]] = []
    for line in lines[1:]:
        if (dash := _ITEM.match(line)) is not None:
            items.append([line[dash.end() :]])
        elif items:
            items[-1].append(line)
    return [_text(item) for item in items]


def _text(lines: list[str]) -> str:
    """Return the content of one text over several lines. A block keeps the line ends that count."""
    block = _BLOCK.match(lines[0])
    if block is None:
        return _plain(" ".join(line for line in lines if line and not line.startswith("#")))
    text = "\n".join(lines[1:])
    return text if block["sign"] == "|" else _FOLD.sub(" ", text)


def _plain(name: str) -> str:
    """Return a name without its quotes, or without the comment after the name."""
    found = _NAME.match(name)
    if found is None:
        return _COMMENT.sub("", name).strip()
    if found["double"] is not None:
        return unquote_name(found["double"], '"')
    return unquote_name(found["single"], "'")


MAX_NOTE_CHARACTERS = 1_000_000
"""A longer note is not read: no person wrote it."""
MAX_LINES = 30_000
"""A note with more lines is not read either: each line may be a block of its own."""
MAX_PIPES = 20_000
"""In a note with more, tables are not parsed: each cell is a block of its own."""

Token: TypeAlias = Any
"""A token of the parser: `type`, `content`, `map` (first line and end, 0-based)."""


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
    # Only a note that may need it pays for the library.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(["inline", "text_join"])
    return parser.enable("table") if has_tables else parser
