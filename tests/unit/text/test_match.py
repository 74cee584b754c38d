"""A block that a model wants replaced is found where a person would find it, or refused."""

# ruff: noqa: RUF001 - typographic signs are what is tested here

import time

import pytest

from stet.text.buffer import TextBuffer
from stet.text.encoding import Encoding
from stet.text.match import find_block
from stet.text.match_result import (
    AmbiguousBlock,
    BlockChangedByUser,
    BlockNotFound,
    EditAlreadyApplied,
    MatchError,
    MatchKind,
    UnclearEdit,
)
from stet.text.normalized_text import ShownText

EXACT, SEEN = MatchKind.EXACT, MatchKind.SEEN
TRAILING, INDENT, PUNCTUATION = (
    MatchKind.TRAILING_SPACE,
    MatchKind.INDENT,
    MatchKind.PUNCTUATION,
)


def replaced(live: str, old: str, new: str, seen: ShownText | None = None) -> tuple[MatchKind, str]:
    """How the block was found, and the text afterwards."""
    match = find_block(live, old, new, seen)
    return match.kind, match.edit.apply(live)


def typed(text: str, *edits: tuple[int, int, int, int, str]) -> tuple[str, ShownText]:
    """The text after the user's edits, and what a model saw that was shown it before them."""
    buffer = TextBuffer(text)
    changes = tuple(buffer.splice(*edit, Encoding.UTF16) for edit in edits)
    return buffer.text, ShownText(text, changes)


@pytest.mark.parametrize(
    ("live", "old", "new", "expected"),
    [
        ("a\nb\nc\n", "b\n", "B\n", (EXACT, "a\nB\nc\n")),
        ("a\nb\nc\n", "b\n", "", (EXACT, "a\nc\n")),
        ("x = f(1)\n", "f(1)", "g(2)", (EXACT, "x = g(2)\n")),
        ("", "", "new\n", (EXACT, "new\n")),
        ("\ufeff", "", "new\n", (EXACT, "\ufeffnew\n")),
        ("\ufeffa\nb\n", "\ufeffa\n", "A\n", (EXACT, "\ufeffA\nb\n")),
        ("\ufeffa  \nb\nc", "a\nb", "A\nB", (TRAILING, "\ufeffA\nB\nc")),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_exact_text_is_replaced(
    live: str, old: str, new: str, expected: tuple[MatchKind, str]
) -> None:
    assert replaced(live, old, new) == expected


def test_a_file_keeps_its_line_ends() -> None:
    live = "a\r\nb\r\nc\r\n"
    assert replaced(live, "a\nb\n", "a\nx\ny\n") == (EXACT, "a\r\nx\r\ny\r\nc\r\n")
    assert replaced(live, "b", "x\ny") == (EXACT, "a\r\nx\r\ny\r\nc\r\n")
    assert replaced(live, "a\r\nb\r\n", "q\r\n") == (EXACT, "q\r\nc\r\n")
    assert replaced("a\rb\rc", "b\nc", "b\nx\nc") == (EXACT, "a\rb\rx\rc")


def test_every_line_of_a_mixed_file_keeps_its_own_line_end() -> None:
    live = "a\r\nb\nc\rd\r\n"
    assert replaced(live, "a\nb\nc\nd\n", "a\nB\nnew\nc\nd\n") == (
        EXACT,
        "a\r\nB\nnew\r\nc\rd\r\n",
    )


def test_trailing_white_space_is_forgiven_and_kept_where_nothing_was_meant() -> None:
    live = "one  \ntwo\nthree\t\nfour\n"
    assert replaced(live, "one\ntwo \nthree\n", "one\n2\nthree\n") == (
        TRAILING,
        "one  \n2\nthree\t\nfour\n",
    )
    assert replaced("a word  \nb\n", "a word\nb\n", "a new word\nb\n") == (
        TRAILING,
        "a new word  \nb\n",
    )


def test_a_final_line_end_that_is_missing_stays_missing() -> None:
    assert replaced("a\n  b", "b\n", "c\n") == (INDENT, "a\n  c")
    assert replaced("a \nb", "a\nb\n", "a\n") == (TRAILING, "a ")


def test_a_block_at_another_indent_takes_the_new_text_there() -> None:
    live = "class A:\n    def f(self):\n        return 1\n"
    old = "def f(self):\n    return 1\n"
    new = "def f(self):\n\n    if x:\n        return 2\n    return 1\n"
    assert replaced(live, old, new) == (
        INDENT,
        "class A:\n    def f(self):\n\n        if x:\n            return 2\n        return 1\n",
    )
    assert replaced(
        live.replace("    ", "\t"), "\t\tdef f(self):\n\t\t\treturn 1\n", "\t\tpass\n"
    ) == (
        INDENT,
        "class A:\n\tpass\n",
    )


def test_a_file_with_tabs_keeps_tabs_when_the_model_writes_spaces() -> None:
    live = "func f() {\n\tif x {\n\t\treturn 1\n\t}\n}\n"
    old = "    if x {\n        return 1\n    }\n"
    new = "    if x {\n        if y {\n            return 2\n        }\n    }\n"
    assert replaced(live, old, new) == (
        INDENT,
        "func f() {\n\tif x {\n\t\tif y {\n\t\t\treturn 2\n\t\t}\n\t}\n}\n",
    )


def test_a_file_with_spaces_keeps_spaces_when_the_model_writes_tabs() -> None:
    assert replaced("if x:\n  a()\n  b()\n", "if x:\n\ta()\n\tb()\n", "if x:\n\tb()\n\tc()\n") == (
        INDENT,
        "if x:\n  b()\n  c()\n",
    )


def test_an_indent_that_is_not_uniform_is_refused() -> None:
    with pytest.raises(BlockNotFound):
        find_block("  a\n    b\n", "a\nb\n", "c\n")


def test_a_new_line_left_of_the_margin_is_refused() -> None:
    with pytest.raises(UnclearEdit, match="'y = 2'"):
        find_block("x = 1\nz = 3\n", "    x = 1\n    z = 3\n", "    x = 1\ny = 2\n    z = 3\n")


def test_typographic_punctuation_is_kept_where_the_model_changed_nothing() -> None:
    live = "He said “hello”\u00a0— it’s ‘fine’…\nSo – what?\n"
    old = "He said \"hello\" - it's 'fine'...\nSo - what?\n"
    new = "He said \"goodbye\" - it's 'fine'...\nSo - what now?\n"
    assert replaced(live, old, new) == (
        PUNCTUATION,
        "He said “goodbye”\u00a0— it’s ‘fine’…\nSo – what now?\n",
    )


def test_what_the_model_adds_is_written_as_the_model_wrote_it() -> None:
    assert replaced("‘a’ b\n", "'a' b\n", "'a' b\n'c'\n") == (PUNCTUATION, "‘a’ b\n'c'\n")
    assert replaced('say("x")\n', "say(“x”)\n", "shout(“x”)\n") == (PUNCTUATION, 'shout("x")\n')


def test_a_second_place_is_refused_with_all_places() -> None:
    cases = [
        ("a\nb\na\n", "a\n"),
        ("if x:\n    return\n\nif x:\n    return\n", "if x:\n    return\n"),
        ("aaa\n", "aa"),
        ("x \ny\nx  \ny\n", "x\ny\n"),
        ("  p\n  q\n    p\n    q\n", "p\nq\n"),
        ("“p” q\n‘‘\n„p“ q\n", '"p" q\n'),
    ]
    lines = []
    for live, old in cases:
        with pytest.raises(AmbiguousBlock) as error:
            find_block(live, old, "new\n")
        lines.append(error.value.lines)
    assert lines == [(1, 3), (1, 4), (1, 1), (1, 3), (1, 3), (1, 3)]


def test_part_of_a_line_is_refused_where_whole_lines_may_have_been_meant() -> None:
    with pytest.raises(AmbiguousBlock) as error:
        find_block('say(“hi”)\n\nessay("hi")\n', 'say("hi")', 'say("ho")')
    assert error.value.lines == (1, 3)


def test_every_exact_place_is_replaced_when_asked() -> None:
    match = find_block("a\r\nb\r\na\r\n", "a\n", "c\nd\n", replace_all=True)
    assert match.edit.apply("a\r\nb\r\na\r\n") == "c\r\nd\r\nb\r\nc\r\nd\r\n"
    assert find_block("aaa", "aa", "b", replace_all=True).edit.apply("aaa") == "ba"


def test_copied_line_numbers_are_understood_if_all_lines_have_them() -> None:
    live = "a\nb\n\nc\n"
    assert replaced(live, "     2\tb\n     3\t\n     4\tc\n", "     2\tB\n     3\tc\n") == (
        EXACT,
        "a\nB\nc\n",
    )
    assert replaced(live, "2\tb\n", "B\n") == (EXACT, "a\nB\n\nc\n")
    for old in ("     2\tb\nc\n", "     2\tb\n     5\tc\n"):
        with pytest.raises(BlockNotFound):
            find_block(live, old, "x\n")
    with pytest.raises(UnclearEdit, match="1 of 2 lines"):
        find_block(live, "     2\tb\n", "     2\tb\nx\n")


def test_a_table_of_numbers_is_taken_as_it_is() -> None:
    assert replaced("1\ta\n2\tb\n", "1\ta\n2\tb\n", "1\tA\n2\tB\n") == (EXACT, "1\tA\n2\tB\n")


def test_an_empty_request_is_refused() -> None:
    for live, old, new, why in [
        ("a\n", "", "b\n", "old text is empty"),
        ("a\n", "a\n", "a\n", "the same"),
        ("a\r\n", "a\r\n", "a\n", "the same"),
    ]:
        with pytest.raises(UnclearEdit, match=why):
            find_block(live, old, new)


def test_blank_lines_alone_match_only_exactly() -> None:
    with pytest.raises(BlockNotFound):
        find_block("a\n  \nb\n", "\n\n\n", "x\n")


def test_edit_that_is_applied_already_is_reported() -> None:
    for live, old, new, line in [
        ("a\nnew\nb\n", "old\n", "new\n", 2),
        ("x\n  new\n  line\n", "old\n", "new\nline\n", 0),
        ('a\nsay "x"\n', "say “x”\n", 'say "x"\n', 2),
    ]:
        if line:
            with pytest.raises(EditAlreadyApplied) as error:
                find_block(live, old, new)
            assert error.value.line == line
        else:
            with pytest.raises(BlockNotFound):
                find_block(live, old, new)


def test_a_near_miss_names_the_closest_lines() -> None:
    live = "import os\n\ndef total(items):\n    return sum(items)\n\nprint(1)\n"
    with pytest.raises(BlockNotFound) as error:
        find_block(live, "def total(xs):\n    return sum(xs) + 1\n", "pass\n")
    closest = "lines 3-4:\ndef total(items):\n    return sum(items)\nRepeat"
    assert closest in str(error.value)


def test_text_like_nothing_in_the_file_has_no_closest_lines() -> None:
    with pytest.raises(BlockNotFound) as error:
        find_block("a\n", "zzz\n", "q\n")
    assert "Nothing in the file is like it" in str(error.value)


def test_match_prefers_the_shown_place_to_a_pasted_copy() -> None:
    live, seen = typed("a\nb\nc\n", (0, 0, 0, 0, "b\n"), (0, 0, 0, 0, "top\n"))
    assert live == "top\nb\na\nb\nc\n"
    assert replaced(live, "b\n", "B\n", seen) == (SEEN, "top\nb\na\nB\nc\n")


def test_place_that_the_user_changed_is_refused_with_its_current_text() -> None:
    live, seen = typed("a\nx = 1\nc\n", (1, 4, 1, 5, "2"), (0, 0, 0, 0, "top\n"))
    with pytest.raises(BlockChangedByUser) as error:
        find_block(live, "x = 1\n", "x = 3\n", seen)
    assert "lines 3-3:\nx = 2\nRepeat" in str(error.value)
    assert "The user has changed this text (now lines 3-3)" in str(error.value)


def test_a_copy_elsewhere_is_not_edited_for_a_place_the_user_has_changed() -> None:
    live, seen = typed("a\nx = 1\nc\n", (1, 4, 1, 5, "2"), (3, 0, 3, 0, "x = 1\n"))
    with pytest.raises(BlockChangedByUser):
        find_block(live, "x = 1\n", "x = 3\n", seen)


def test_a_block_the_user_has_moved_is_followed() -> None:
    live, seen = typed("a\nx = 1\nc\n", (1, 0, 2, 0, ""), (2, 0, 2, 0, "x = 1\n"))
    assert replaced(live, "x = 1\n", "x = 3\n", seen) == (EXACT, "a\nc\nx = 3\n")


def test_edit_that_the_user_made_is_applied_already() -> None:
    live, seen = typed("a\nx = 1\n", (1, 4, 1, 5, "2"))
    with pytest.raises(EditAlreadyApplied) as error:
        find_block(live, "x = 1\n", "x = 2\n", seen)
    assert error.value.line == 2


def test_a_block_copied_badly_and_changed_by_the_user_is_refused() -> None:
    live, seen = typed("def f():\n    return “a”\n", (1, 4, 1, 10, "yield"))
    with pytest.raises(BlockChangedByUser):
        find_block(live, 'def f():\n    return "a"\n', "pass\n", seen)


@pytest.mark.slow
def test_thousands_of_lines_alike_are_refused_without_a_blow_up() -> None:
    live = "".join(" " * (n % 2) + "same\n" for n in range(4_000))
    began = time.process_time()
    with pytest.raises(BlockNotFound):
        find_block(live, "  same\n same\nsame\n" * 600, "x\n")
    with pytest.raises(AmbiguousBlock):
        find_block("same\n" * 4_000, " same\n" * 2000, "x\n")
    assert time.process_time() - began < 5  # a product of both lengths takes far longer


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (AmbiguousBlock((1, 5)), "2 times, at lines 1, 5"),
        (AmbiguousBlock(tuple(range(1, 40))), "19, 20, ..."),
        (EditAlreadyApplied(3), "Line 3 already"),
        (BlockNotFound("", 0, 0), "read the file again"),
        (BlockChangedByUser("", 4, 4), "removed this text (it was at line 4)"),
        (BlockNotFound("x\n" * 99, 1, 99), "x\n...\nRepeat"),
    ],
)
def test_every_refusal_has_a_place_and_a_remedy(error: MatchError, words: str) -> None:
    assert words in str(error)
