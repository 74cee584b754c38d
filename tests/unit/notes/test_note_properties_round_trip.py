"""200 front matters: one property changes, everything else stays to the byte.

What was written is read back with the library's own loader, not with the code that wrote it.
"""

import random
from collections.abc import Mapping

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.nodes import ScalarNode

from stet.notes.note_content import add_tags
from stet.notes.note_properties import InvalidYaml, edit_properties
from stet.outline.headings import find_front_matter
from tests.support.front_matters import Note, note

pytestmark = pytest.mark.slow


SEEDS = range(200)
VALUES: tuple[object, ...] = (
    "new", "a: b # c", "yes", "2024-02-30", "1e3", " blank ", "tab\there", "two\nlines", "", "it's",
    '"', 7, 2.5, True, None, ["x", "y, z"], [], {"k": "v"}, "- a", "ünï",
)  # fmt: skip


class _Loader(SafeConstructor):
    """As the library's, but a date is the text that spells it: `2024-02-30` is none."""


def _as_text(loader: SafeConstructor, node: ScalarNode) -> object:
    return loader.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _as_text)


def loaded(text: str) -> dict[str, object]:
    front = find_front_matter(text)
    assert front is not None
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Loader
    found = yaml.load(front.yaml)
    return {} if found is None else dict(found)


def is_shared(one: Note, name: str) -> bool:
    """Whether the value has an anchor that another one refers to."""
    own = next(chunk.text for chunk in one.chunks if chunk.name == name)
    others = "".join(chunk.text for chunk in one.chunks if chunk.name != name)
    anchor = own.partition("&")[2].split()
    return bool(anchor) and f"*{anchor[0]}" in others.replace("\r", "").split()


def around(one: Note, name: str) -> tuple[str, str]:
    """All of the note above the lines of a property, and all below."""
    n = next(n for n, chunk in enumerate(one.chunks) if chunk.name == name)
    texts = [chunk.text for chunk in one.chunks]
    return one.top + "".join(texts[:n]), "".join(texts[n + 1 :]) + one.bottom


def edited(one: Note, wanted: Mapping[str, object], *remove: str) -> str | None:
    """The note after the edit; None where it was refused."""
    try:
        return edit_properties(one.text, wanted, remove).apply(one.text)
    except InvalidYaml:
        return None


def test_the_generator_makes_every_form() -> None:
    every = "".join(note(seed).text for seed in SEEDS)
    for form in (
        "# ",
        "&a0",
        "*a0",
        "|2",
        ">-",
        "\r\n",
        "\ufeff",
        "tab\t",
        "2024-02-30",
        "[a,",
        '"k',
    ):
        assert form in every


@pytest.mark.parametrize("part", range(4))
def test_only_the_named_property_changes(part: int) -> None:
    n_refused = 0
    for seed in SEEDS[part::4]:
        one = note(seed)
        draw = random.Random(seed)
        name, value = draw.choice(one.names), draw.choice(VALUES)
        before, (above, below) = loaded(one.text), around(one, name)

        changed = edited(one, {name: value})
        removed = edited(one, {}, name)
        if is_shared(one, name):
            n_refused += 1
            assert (changed, removed) == (None, None) or before[name] == value
        else:
            assert changed is not None
            assert removed is not None
            assert changed.startswith(above)
            assert changed.endswith(below)
            assert len(changed) >= len(above) + len(below)
            assert loaded(changed) == before | {name: value}
            assert removed == above + below
            assert loaded(removed) == {n: v for n, v in before.items() if n != name}

        added = edited(one, {"a new one": value})
        assert added is not None
        top = one.text.removesuffix(one.bottom)
        assert added.startswith(top)
        assert added.endswith(one.bottom)
        assert loaded(added) == before | {"a new one": value}

        edit, new = add_tags(one.text, ["a", "x/y"])
        tagged = edit.apply(one.text)
        above, below = around(one, "tags") if "tags" in one.names else (top, one.bottom)
        assert "x/y" in new
        assert tagged.startswith(above)
        assert tagged.endswith(below)
        after = loaded(tagged)
        assert {n: v for n, v in after.items() if n != "tags"} == {
            n: v for n, v in before.items() if n != "tags"
        }
        assert isinstance(after["tags"], list)
        assert after["tags"][-1] == "x/y"
        assert add_tags(tagged, ["x/y"])[1] == ()
    assert n_refused <= 10
