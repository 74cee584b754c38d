"""The lists of forms: what they hold, that no value is written in them, and how much of them is
marked.
"""

import re

import pytest

from tests.secret_forms.forms import (
    FOLDER,
    SEEDS,
    Form,
    forms,
    halves,
    layouts,
    layouts_later,
    rate,
    unseen,
    unseen_later,
)

_SOURCE = re.compile(r"^#   (\w) +\S.*https://", re.MULTILINE)
_OWN_DOCUMENT = {"forms": "P", "unseen": "", "layouts": "BKN", "unseen2": "P", "layouts2": ""}
"""Letters of sources that a list does not spell out itself."""
_UNREAD = re.compile(r"\[\[|\]\]|<<|\{\w+(?::\d+)?\}")
LISTS = {
    "forms": (forms(), 200),
    "unseen": (unseen(), 90),
    "layouts": (layouts(), 140),
    "unseen2": (unseen_later(), 100),
    "layouts2": (layouts_later(), 120),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_its_forms_once_and_each_its_source(name: str) -> None:
    listed, least = LISTS[name]
    known = _SOURCE.findall((FOLDER / f"{name}.tsv").read_text(encoding="utf-8"))
    assert len(listed) >= least
    assert {one.source for one in listed} <= {*known, *_OWN_DOCUMENT[name]}


def test_no_form_is_listed_twice() -> None:
    listed = [form for each, _ in LISTS.values() for form in each]
    assert len({one.name for one in listed}) == len(listed)
    assert len({one.text for one in listed}) == len(listed)


def test_one_list_is_split_in_two_by_a_hash_of_the_names() -> None:
    tuned, held_out = halves()
    assert len(tuned) + len(held_out) == len(forms())
    assert min(len(tuned), len(held_out)) > 0.4 * len(forms())


@pytest.mark.parametrize("name", LISTS)
def test_the_secret_of_a_form_is_generated(name: str) -> None:
    for form in LISTS[name][0]:
        examples = [form.example(seed) for seed in SEEDS]
        assert len({one.text for one in examples}) == len(examples), form
        assert form.example(0) == examples[0]
        for one in examples:
            assert sum(end - start for start, end in one.made) >= 16, form
            assert not _UNREAD.search(one.text), form


TUNED, HELD_OUT = halves()


@pytest.mark.parametrize("half", [TUNED, HELD_OUT], ids=["tuned", "held out"])
def test_nearly_all_examples_of_each_half_are_marked(half: list[Form]) -> None:
    share = rate(half)
    print(f"{share:.1f} % of {len(half) * len(SEEDS)} examples are marked")  # noqa: T201
    assert share >= 98
