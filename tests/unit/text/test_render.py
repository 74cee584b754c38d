"""Text as the model sees it."""

from stet.text.lines import split_lines
from stet.text.render import number_lines


def test_lines_are_numbered_from_the_first_shown() -> None:
    assert number_lines(["b\n", "\tc"], 9) == "     9\tb\n    10\t\tc\n"


def test_line_ends_look_the_same_and_the_empty_rest_is_no_line() -> None:
    assert number_lines(split_lines("a\r\n\rb\n"), 1) == "     1\ta\n     2\t\n     3\tb\n"
    assert number_lines(split_lines(""), 1) == ""
