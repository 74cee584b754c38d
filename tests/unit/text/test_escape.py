"""Text of others cannot act on the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.escape import disable_links, escape, escape_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode 漢字 🎉\n\tx", "plain ünïcode 漢字 🎉\n\tx"),
        ("\x1b[8mhidden\x1b[0m", "\\x1b[8mhidden\\x1b[0m"),
        ("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
        ("\x1b]8;;http://evil\x1b\\x", "\\x1b]8;;http://evil\\x1b\\x"),
        ("safe\revil", "safe\\x0devil"),
        ("dos\r\nlines", "dos\nlines"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("\U000e0041\u200b\ud800", "\\U000e0041\\u200b\\ud800"),
    ],
)
def test_what_acts_is_shown_and_what_is_read_stays(text: str, shown: str) -> None:
    assert escape(text) == shown


@given(st.text())
def test_no_control_character_comes_through(text: str) -> None:
    assert not any(
        (ord(letter) < 32 and letter not in "\n\t") or 127 <= ord(letter) < 160
        for letter in escape(text)
    )
    assert escape_line(text).count("\n") == 0


@given(st.text("]([)! x"))
def test_no_link_is_left_in_a_message(text: str) -> None:
    assert "](" not in disable_links(text)
    assert disable_links(text).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![a](x) [b](command:y)", "![a] (x) [b] (command:y)"),
        ("[a][b]\n\n[b]: command:y", "[a] [b]\n\n[b] : command:y"),
        ("<command:y> <COMMAND:y> <http://x>", "< command:y> < COMMAND:y> < http://x>"),
        ("a[1] (b) {c: [2], d} <b> x < y: z", "a[1] (b) {c: [2], d} <b> x < y: z"),
    ],
)
def test_no_link_of_any_form_is_left_in_a_message(text: str, shown: str) -> None:
    assert disable_links(text) == shown
