"""Items of a YAML list put in and taken out, with the others left as they stand."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from stet.notes.yaml_nodes import Node, as_wanted, as_written, to_plain
from stet.notes.yaml_text import format_scalar
from stet.text.edit import Replacement

_DASH = re.compile(r"[ \t]*-[ \t]+\Z")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def item_edits(
    yaml: str, node: Node, values: Sequence[object], end: str
) -> list[Replacement] | None:
    """Return the replacements that make the list `node` of the text `yaml` contain `values`.

    Returns:
        None where the list is of a form that can only be written as a whole: with lists in it, with
        aliases, empty, or of which nothing stays.
    """
    old = [to_plain(item) for item in node.value]
    if not old or not values or not all(isinstance(item, tuple) for item in old):
        return None
    if any(isinstance(item, list | dict) for item in values):
        return None
    starts = [item.start_mark.index for item in node.value]
    if starts != sorted(starts) or starts[0] < node.start_mark.index:
        return None  # aliases stand elsewhere
    before = [as_written(item) for item in old if isinstance(item, tuple)]
    steps = SequenceMatcher(None, before, [as_wanted(item) for item in values], autojunk=False)
    if node.flow_style:
        return _in_brackets(yaml, node, values, steps)
    return _on_lines(yaml, node, values, steps, end)


def _in_brackets(
    yaml: str, node: Node, values: Sequence[object], steps: SequenceMatcher[tuple[str, str]]
) -> list[Replacement]:
    """Return the replacements for a list in brackets; items that stay keep their spelling."""
    items = node.value
    new: list[str] = []
    for tag, first, last, start, stop in steps.get_opcodes():
        if tag == "equal":
            new += [yaml[i.start_mark.index : i.end_mark.index] for i in items[first:last]]
        else:
            new += [format_scalar(value, in_flow=True) for value in values[start:stop]]
    start, stop = items[0].start_mark.index, items[-1].end_mark.index
    if new[: len(items)] == [yaml[i.start_mark.index : i.end_mark.index] for i in items]:
        added = "".join(f", {each}" for each in new[len(items) :])
        return [Replacement(stop, stop, added)]
    return [Replacement(start, stop, ", ".join(new))]


def _on_lines(
    yaml: str,
    node: Node,
    values: Sequence[object],
    steps: SequenceMatcher[tuple[str, str]],
    end: str,
) -> list[Replacement] | None:
    """Return the replacements for a list with one item a line. Only the lines of items that change
    are replaced.
    """
    places = [_lines_of(yaml, item) for item in node.value]
    leads = {
        yaml[place[0] : item.start_mark.index]
        for place, item in zip(places, node.value, strict=True)
    }
    if not all(_DASH.match(lead) for lead in leads):
        return None
    lead = yaml[places[0][0] : node.value[0].start_mark.index]
    found: list[Replacement] = []
    for tag, first, last, start, stop in steps.get_opcodes():
        if tag == "equal":
            continue
        found += [Replacement(place[0], place[1], "") for place in places[first:last]]
        if start < stop:
            place = places[first][0] if first < len(places) else places[-1][1]
            new = "".join(f"{lead}{format_scalar(value)}{end}" for value in values[start:stop])
            found.append(Replacement(place, place, new))
    return found


def _lines_of(yaml: str, item: Node) -> tuple[int, int]:
    """Where the lines of an item begin and end."""
    stop = len(yaml[: item.end_mark.index].rstrip())
    return line_start(yaml, item.start_mark.index), next_line(yaml, stop)


def line_start(yaml: str, offset: int) -> int:
    """Where the line with `offset` begins."""
    return max(yaml.rfind("\n", 0, offset), yaml.rfind("\r", 0, offset)) + 1


def next_line(yaml: str, offset: int) -> int:
    """Where the line behind the one with `offset` begins."""
    found = _LINE_BREAK.search(yaml, offset)
    return found.end() if found else len(yaml)
