"""YAML of a front matter as nodes with their positions, and edits of its lists.

Nodes are composed, not constructed: tags create no objects, dates stay texts, and each node has a
position. No other package uses the YAML library.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, TypeAlias

from stet.notes.yaml_text import format_scalar, line_start, next_line
from stet.text.edit import Replacement

Node: TypeAlias = Any
"""A node of the library, which declares no useful types: `id` is `scalar`, `sequence` or `mapping`,
`value` the content, `start_mark` and `end_mark` the position."""

MAX_NODES = 5_000
"""The most nodes of one front matter, each use of an alias counted: a few lines can mean billions.
"""


MAX_DEPTH = 50
"""The deepest nesting of nodes: functions that follow the nodes recurse as deep."""


class InvalidYaml(Exception):
    """The front matter can't be read, or can't be edited; the message names the line."""


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """A property: its name, and its value as a node."""

    name: str
    key: Node
    value: Node


def read_entries(yaml: str, first_line: int) -> tuple[YamlEntry, ...]:
    """Return the properties in `yaml`, in order.

    Return no properties if `yaml` is empty or has only comments.

    Args:
        yaml: The front matter without its marks.
        first_line: The line (1-based) of the whole text at which `yaml` begins, for messages.

    Raises:
        InvalidYaml: If `yaml` is not YAML, or not a block of properties.
    """
    node = _composed(yaml, first_line)
    if node is None:
        return ()
    line = first_line + node.start_mark.line
    if node.id != "mapping":
        raise InvalidYaml(f"line {line}: the front matter is not a list of properties.")
    if node.flow_style:
        raise InvalidYaml(
            f"line {line}: properties in braces can only be changed with `edit_file`."
        )
    found: dict[str, YamlEntry] = {}
    for key, value in node.value:
        line = first_line + key.start_mark.line
        _check_name(key, line)
        if key.value in found:
            raise InvalidYaml(f"line {line}: the property {key.value!r} occurs twice.")
        found[key.value] = YamlEntry(key.value, key, value)
    nodes = (node for entry in found.values() for node in nodes_in(entry.value))
    if next(islice(nodes, MAX_NODES, None), None) is not None:
        raise InvalidYaml(f"line {first_line}: the front matter is too large to be changed.")
    if any(_is_deeper(entry.value, MAX_DEPTH) for entry in found.values()):
        raise InvalidYaml(f"line {first_line}: it is nested too deeply.")
    return tuple(found.values())


def _is_deeper(node: Node, depth: int) -> bool:
    """Return whether nodes in `node` (at most `MAX_NODES`) are nested deeper than `depth`."""
    ring = [node]
    for _ in range(depth):
        ring = [each for one in ring for each in _inside(one)]
    return bool(ring)


def _inside(node: Node) -> list[Node]:
    """Return the direct children of `node`."""
    if node.id == "mapping":
        return [each for pair in node.value for each in pair]
    return list(node.value) if node.id == "sequence" else []


def _check_name(key: Node, line: int) -> None:
    """Check that the name of a property is plain text.

    Raises:
        InvalidYaml: If the check fails.
    """
    if key.id != "scalar":
        raise InvalidYaml(f"line {line}: a property name is not plain text.")
    if key.value == "<<":
        raise InvalidYaml(f"line {line}: merged properties can only be changed with `edit_file`.")


def _composed(yaml: str, first_line: int) -> Node:
    # Imported late: few turns need the library.
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import MaxDepthExceededError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    parser = YAML(typ="safe", pure=True)
    # The time for a level grows with its depth: thousands of brackets take seconds.
    parser.max_depth = MAX_DEPTH + 1
    parser.composer.warn_double_anchors = False  # YAML allows them, and a warning quotes the note
    try:
        return parser.compose(yaml)
    except MaxDepthExceededError as error:
        raise InvalidYaml(f"line {first_line}: it is nested too deeply.") from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        raise InvalidYaml(f"line {line}: {error.problem or 'invalid YAML'}.") from error
    except YAMLError as error:
        raise InvalidYaml(f"line {first_line}: {str(error).splitlines()[0]}.") from error
    except RecursionError as error:
        raise InvalidYaml(f"line {first_line}: it is nested too deeply.") from error


def nodes_in(node: Node) -> Iterator[Node]:
    """Yield `node` and all nodes in it, aliases followed; a few more than `MAX_NODES` at the
    most.
    """
    todo = [node]
    for _ in range(MAX_NODES + 2):
        if not todo:
            return
        one = todo.pop()
        yield one
        todo += _inside(one)


def to_plain(node: Node) -> object:
    """Return the value of a node as lists, dictionaries, and pairs of a YAML type and a text."""
    if node.id == "sequence":
        return [to_plain(each) for each in node.value]
    if node.id == "mapping":
        return {str(key.value): to_plain(value) for key, value in node.value}
    return str(node.tag).rpartition(":")[2], node.value


def equals_json(value: object, expected: object) -> bool:
    """Return whether a value of `to_plain` equals the JSON value `expected`; a date is a text."""
    if isinstance(expected, Mapping):
        return (
            isinstance(value, dict)
            and list(value) == list(expected)
            and all(map(equals_json, value.values(), expected.values()))
        )
    if isinstance(expected, list):
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(map(equals_json, value, expected))
        )
    return isinstance(value, tuple) and as_written(value) == as_wanted(expected)


def as_written(found: tuple[str, str]) -> tuple[str, str]:
    """Return a scalar of `to_plain` in a form comparable with `as_wanted`."""
    kind, written = found
    kind = {"timestamp": "str", "int": "number", "float": "number"}.get(kind, kind)
    return kind, "" if kind == "null" else written


def as_wanted(value: object) -> tuple[str, str]:
    """Return a scalar of JSON in the form of `as_written`."""
    if value is None:
        return "null", ""
    if isinstance(value, bool):
        return "bool", "true" if value else "false"
    return ("str", value) if isinstance(value, str) else ("number", repr(value))


_DASH = re.compile(r"[ \t]*-[ \t]+\Z")


def item_edits(
    yaml: str, node: Node, values: Sequence[object], end: str
) -> list[Replacement] | None:
    """Return the replacements that make the list `node` of the text `yaml` contain `values`.

    Returns:
        None if the list can only be written as a whole: it holds lists, properties or aliases, or
        it is or becomes empty.
    """
    old = [to_plain(item) for item in node.value]
    if not old or not values or not all(isinstance(item, tuple) for item in old):
        return None
    if any(isinstance(item, list | dict) for item in values):
        return None
    starts = [item.start_mark.index for item in node.value]
    if starts != sorted(starts) or starts[0] < node.start_mark.index:
        return None  # aliases have the positions of their anchors
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
    """Return the replacements for a list with one item per line: only the lines that change."""
    places = [_lines_of(yaml, item) for item in node.value]
    starts = [item.start_mark.index for item in node.value]
    leads = [yaml[first:start] for (first, _), start in zip(places, starts, strict=True)]
    if not all(map(_DASH.match, leads)):
        return None
    lead = leads[0]
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
    """Return the start and the end of the lines of an item."""
    stop = len(yaml[: item.end_mark.index].rstrip())
    return line_start(yaml, item.start_mark.index), next_line(yaml, stop)
