"""A broken text holds no control token of a chat template, and unescaping restores the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.spoofing import (
    BAR,
    escape_special_tokens,
    incomplete_token_start,
    unescape_special_tokens,
)
from tests.support.control_tokens import TOKENS

HONEST = (
    "if (a < b || c > d) { x |> f }", "xs[0] <|> ys", "<div class='s'><span>", "Vec<String>",
    "[link](a.md) [x] [ARGS]", "a <- b; c[i]~d", "&lt;s&gt;", "std::vector<s16>", "<script>", "||", "",
)  # fmt: skip
pieces = st.sampled_from(
    (
        *TOKENS,
        "<",
        "|",
        ">",
        "[",
        "]",
        "/",
        BAR,
        "a",
        "U+200B",
        "\u200b",
        "\u202e",
        "~b",
        "~!b",
        " ",
        "\n",
    )
)
texts = st.lists(pieces, max_size=12).map("".join)


@pytest.mark.parametrize("token", TOKENS)
def test_each_token_is_broken_visibly_and_back(token: str) -> None:
    text = f"a {token}b{token}\n"
    assert token not in escape_special_tokens(text)
    assert escape_special_tokens(text).replace(BAR, "") == text
    assert unescape_special_tokens(escape_special_tokens(text)) == text


@given(texts)
def test_whatever_a_text_holds_it_holds_no_token_when_it_is_broken(text: str) -> None:
    assert not any(token in escape_special_tokens(text) for token in TOKENS)


@given(texts)
def test_broken_token_is_distinguished_from_equal_text(text: str) -> None:
    assert unescape_special_tokens(escape_special_tokens(text)) == text


@pytest.mark.parametrize("text", HONEST)
def test_other_text_is_unchanged(text: str) -> None:
    assert escape_special_tokens(text) == text


@given(texts, st.data())
def test_a_text_that_comes_in_pieces_is_mended_as_one(text: str, data: st.DataObject) -> None:
    whole, done, waiting, at = escape_special_tokens(text), "", "", 0
    while at < len(whole):
        step = data.draw(st.integers(1, 5))
        waiting += whole[at : at + step]
        at += step
        end = incomplete_token_start(waiting)
        done, waiting = done + unescape_special_tokens(waiting[:end]), waiting[end:]
    assert done + unescape_special_tokens(waiting) == text


def test_a_bar_that_a_person_wrote_stays_where_nothing_is_broken() -> None:
    assert unescape_special_tokens(f"a {BAR} b <{BAR}x> [{BAR}]") == f"a {BAR} b <{BAR}x> [{BAR}]"
