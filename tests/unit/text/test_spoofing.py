"""Invisible and deceptive characters are distinguished from ordinary writing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.spoofing import describe_spoofing, escape_hidden, unescape_hidden

HONEST = [
    "plain\r\n\ttext\f\n",
    "Fa\u0308hre \u05d0\u200f\u05d1 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u2764\ufe0f \U0001f468\u200d\U0001f469\u200d\U0001f467 1\ufe0f\u20e3 \u2611\ufe0e",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f England",
    "\u0915\u094d\u200d\u0937 na\u00efve \u03b1 \u03b2x \u041f\u0440\u0438\u0432\u0435\u0442, admin \u03bcs",
    "\ufeffwith a mark at the top",
    "\u0e44\u0e17\u0e22\u200b\u0e44\u0e17\u0e22 \u1798\u200b\u1793",
    "\u845b\U000e0100\u57ce \u2229\ufe00 \u8fbb\ufe00",
    "\u1828\u180b\u1820 \u1820\u180e\u1820",
    "\u0627\u061c- \u05d0 (x)\u200e.",
    "\u2840\u2800\u2801",
    "\u0440\u043e\u0441\u0442 \u0438 \u043a\u043e\u0442",
    "\u043a\u043e\u0442",
    "\u03c1 = 1; \u03bd = 2 # p v",
    "10\xb5sec, x\xb2y, \ufb01nd",
    "caf\xe9 na\xefve \u010d\u0159\u017e \u1ec7 stra\xdfe \xc5ngstr\xf6m",
]
DECEIVING = [
    "vic\U000e0061tim", "if \u202e\u2066x", "a\u200bb", "ad\u200dmin", "ad\u200cmin", "x\ufe0f", "y\ufe00",
    "\u3164 = 1", "a\uffa0", "a\u2060b", "text\ufeff", "a \u200d\u200c\u200d", "\u2764\ufe0f\ufe0f",
    "\U000e0101", "\x1b[8m", "a\x08", "\u0430dmin", "pass\u0445ord", "adm\u0456n", "st\u03bfp",
    "\U0001f3f4\U000e0067",
    "x = 1 // \u2028evil()", "ad\u200emin", "\u2800= 1", "a\U000e0100", "\u845b\U000e0100\U000e0101", "a\u180e", "x\ufe00",
    "\u17b4", "adm\uff49n", "p\U0001d41aypal", "\u0412ank of", "copy \u0441\u043e\u0440\u0443", "ad\xadmin",
]  # fmt: skip


@pytest.mark.parametrize("text", HONEST, ids=ascii)
def test_ordinary_text_is_not_detected(text: str) -> None:
    assert describe_spoofing([text], []) == ""


@pytest.mark.parametrize("text", DECEIVING, ids=ascii)
def test_deceptive_text_is_detected_and_allowed_where_it_was_before(text: str) -> None:
    assert describe_spoofing([text], []) != ""
    assert describe_spoofing([text], [text]) == ""
    assert describe_spoofing([text, text], [text]) != ""


def test_invisible_character_is_shown_as_its_code_point() -> None:
    assert escape_hidden("a\u202eb\U000e0041c\u200b") == "a<\xa6U+202E>b<\xa6U+E0041>c<\xa6U+200B>"
    assert escape_hidden(HONEST[3]) == HONEST[3]


def test_soft_hyphen_is_allowed_in_prose_and_detected_in_code() -> None:
    for name in ("a.md", "docs/A.HTML", "x.po"):
        assert describe_spoofing(["Donau\xaddampf"], [], name) == ""
    assert describe_spoofing(["ad\xadmin"], [], "a.py") != ""


@given(st.text(alphabet="<>U+\xa6202E\u202e\u200b\xad a1F\U000e0041\ufeff", max_size=30))
def test_escape_is_distinguished_from_equal_text(text: str) -> None:
    shown = escape_hidden(text)
    assert unescape_hidden(shown) == text
    assert not {"\u202e", "\u200b", "\xad", "\U000e0041"} & set(shown)


def test_invalid_code_point_is_unchanged() -> None:
    assert unescape_hidden("<\xa6U+FFFFFF> <\xa6U+D800> <\xa6U+12> <U+202E>") == (
        "<\xa6U+FFFFFF> <\xa6U+D800> <\xa6U+12> <U+202E>"
    )


def test_all_detected_text_is_escaped() -> None:
    codes = [
        *(code for code in range(0x20000) if unicodedata.category(chr(code)) in _UNSEEN_KINDS),
        *(0x2800, 0x3164, 0xFFA0, 0x115F, 0x1160, *range(0xFFF0, 0xFFFC), *range(0xE0000, 0xE1000)),
    ]
    lines = [f"a{chr(code)}b" for code in codes]
    suspected = [line for line in lines if "invisible" in describe_spoofing([line], [])]
    assert len(suspected) > 4_000
    assert [ascii(line) for line in suspected if escape_hidden(line) == line] == []


_UNSEEN_KINDS = ("Cf", "Cc", "Zl", "Zp", "Mn")
