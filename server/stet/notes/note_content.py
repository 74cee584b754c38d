"""Read the tags, tasks and aliases of a Markdown note, and add tags to its front matter.

A CommonMark parser separates the blocks, so nothing in a fence, an indented block or a comment
counts. Only a paragraph that may hold a tag is parsed further.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stet.notes.note_properties import InvalidYaml, edit_properties, read_properties
from stet.notes.yaml_text import unquote_name
from stet.outline.headings import Token, block_parser, find_front_matter, parse_blocks
from stet.text.edit import TextEdit
from stet.text.lines import split_lines

_NAMES = ("tags", "tag")
TAG_CHARACTER = (
    r"[^\s\x00-,.:-@\[-^`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    r"\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f"
    r"\ud800-\udfff\ufeff-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffc\ufffd]"
)
"""The characters of a tag: letters with their marks, digits, emoji, `_`, `-`, `/`."""
_WHOLE_TAG = re.compile(f"{TAG_CHARACTER}+")
_NO_TAG = re.compile(TAG_CHARACTER.replace("[^", "[", 1) + "+")
_BETWEEN = re.compile(r"[,\s]+")


class InvalidTag(Exception):
    """A text that is not a tag; the message says what to write."""


def clean_tag(tag: str) -> str:
    """Return a tag as written in front matter, without `#`.

    Raises:
        InvalidTag: If the text is not a valid tag.
    """
    name = tag.strip().removeprefix("#")
    if _WHOLE_TAG.fullmatch(name) is None or not re.search(r"[^\d/]", name):
        better = _NO_TAG.sub("-", name).strip("-")
        hint = (
            f": write {better!r}" if _WHOLE_TAG.fullmatch(better) and not better.isdigit() else ""
        )
        raise InvalidTag(
            f"{tag!r} is not a valid tag{hint}. A tag has letters, digits, `_`, `-` and `/`, "
            "and not only digits."
        )
    return name


def add_tags(text: str, tags: Sequence[str]) -> tuple[TextEdit, tuple[str, ...]]:
    """Return the edit of a note that adds tags to its front matter, and the tags that are new.

    Raises:
        InvalidTag: If one of the tags is invalid.
        InvalidYaml: If the front matter can't be read or changed.
    """
    properties = read_properties(text)
    names = [each for each in properties if each.casefold() in _NAMES]
    name = min(names, key=lambda each: _NAMES.index(each.casefold()), default=_NAMES[0])
    there = _values(properties.get(name))
    known = {tag.casefold() for tag in property_tags(properties)}
    new = dict.fromkeys(tag for each in tags if (tag := clean_tag(each)).casefold() not in known)
    if not new:
        return TextEdit(()), ()
    return edit_properties(text, {name: [*there, *new]}), tuple(new)


def property_tags(properties: Mapping[str, object]) -> tuple[str, ...]:
    """Return the tags among the properties of a note (`stet.notes.note_properties`), without
    `#`.
    """
    values = [
        each
        for name, value in properties.items()
        if name.casefold() in _NAMES
        for each in _values(value)
    ]
    return tuple(tag for each in values if (tag := str(each).strip().removeprefix("#")))


def _values(values: object) -> list[object]:
    """Return a list, or the parts of a text with commas or spaces between, as JSON values."""
    if isinstance(values, list):
        return [value for each in values for value in _values_of(each)]
    return [] if values is None else _values_of(values, split=True)


def _values_of(values: object, *, split: bool = False) -> list[object]:
    if not isinstance(values, tuple):
        return []
    kind, written = values
    if kind == "null":
        return []
    if kind in ("int", "float"):
        return [int(written) if written.isdecimal() else float(written)]
    if not split:
        return [written]
    return [each for each in _BETWEEN.split(written) if each]


MAX_PARAGRAPH = 20_000
"""A longer paragraph, in code points, is not searched for tags."""
MAX_PARAGRAPHS = 100_000
"""The most characters of a note's paragraphs that are parsed to find tags."""

_MAY_HOLD_TAG = re.compile(rf"#[\d/]*+{TAG_CHARACTER}")
_TAG = re.compile(rf"(?:(?<=[\s(,;])|\A)#(?P<name>{TAG_CHARACTER}+)")
_NON_NUMERIC = re.compile(r"[^\d/]")
_TASK = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+(?P<text>[^\r\n]*)|[ \t]*$)", re.MULTILINE)
_FRONT_TAGS = re.compile(r"^[\"']?tags?[\"']?[ \t]*:", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NoteTask:
    """A task of a note: `- [ ] text`, or `- [x] text` if it is done; its line is 1-based."""

    line: int
    is_done: bool
    text: str


def tasks_in(text: str) -> tuple[NoteTask, ...]:
    """Return the tasks of a note, in order of position."""
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

    A front matter that can't be read counts as one without tags.
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
                if _NON_NUMERIC.search(found["name"]):
                    yield found["name"].strip("/")


def _plain(content: str) -> str:
    """Return a paragraph's text, with U+FFFC for code, links, escapes and other non-text."""
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


_QUOTED = r"\"(?P<double>(?:[^\"\\\r\n]|\\.){0,500}+)\"|'(?P<single>(?:[^'\r\n]|''){0,500}+)'"
_QUOTED_IN_FLOW = re.sub(r"\?P<\w+>", "?:", _QUOTED)
_LINE_END = r"(?:\r\n|\n|\r)"
_ALIASES = re.compile(
    rf"^[\"']?alias(?:es)?[\"']?[ \t]*:(?:[ \t]*+(?:(?:#[^\r\n]*)?{_LINE_END}[ \t]++)?"
    rf"\[(?P<flow>(?:{_QUOTED_IN_FLOW}|[^\]])*+)\]"
    rf"|(?P<lines>[^\r\n]*(?:{_LINE_END}(?:[ \t#-][^\r\n]*)?)*+))",
    re.MULTILINE | re.IGNORECASE,
)
_ITEM = re.compile(r"-(?:[ \t]+|\Z)")
_BLOCK = re.compile(r"(?P<sign>[|>])[-+1-9]{0,2}(?:[ \t]+#.*)?[ \t]*\Z")
_FOLD = re.compile(r"(?<!\n)\n(?!\n)")
_WRAP = re.compile(r"(?<![ \t\r\n])[ \t]*+[\r\n]\s*+")
_BETWEEN_ALIASES = re.compile(r"[,\n]")
_ALIAS_NAME = re.compile(rf"\s*(?:{_QUOTED})")
_ALIAS_NAMES = re.compile(rf"\s*(?:{_QUOTED}|[^,]+)")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")


def aliases_in(text: str) -> tuple[str, ...]:
    """Return the `aliases` of a note. No YAML parser is used, because a scan reads thousands of
    notes.
    """
    front = find_front_matter(text)
    found = None if front is None else _ALIASES.search(front.yaml)
    if found is None:
        return ()
    if found["flow"] is not None:
        names = [
            _WRAP.sub(" ", _plain_alias(piece[0])) for piece in _ALIAS_NAMES.finditer(found["flow"])
        ]
    else:
        names = _names_on([line.strip() for line in split_lines(found["lines"])])
    return tuple(name for each in names if (name := each.strip()))


def _names_on(lines: list[str]) -> list[str]:
    """Return the names on the lines of a value: one for each list item, or separated by commas."""
    if lines[0].startswith("["):
        return []  # the list is not closed
    if lines[0] and not lines[0].startswith("#"):
        return _BETWEEN_ALIASES.split(_alias_text(lines))
    items: list[list[str]] = []
    for line in lines[1:]:
        if (dash := _ITEM.match(line)) is not None:
            items.append([line[dash.end() :]])
        elif items:
            items[-1].append(line)
    return [_alias_text(item) for item in items]


def _alias_text(lines: list[str]) -> str:
    """Return the value of a scalar of several lines. A block keeps its significant line ends."""
    block = _BLOCK.match(lines[0])
    if block is None:
        return _plain_alias(" ".join(line for line in lines if line and not line.startswith("#")))
    text = "\n".join(lines[1:])
    return text if block["sign"] == "|" else _FOLD.sub(" ", text)


def _plain_alias(name: str) -> str:
    """Return a name without its quotes, or without the comment after the name."""
    found = _ALIAS_NAME.match(name)
    if found is None:
        return _COMMENT.sub("", name).strip()
    if found["double"] is not None:
        return unquote_name(found["double"], '"')
    return unquote_name(found["single"], "'")
