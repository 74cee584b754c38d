"""Read and edit the properties of a note: its YAML front matter. Nothing else is changed.

A parser finds the positions of names and values; only the lines that change are written. So
comments, order, quotes and line ends stay byte for byte. The result is parsed again, and must
differ only in the intended properties.
"""

import re
from collections.abc import Collection, Mapping

from stet.notes.yaml_nodes import (
    InvalidYaml,
    YamlEntry,
    equals_json,
    item_edits,
    nodes_in,
    read_entries,
    to_plain,
)
from stet.notes.yaml_text import (
    format_block,
    format_line,
    format_property,
    line_start,
    next_line,
)
from stet.outline.headings import MAX_CHARACTERS, FrontMatter, find_front_matter
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import dominant_line_end, line_end

__all__ = ["InvalidYaml", "edit_properties", "read_properties"]

_COLON = re.compile(r"[ \t]*:(?=[ \t\r\n]|\Z)")
_ALIAS = re.compile(r"[ \t]*(\*[^\s#]+)")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def read_properties(text: str) -> dict[str, object]:
    """Return the properties of a note by name. Values are lists, dictionaries, and pairs of a YAML
    type and a text.

    Raises:
        InvalidYaml: If the front matter can't be read.
    """
    front = _front_matter(text)
    return {} if front is None else {e.name: to_plain(e.value) for e in read_entries(front.yaml, 2)}


def edit_properties(
    text: str, values: Mapping[str, object], remove: Collection[str] = ()
) -> TextEdit:
    """Return the edit of `text` that sets the properties `values` and removes `remove`.

    A text without front matter gets one. Values are those of JSON.

    Raises:
        InvalidYaml: If the front matter can't be read, or can't be changed without touching the
            rest.
    """
    front = _front_matter(text)
    end = dominant_line_end(text)
    if front is None:
        lines = "".join(format_property(name, value, "", end) for name, value in values.items())
        start = len(text) - len(text.removeprefix("\ufeff"))
        new = f"---{end}{lines}---{end}" if lines else ""
        _check_size(len(lines))
        return TextEdit((Replacement(start, start, new),) if new else ())
    entries = {entry.name: entry for entry in read_entries(front.yaml, 2)}
    found: list[Replacement] = []
    for name, value in values.items():
        if name not in entries:
            found.append(_added(name, value, front, entries, end))
        elif not equals_json(to_plain(entries[name].value), value):
            found += _changed(front.yaml, entries[name], value, end)
    for name in remove:
        if name in entries:
            start = line_start(front.yaml, entries[name].key.start_mark.index)
            below = next_line(front.yaml, _end_of(front.yaml, entries[name]))
            found.append(Replacement(start, below, ""))  # with the comment after it
    edit = TextEdit(tuple(found))
    _check_size(len(front.yaml) + sum(len(r.text) - (r.end - r.start) for r in found))
    _check_result(front.yaml, edit.apply(front.yaml), values, remove)
    return TextEdit(
        tuple(Replacement(r.start + front.start, r.end + front.start, r.text) for r in found)
    )


def _check_size(n_characters: int) -> None:
    """Check that the front matter stays short enough to be read again.

    Raises:
        InvalidYaml: If the check fails.
    """
    if n_characters > MAX_CHARACTERS:
        raise InvalidYaml(
            f"line 1: the front matter would have {n_characters:,} characters; "
            f"the maximum is {MAX_CHARACTERS:,}. Put long texts into the note itself."
        )


def _front_matter(text: str) -> FrontMatter | None:
    """Return the front matter.

    Raises:
        InvalidYaml: If the front matter has no end.
    """
    front = find_front_matter(text)
    if front is None and re.match(r"\ufeff?---[ \t]*[\r\n]", text) and _looks_like_yaml(text):
        raise InvalidYaml(
            f"line 1: the front matter has no closing `---` in {MAX_CHARACTERS:,} characters."
        )
    return front


def _looks_like_yaml(text: str) -> bool:
    """Return whether a first line `---` opens properties, rather than is a thematic break."""
    lines = _LINE_BREAK.split(text[:1000])
    return len(lines) > 1 and re.match(r"[\w-]+:(?:\s|$)", lines[1]) is not None


def _check_result(
    before: str, after: str, values: Mapping[str, object], remove: Collection[str]
) -> None:
    """Check that the written text has the intended values, and the rest its old values.

    Raises:
        InvalidYaml: If the check fails.
    """
    old = {entry.name: to_plain(entry.value) for entry in read_entries(before, 2)}
    try:
        new = {each.name: to_plain(each.value) for each in read_entries(after, 2)}
    except InvalidYaml:
        new = {}
    unchanged = [name for name in old if name not in remove and name not in values]
    if (
        set(new) != ({*old, *values} - (set(remove) - set(values)))
        or any(new[name] != old[name] for name in unchanged)
        or not all(equals_json(new[name], value) for name, value in values.items())
    ):
        names = ", ".join(sorted({*values, *remove}))
        raise InvalidYaml(f"line 1: {names} can't be changed alone here; use `edit_file`.")


def _added(
    name: str, value: object, front: FrontMatter, entries: Mapping[str, YamlEntry], end: str
) -> Replacement:
    """Return the replacement that adds a new property below the others."""
    first = next(iter(entries.values()), None)
    indent = " " * (first.key.start_mark.column if first else 0)
    place = len(front.yaml)
    return Replacement(place, place, format_property(name, value, indent, end))


def _end_of(yaml: str, old: YamlEntry) -> int:
    """Return the end of a value, without the comments and empty lines below it."""
    start, end = _value_start(yaml, old), 0
    for node in nodes_in(old.value):
        place = node.end_mark.index
        if node.start_mark.index == place and yaml[place - 1 : place] != "-":
            continue  # an empty value, which the parser puts at the next node
        if node.id == "scalar" or node.flow_style or not node.value:
            end = max(end, len(yaml[: node.end_mark.index].rstrip()))
    if (alias := _ALIAS.match(yaml, start)) is not None:
        end = alias.end()
    return max(start, end)


def _value_start(yaml: str, old: YamlEntry) -> int:
    """Return the offset after the colon.

    Raises:
        InvalidYaml: If there is no colon: a name written with `?`.
    """
    colon = _COLON.match(yaml, old.key.end_mark.index)
    if colon is None:
        line = 2 + old.key.start_mark.line
        raise InvalidYaml(f"line {line}: {old.name!r} can only be changed with `edit_file`.")
    return colon.end()


def _changed(yaml: str, old: YamlEntry, value: object, end: str) -> list[Replacement]:
    """Return the edits that change an existing property; a list is changed by its items."""
    node = old.value
    start, stop = _value_start(yaml, old), _end_of(yaml, old)
    end = line_end(yaml[start : next_line(yaml, start)]) or end
    if node.start_mark.index < old.key.end_mark.index:  # an alias: its node is at the anchor
        return [Replacement(start, stop, f" {format_line(value)}")]
    if node.id == "sequence" and isinstance(value, list):
        items = item_edits(yaml, node, value, end)
        if items is not None:
            return items
    if node.id != "scalar" and not node.flow_style and isinstance(value, list | dict) and value:
        indent = " " * (old.key.start_mark.column + 2)
        below = next_line(yaml, start)
        return [Replacement(below, next_line(yaml, stop), format_block(value, indent, end))]
    if node.id != "scalar" and not node.flow_style:
        # The comment after the name stays.
        below = next_line(yaml, start)
        gone = Replacement(below, next_line(yaml, stop), "")
        return [Replacement(start, start, f" {format_line(value)}"), gone]
    on_its_line = node.start_mark.line == old.key.end_mark.line and node.start_mark.index < stop
    quote = node.style if node.id == "scalar" else None
    new = format_line(value, quote)
    if on_its_line:
        return [Replacement(node.start_mark.index, stop, new)]
    return [Replacement(start, stop, f" {new}")]
