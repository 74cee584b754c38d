"""The algebra of edits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.edit import Bias, OverlapError, Replacement, TextEdit
from tests.support.naive_text import NASTY

nasty = st.lists(st.sampled_from(NASTY), max_size=12).map("".join)


@st.composite
def edits(draw: st.DrawFn, text: str) -> TextEdit:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return TextEdit(tuple(Replacement(start, end, draw(nasty)) for start, end in pairs))


@given(data=st.data(), text=nasty)
@settings(max_examples=100, deadline=None)
def test_an_edit_changes_a_text_if_it_is_another_one_afterwards(
    data: st.DataObject, text: str
) -> None:
    edit = data.draw(edits(text))
    assert edit.changes(text) is (edit.apply(text) != text)


@given(data=st.data(), text=nasty)
@settings(max_examples=100, deadline=None)
def test_two_edits_composed_do_what_one_after_the_other_does(
    data: st.DataObject, text: str
) -> None:
    first = data.draw(edits(text))
    then = data.draw(edits(first.apply(text)))
    assert first.compose(then).apply(text) == then.apply(first.apply(text))


@given(data=st.data(), text=nasty)
@settings(max_examples=100, deadline=None)
def test_text_between_replacements_is_found_again_by_its_offset(
    data: st.DataObject, text: str
) -> None:
    edit = data.draw(edits(text))
    after = edit.apply(text)
    replaced = {at for one in edit.replacements for at in range(one.start, one.end)}
    for offset in set(range(len(text))) - replaced:
        assert after[edit.map_offset(offset, Bias.RIGHT)] == text[offset]


def test_replacements_are_kept_in_order_of_place() -> None:
    late, early = Replacement(3, 4, "D"), Replacement(0, 1, "A")
    assert TextEdit((late, early)).replacements == (early, late)
    assert TextEdit((late, early)).apply("abcd") == "AbcD"


def test_insertions_at_one_place_keep_their_order_and_precede_replacements() -> None:
    edit = TextEdit((Replacement(1, 2, "B"), Replacement(1, 1, "1"), Replacement(1, 1, "2")))
    assert edit.apply("abc") == "a12Bc"


def test_two_replacements_of_the_same_text_are_refused_by_name() -> None:
    with pytest.raises(OverlapError) as error:
        TextEdit((Replacement(2, 5, "x"), Replacement(0, 3, "y")))
    assert str(error.value) == (
        "Replacement(start=0, end=3, text='y') and Replacement(start=2, end=5, text='x') "
        "replace the same text"
    )


def test_an_edit_of_another_text_is_refused() -> None:
    with pytest.raises(ValueError, match="made for another text"):
        TextEdit((Replacement(2, 5, "x"),)).apply("abc")
    with pytest.raises(ValueError, match="0 <= start <= end"):
        Replacement(3, 2, "")


def test_an_insertion_exactly_at_a_place_pushes_it_by_its_bias() -> None:
    edit = TextEdit((Replacement(1, 1, "xx"), Replacement(3, 5, "y")))
    places = [(edit.map_offset(at, Bias.LEFT), edit.map_offset(at, Bias.RIGHT)) for at in range(7)]
    assert places == [(0, 0), (1, 3), (4, 4), (5, 6), (5, 6), (6, 6), (7, 7)]
