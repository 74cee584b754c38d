"""Tags in the front matter of a note."""

import re
from collections.abc import Mapping, Sequence

from stet.notes.note_properties import edit_properties, read_properties
from stet.text.edit import TextEdit

_NAMES = ("tags", "tag")
TAG_CHARACTER = (
    r"[^\s\x00-,.:-@\[-^`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    r"\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f"
    r"\ud800-\udfff\ufeff-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffc\ufffd]"
)
"""What a tag is made of: letters with their marks, digits, emoji, `_`, `-`, `/`; no punctuation."""
_TAG = re.compile(f"{TAG_CHARACTER}+")
_NO_TAG = re.compile(TAG_CHARACTER.replace("[^", "[", 1) + "+")
_BETWEEN = re.compile(r"[,\s]+")


class InvalidTag(Exception):
    """A text that is no tag; the message says what to write."""


def clean_tag(tag: str) -> str:
    """Return a tag as written in front matter, without `#`.

    Raises:
        InvalidTag: If it holds what a tag can't.
    """
    name = tag.strip().removeprefix("#")
    if _TAG.fullmatch(name) is None or not re.search(r"[^\d/]", name):
        better = _NO_TAG.sub("-", name).strip("-")
        hint = f": write {better!r}" if _TAG.fullmatch(better) and not better.isdigit() else ""
        raise InvalidTag(
            f"{tag!r} is no tag{hint}. A tag has letters, digits, `_`, `-` and `/`, and not only digits."
        )
    return name


def add_tags(text: str, tags: Sequence[str]) -> tuple[TextEdit, tuple[str, ...]]:
    """Return the edit of a note that adds tags to its front matter, and the tags that are new.

    Raises:
        InvalidTag: If one of them is none.
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
    """Return the tags among the properties of a note (`stet.notes.note_properties`), without `#`."""
    values = [
        each
        for name, value in properties.items()
        if name.casefold() in _NAMES
        for each in _values(value)
    ]
    return tuple(tag for each in values if (tag := str(each).strip().removeprefix("#")))


def _values(values: object) -> list[object]:
    """Return the values of `tags`, as JSON. `values` is a list, or one text with commas or spaces
    between.
    """
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
