"""Properties: what is asked for changes, and nothing else does."""

import warnings
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.notes.note_content import InvalidTag, add_tags
from stet.notes.note_properties import InvalidYaml, edit_properties, read_properties

NOTE = """\
---
# head
title: "Old" # c1
tags: # c2
  - a # ca
  - 'b'
  # tail
date: 2024-01-01   # d
empty:
flow: [x, "y"] # f
n: 3
blk: |
  text
  more

map:
  k: v # mk
al: &q z
ref: *q
---
Body
"""


def edited(text: str, wanted: Mapping[str, object], *remove: str) -> str:
    return edit_properties(text, wanted, remove).apply(text)


@pytest.mark.parametrize(
    ("wanted", "old", "new"),
    [
        ({"title": 'New: "x"'}, 'title: "Old" # c1', 'title: "New: \\"x\\"" # c1'),
        ({"title": "1"}, '"Old"', '"1"'),
        ({"tags": ["a", "b", "c"]}, "  - 'b'\n", "  - 'b'\n  - c\n"),
        ({"tags": ["b"]}, "  - a # ca\n", ""),
        ({"tags": ["0", "a", "b"]}, "  - a # ca", '  - "0"\n  - a # ca'),
        ({"tags": []}, "tags: # c2\n  - a # ca\n  - 'b'\n", "tags: [] # c2\n"),
        ({"tags": "x"}, "tags: # c2\n  - a # ca\n  - 'b'\n", "tags: x # c2\n"),
        ({"date": "2025-01-01"}, "2024-01-01   # d", "2025-01-01   # d"),
        ({"empty": "x"}, "empty:", "empty: x"),
        ({"empty": ["x"]}, "empty:", "empty: [x]"),
        ({"flow": ["x", "y", "z, w"]}, '"y"]', '"y", "z, w"]'),
        ({"flow": ["y"]}, '[x, "y"]', '["y"]'),
        ({"flow": []}, '[x, "y"]', "[]"),
        ({"n": 4.5}, "n: 3", "n: 4.5"),
        ({"n": "3"}, "n: 3", 'n: "3"'),
        ({"n": None}, "n: 3", "n: null"),
        ({"n": True}, "n: 3", "n: true"),
        ({"blk": "short"}, "blk: |\n  text\n  more\n", "blk: short\n"),
        ({"map": {"k": "w", "l": [1, 2]}}, "  k: v # mk\n", "  k: w\n  l: [1, 2]\n"),
        ({"ref": "own"}, "ref: *q", "ref: own"),
        ({"title": "Old", "tags": ["a", "b"], "n": 3, "map": {"k": "v"}}, "", ""),
    ],
)
def test_a_value_changes_and_nothing_else(wanted: dict[str, object], old: str, new: str) -> None:
    assert NOTE.count(old) == 1 or not old
    assert edited(NOTE, wanted) == NOTE.replace(old, new, 1)


def test_a_new_property_goes_below_the_others() -> None:
    wanted = {
        "list": ["a b", "yes", "12:30", "#x", "- y", ""],
        "map": {"a": {"b": 1}},
        "lines": "a\nb",
        "none": [],
    }
    assert edited("---\r\nx: 1 # c\r\n---\r\nBody", wanted) == (
        "---\r\nx: 1 # c\r\nlist:\r\n  - a b\r\n  - \"yes\"\r\n  - \"12:30\"\r\n  - \"#x\"\r\n"
        '  - "- y"\r\n  - ""\r\nmap:\r\n  a: {b: 1}\r\nlines: "a\\nb"\r\nnone: []\r\n---\r\nBody'
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("", "---\na: 1\n---\n"),
        ("Body\r\nx", "---\r\na: 1\r\n---\r\nBody\r\nx"),
        ("---\n\nA rule above.\n", "---\na: 1\n---\n---\n\nA rule above.\n"),
        ("---\n---\nBody", "---\na: 1\n---\nBody"),
        ("---\n# only this\n...\n", "---\n# only this\na: 1\n...\n"),
    ],
)
def test_a_note_without_properties_gets_some(text: str, new: str) -> None:
    assert edited(text, {"a": 1}) == new


def test_a_property_goes_with_its_lines_only() -> None:
    assert edited(NOTE, {}, "tags", "blk", "nothing") == NOTE.replace(
        "tags: # c2\n  - a # ca\n  - 'b'\n", ""
    ).replace("blk: |\n  text\n  more\n", "")
    assert edited(NOTE, {"n": 4}, "al", "ref") == NOTE.replace("al: &q z\nref: *q\n", "").replace(
        "n: 3", "n: 4"
    )
    assert edited("Body", {}, "a") == "Body"


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("x: [1\n", "line 3: "),
        ("a: 1\nb: c: d\n", "line 3: mapping values are not allowed here."),
        ("x: 1\ny: 2\nx: 2\n", "line 4: the property 'x' occurs twice."),
        ("- x\n", "line 2: the front matter is not a list of properties."),
        ("{x: 1}\n", "line 2: properties in braces"),
        ("<<: *a\n", "line 2: found undefined alias"),
        ("a: &a {}\n<<: *a\n", "line 3: merged properties"),
        ("a: 1\n\tb: 2\n", "line 3: "),
        ("? [a]\n: 1\n", "line 2: a property name"),
        ("a: \x07\n", "line 2: "),
        ("a: &a [*a]\n", "line 2: the front matter is too large"),
        ("a: " + "[ " * 3000 + "\n", "line 2: it is nested too deeply."),
        ("a: " + "[" * 51 + "]" * 51 + "\n", "line 2: it is nested too deeply."),
        ("a: &a [1]\n" + "".join(
            f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
            for old, new in zip("abcdefg", "bcdefgh", strict=True)
        ), "line 2: the front matter is too large"),
    ],
)  # fmt: skip
def test_yaml_that_can_not_be_edited_is_an_error_that_names_the_line(
    yaml: str, message: str
) -> None:
    with pytest.raises(InvalidYaml) as raised:
        edit_properties(f"---\n{yaml}---\n", {"new": 1})
    assert str(raised.value).startswith(message)


def test_change_that_would_affect_other_properties_is_refused() -> None:
    with pytest.raises(InvalidYaml, match="al can't be changed alone"):
        edit_properties(NOTE, {"al": "other"})
    with pytest.raises(InvalidYaml, match="no closing"):
        edit_properties("---\nx: 1\nBody", {"x": 2})


SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8) | st.sampled_from(
    ["yes", "1e3", "2024-01-01", "a: b", "x #y", "'", '"', "- a", "a,b", "[", "\u2028", "~", "0x1"]
)  # fmt: skip
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(
    st.sampled_from(["k", "l m"]), SCALARS, max_size=2
)  # fmt: skip
LINES = [
    "a: 1", "b: 'x' # c", "c: [x, 'y']", "d:\n  - x # i\n  - y\n  # t", "e:\n  k: v # w",
    "f: |\n  text\n", "g:", "# comment", "", "h:\n- p\n- 3",
]  # fmt: skip


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(LINES), unique=True).map(lambda lines: "\n".join(["---", *lines, ""])),
    st.dictionaries(st.sampled_from("abcdefgh"), VALUES, max_size=2),
    st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_is_set_is_read_back_and_other_lines_stay(
    top: str, wanted: dict[str, object], end: str
) -> None:
    text = f"{top}---\nBody without end".replace("\n", end)
    after = edited(text, wanted)
    assert edited(after, wanted) == after
    assert edit_properties(after, wanted).replacements == ()
    kept = {name: value for name, value in read_properties(text).items() if name not in wanted}
    assert {n: v for n, v in read_properties(after).items() if n not in wanted} == kept
    assert after.endswith(f"---{end}Body without end")
    if not wanted:
        assert after == text


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Body", "---\ntags:\n  - a\n  - B/c\n---\nBody"),
        ("---\ntags: [x, A]\n---\n", "---\ntags: [x, A, B/c]\n---\n"),
        ("---\ntags:\n- x\n---\n", "---\ntags:\n- x\n- a\n- B/c\n---\n"),
        ("---\ntags: x, z\n---\n", "---\ntags: [x, z, a, B/c]\n---\n"),
        ("---\ntag: x # c\n---\n", "---\ntag: [x, a, B/c] # c\n---\n"),
        ("---\ntags:\n---\n", "---\ntags: [a, B/c]\n---\n"),
        ("---\ntags: [2024]\n---\n", "---\ntags: [2024, a, B/c]\n---\n"),
        ("---\ntags: ['#a', b/C]\n---\n", "---\ntags: ['#a', b/C]\n---\n"),
    ],
)
def test_tags_are_added_in_the_form_that_is_there(text: str, new: str) -> None:
    edit, _ = add_tags(text, ["#a", "B/c", "a"])
    assert edit.apply(text) == new


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ("to do", "write 'to-do'"),
        ("12", "not only digits"),
        ("", ("is not a valid tag")),
        ("a#b", "'a-b'"),
    ],
)
def test_invalid_tag_is_refused(tag: str, message: str) -> None:
    with pytest.raises(InvalidTag, match=message):
        add_tags("", [tag])


def test_an_anchor_that_is_there_twice_is_no_reason_to_quote_the_note() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read_properties("---\na: &x hidden\nb: &x two\nc: *x\n---\n")["c"] == ("str", "two")
    assert [str(each.message) for each in caught] == []
