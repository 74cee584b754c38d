"""How answers are kept in bounds."""

from stet.text.render import MAX_CHARACTERS, MAX_LINE, join_bounded, quote_line


def test_what_fits_is_shown_whole() -> None:
    assert join_bounded(["a", "b"], "ask again") == "a\nb\n"
    assert join_bounded([], "ask again") == ""


def test_cut_text_reports_how_much_is_missing_and_how_to_continue() -> None:
    long = "x" * MAX_CHARACTERS
    assert join_bounded(["a", long, "c"], "ask again") == "a\n(cut: 2 more lines; ask again)\n"
    text = join_bounded(["x" * 999] * 30, "ask again")
    assert text.endswith("\n(cut: 10 more lines; ask again)\n")
    assert len(text) < MAX_CHARACTERS + 100


def test_quoted_line_is_shortened_and_escaped() -> None:
    assert quote_line("  a\tb\x1b[8m\u202e\r\n") == "a b\\x1b[8m\\u202e"
    assert quote_line("x" * 500) == "x" * MAX_LINE + " …"
