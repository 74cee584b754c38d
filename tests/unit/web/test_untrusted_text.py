"""Invisible characters are removed, and the text around them stays."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from stet.web.untrusted_text import strip_hidden, strip_to_line


@given(st.text())
def test_no_control_format_or_tag_character_is_left(text: str) -> None:
    left, _ = strip_hidden(text)
    assert {unicodedata.category(each) for each in left} & {"Cc", "Cs"} <= (
        {"Cc"} if set(left) & {"\n", "\t"} else set()
    )
    assert strip_hidden(left) == (left, 0)


@given(st.text(st.characters(categories=["L", "N", "P"], max_codepoint=0x2FF)))
def test_plain_text_is_unchanged(text: str) -> None:
    assert strip_hidden(text) == (text, 0)


def test_strip_to_line_returns_one_short_line() -> None:
    assert strip_to_line(" a\u202e\r\n\tb\u2028c ", 9) == "a b c"
    assert strip_to_line("x" * 10, 5) == "xxxx…"
