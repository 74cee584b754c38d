"""The list of forms: what it holds, and that no value is written in it."""

import re

import pytest

from tests.secret_forms.forms import LIST, SEEDS, Form, forms, halves, rate

_SOURCE = re.compile(r"^#   (\w) +\S.*https://", re.MULTILINE)


def test_the_list_has_two_hundred_forms_and_each_its_source() -> None:
    listed = forms()
    sources = set(_SOURCE.findall(LIST.read_text(encoding="utf-8"))) | {"P"}
    assert len(listed) >= 200
    assert len({one.name for one in listed}) == len(listed)
    assert len({one.text for one in listed}) == len(listed)
    assert {one.source for one in listed} <= sources


def test_it_is_split_in_two_by_a_hash_of_the_names() -> None:
    tuned, held_out = halves()
    assert len(tuned) + len(held_out) == len(forms())
    assert min(len(tuned), len(held_out)) > 0.4 * len(forms())


def test_what_is_secret_in_a_form_is_made_up_when_it_is_wanted() -> None:
    for form in forms():
        examples = [form.example(seed) for seed in SEEDS]
        assert len({one.text for one in examples}) == len(examples), form
        assert form.example(0) == examples[0]
        for one in examples:
            assert sum(end - start for start, end in one.made) >= 16, form
            assert not {"{", "}", "[["} & set(one.text), form


TUNED, HELD_OUT = halves()


@pytest.mark.parametrize("half", [TUNED, HELD_OUT], ids=["tuned", "held out"])
def test_nearly_all_examples_of_each_half_are_marked(half: list[Form]) -> None:
    share = rate(half)
    print(f"{share:.1f} % of {len(half) * len(SEEDS)} examples are marked")  # noqa: T201
    assert share >= 98
