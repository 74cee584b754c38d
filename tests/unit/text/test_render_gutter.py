"""Line numbers and marks that a model copies into the text it sends back."""

import pytest

from stet.text.match import find_block
from stet.text.match_result import UnclearEdit
from stet.text.render import mark_lines, number_lines, strip_new_line_marks


def test_marks_come_off_what_was_copied_as_it_was_shown() -> None:
    shown = number_lines(["def f():\n"], first=7) + mark_lines(["    return 2\n", "\n"], "h12")
    assert shown == "     7\tdef f():\n  h12+\t    return 2\n  h12+\t\n"
    assert strip_new_line_marks(shown, "x\n") == ("def f():\n    return 2\n\n", "x\n")
    assert strip_new_line_marks(shown, "  h12+\tx\n     8\ty") == (
        "def f():\n    return 2\n\n",
        "x\ny",
    )


@pytest.mark.parametrize(
    "text",
    ["", "x", "     7\tx\n     8\ty", "  h1+\tx\ny", "h1+ x", "h+\tx", "1+\tx", "  h1+\tx\n\ny"],
)
def test_text_without_marks_in_all_its_lines_is_text(text: str) -> None:
    assert strip_new_line_marks(text, "new") is None


def test_a_new_text_with_marks_in_some_lines_is_refused() -> None:
    with pytest.raises(UnclearEdit, match="1 of 2 lines of the new text"):
        strip_new_line_marks("  h1+\tx", "  h1+\ty\nz")


@pytest.mark.parametrize(
    "new",
    [
        "     2\tbar\n",
        "     2\tbar\n     3\tbaz\n",
        "     9\tbar\n",
        "bar\n     3\tbaz\n",
        "  h12+\tbar\n",
    ],
)
def test_numbers_and_marks_that_only_the_new_text_has_are_never_written(new: str) -> None:
    with pytest.raises(UnclearEdit, match="the old text has none"):
        find_block("a\nfoo\nb\n", "foo\n", new)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("a\nfoo\nb\n", "foo\n", "2\tbar\n"),  # the row of a table
        ("a\nfoo\n", "foo\n", "\tbar 2\tx\n"),
        ("$ cat -n f\n     1\tx\nmore\n", "more\n", "     2\ty\n"),
    ],
)
def test_numbers_that_belong_to_the_text_are_written(text: str, old: str, new: str) -> None:
    assert find_block(text, old, new).edit.apply(text) == text.replace(old, new)
