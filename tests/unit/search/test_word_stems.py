"""Which words a search takes for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.search.word_stems import folded_text, query_stems, split_words, stem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getUserNames", ["get", "user", "names"]),
        ("HTTPServer", ["http", "server"]),
        ("parse_config2", ["parse", "config", "2"]),
        ("kebab-case a.b", ["kebab", "case", "a", "b"]),
        ("Größe", ["grösse"]),
        ("->", []),
    ],
)
def test_identifiers_are_taken_apart(text: str, found: list[str]) -> None:
    assert split_words(text) == found


@pytest.mark.parametrize(
    "family",
    [
        "parse parses parsed parser parsers parsing",
        "run runs running",
        "stop stops stopped stopping",
        "query queries queried",
        "set sets setting settings",
        "delete deletes deleted deletion",
        "class classes",
        "filter filters filtered filtering",
        "link links linked linking",
        "configure configures configuration",
    ],
)
def test_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize("pair", ["user us", "string str", "process processor2", "bus but"])
def test_other_words_have_other_stems(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)


@given(st.text(alphabet="abdegilnorstyz", min_size=1, max_size=14))
def test_a_stem_begins_its_word(word: str) -> None:
    assert word.startswith(stem(word))
    assert stem(word)


def test_stop_words_are_left_out_of_a_query_unless_there_are_no_others() -> None:
    assert query_stems("How is the config parsed, and what parses it?") == ["config", "pars"]
    assert query_stems("to be") == ["to", "be"]


def test_one_text_in_two_unicode_forms_is_one() -> None:
    assert folded_text("Cafe\u0301") == folded_text("CAF\u00c9")
