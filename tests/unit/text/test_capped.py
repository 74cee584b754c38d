"""How answers are kept in bounds."""

from stet.text.capped import MAX_CHARACTERS, MAX_LINE, capped, quoted_line


def test_what_fits_is_shown_whole() -> None:
    assert capped(["a", "b"], "ask again") == "a\nb\n"
    assert capped([], "ask again") == ""


def test_a_cut_says_how_much_is_missing_and_how_to_go_on() -> None:
    assert capped(["a", "b", "c"], "ask again", limit=1) == "a\n(cut: 2 more lines; ask again)\n"
    text = capped(["x" * 999] * 30, "ask again")
    assert text.endswith("\n(cut: 10 more lines; ask again)\n")
    assert len(text) < MAX_CHARACTERS + 100


def test_a_quoted_line_is_short_and_nothing_in_it_acts() -> None:
    assert quoted_line("  a\tb\x1b[8m\u202e\r\n") == "a b\\x1b[8m\\u202e"
    assert quoted_line("x" * 500) == "x" * MAX_LINE + " …"
