"""Quoted texts of a front matter, found without a parser, are those of a parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from stet.notes.yaml_nodes import nodes_in
from stet.notes.yaml_text import QuotedText, find_quoted, quote_name, unquote_name
from tests.support.move_oracle import move


def by_parser(yaml: str) -> list[tuple[int, str]]:
    """Where each ends, and its quote: a parser counts tags to the beginning."""
    root = YAML(typ="safe", pure=True).compose(yaml)
    found = [node for node in nodes_in(root) if node.id == "scalar" and node.style in ("'", '"')]
    return sorted((node.end_mark.index, node.style) for node in found)


def here(yaml: str) -> list[tuple[int, str]]:
    found = list(find_quoted(yaml))
    assert all(yaml[each.start] == yaml[each.end - 1] == each.quote for each in found)
    return [(each.end, each.quote) for each in found]


@pytest.mark.parametrize(
    "yaml",
    [
        "a: 'x'\nb: \"y\"\n",
        "- 'x'\n- y's\n- \"z\\\"'\"\n",
        "a: it's 'not'\nb: 'is ''it'''\n",
        "a: [x, 'y', {k: \"z\"}]\nb: p, 'q'\n",
        "a: x # 'no'\n# \"no\"\nb: x#'no'\n",
        "a: |\n  'no'\n\n  'no'\nb: 'yes'\n",
        "- k: >-\n    'no'\n  j: 'yes'\n- |\n  'no'\n- 'yes'\n",
        "'a': !!str 'x'\nb: &m \"y\"\n",
        "a: 'over\n  lines'\nb: \"x\"\n",
        "a: [it's, b's]\nc: 'x'\n",
        "a: [x y 'z', \"w\" ]\nb: x] 'no'\nc: http://it's\n",
        'a: ["x","y"]\nb:\n- "z"\n',
    ],
)
def test_quoted_texts_are_those_of_a_parser(yaml: str) -> None:
    assert here(yaml) == by_parser(yaml)


VALUES = [
    "'x'",
    '"y"',
    "it's",
    "''''",
    '"\\""',
    "a b",
    "[a, 'b']",
    '{c: "d"}',
    "|\n  'e'",
    "x # 'f'",
]


@given(
    st.lists(st.tuples(st.sampled_from(["{}: ", "'{}': ", "{}:\n  - "]), st.sampled_from(VALUES)))
)
def test_random_properties_are_read_as_by_a_parser(lines: list[tuple[str, str]]) -> None:
    yaml = "".join(f"{key.format(f'k{n}')}{value}\n" for n, (key, value) in enumerate(lines))
    try:
        expected = by_parser(yaml) if lines else []
    except YAMLError:
        return
    assert here(yaml) == expected


def test_unclosed_quote_quotes_nothing() -> None:
    assert list(find_quoted("a: 'x'\nb: 'y\nc: \"z\"\n")) == [QuotedText(3, 6, "'")]


@given(st.text(st.sampled_from("a'\"\\/ "), max_size=20), st.sampled_from(["", "'", '"']))
def test_quoted_name_is_unquoted(name: str, quote: str) -> None:
    assert unquote_name(quote_name(name, quote), quote) == name


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("up: [[b]]", "b c", "up: [[b c]]"),
        ("up: [[b]]", "b, c", None),
        ("up: [[b]]", "b {c}", None),
        ("up:\n  - [[b]]\n  - x", "b, c", None),
        ("up: [x, [[b]]]", "b, c", None),
        ('up: "[[b]]"', "b, c", 'up: "[[b, c]]"'),
        ("up: see [[b]]", "b, c", "up: see [[b, c]]"),
    ],
)
def test_a_name_in_bare_brackets_stays_one_name_to_yaml(
    before: str, name: str, after: str | None
) -> None:
    world = {"a.md": f"---\n{before}\n---\n[[b]]\n", "b.md": ""}
    found, left = move(world, "b.md", f"{name}.md")
    assert found["a.md"] == f"---\n{before if after is None else after}\n---\n[[{name}]]\n"
    assert left == ([("a.md", "b")] if after is None else [])
