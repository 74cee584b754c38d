"""What a Markdown note says of itself: tags, tasks, headings.

Blocks are told apart by a CommonMark parser, so nothing in a fence, an indented block or a comment
counts. Inside a paragraph only those that may hold a tag are parsed further.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from stet.notes.front_matter import find_front_matter
from stet.notes.note_blocks import Token, block_parser, parse_blocks
from stet.notes.note_properties import InvalidYaml, read_properties
from stet.notes.note_tags import TAG_CHARACTER, property_tags

MAX_PARAGRAPH = 20_000
"""A longer paragraph is not searched for tags."""
MAX_PARAGRAPHS = 100_000
"""Characters of all the paragraphs of a note that are parsed to find the tags in them."""
MAX_TITLE = 200

_MAY_HOLD_TAG = re.compile(rf"#[\d/]*+{TAG_CHARACTER}")
_TAG = re.compile(rf"(?:(?<=[\s(,;])|\A)#(?P<name>{TAG_CHARACTER}+)")
_TELLING = re.compile(r"[^\d/]")
_TASK = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+(?P<text>[^\r\n]*)|[ \t]*$)", re.MULTILINE)
_FRONT_TAGS = re.compile(r"^[\"']?tags?[\"']?[ \t]*:", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NoteHeading:
    """A heading: its line (1-based), its level (1-6) and its text on one line."""

    line: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class NoteTask:
    """`- [ ] text`, or done with `[x]`; its line is 1-based."""

    line: int
    is_done: bool
    text: str


def headings_in(text: str) -> tuple[NoteHeading, ...]:
    """Return the headings of a note, in order of place."""
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


def tasks_in(text: str) -> tuple[NoteTask, ...]:
    """Return the tasks of a note, in order of place."""
    if "[" not in text:
        return ()
    tokens, above = parse_blocks(text)
    found = []
    for item, _, inside in zip(tokens, tokens[1:], tokens[2:], strict=False):
        task = _TASK.match(inside.content) if item.type == "list_item_open" else None
        if task is not None and inside.type == "inline":
            found.append(
                NoteTask(above + inside.map[0] + 1, task["mark"] != " ", task["text"] or "")
            )
    return tuple(found)


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags of a note without `#`, front matter tags first, each spelling once.

    A front matter that can't be read has none.
    """
    return tuple(dict.fromkeys((*front_tags(text), *_inline_tags(text))))


def front_tags(text: str) -> tuple[str, ...]:
    """Return the tags in the front matter of a note, without `#`."""
    front = find_front_matter(text)
    if front is None or _FRONT_TAGS.search(front.yaml) is None:
        return ()
    try:
        return property_tags(read_properties(text))
    except InvalidYaml:
        return ()


def _inline_tags(text: str) -> Iterator[str]:
    if _MAY_HOLD_TAG.search(text) is None:
        return
    n_left = MAX_PARAGRAPHS
    for token in parse_blocks(text)[0]:
        if token.type == "inline" and len(token.content) <= min(MAX_PARAGRAPH, n_left):
            if _MAY_HOLD_TAG.search(token.content) is None:
                continue
            n_left -= len(token.content)
            for found in _TAG.finditer(_plain(token.content)):
                if _TELLING.search(found["name"]):
                    yield found["name"].strip("/")


def _plain(content: str) -> str:
    """Return a paragraph's text, with one mark for code, links, escapes and whatever is no text."""
    tokens: list[Token] = []
    parser = block_parser()
    parser.inline.parse(content, parser, {}, tokens)
    pieces: list[str] = []
    n_links = 0
    for token in tokens:
        n_links += (token.type == "link_open") - (token.type == "link_close")
        if token.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
        elif token.type.endswith(("_open", "_close")) and not token.type.startswith("link"):
            continue
        elif token.type == "text" and not n_links:
            pieces.append(token.content)
        else:
            pieces.append("\ufffc")
    return "".join(pieces)
