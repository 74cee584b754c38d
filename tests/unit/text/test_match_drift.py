"""Model and file drift apart in several ways at once: what that comes to, or why it is refused."""

# ruff: noqa: RUF001 - typographic signs are what is tested here

import pytest

from stet.text.buffer import TextBuffer
from stet.text.encoding import Encoding
from stet.text.match import find_block
from stet.text.match_result import (
    AmbiguousBlock,
    BlockChangedByUser,
    EditAlreadyApplied,
    MatchKind,
    UnclearEdit,
)
from stet.text.normalized_text import ShownText

EXACT, MERGED = MatchKind.EXACT, MatchKind.MERGED
TRAILING, INDENT = MatchKind.TRAILING_SPACE, MatchKind.INDENT
PUNCTUATION = MatchKind.PUNCTUATION


def replaced(live: str, old: str, new: str, seen: ShownText | None = None) -> tuple[MatchKind, str]:
    match = find_block(live, old, new, seen)
    return match.kind, match.edit.apply(live)


def typed(shown: str, *keys: tuple[int, int, int, int, str]) -> tuple[str, ShownText]:
    buffer = TextBuffer(shown)
    changes = tuple(buffer.splice(*key, Encoding.UTF16) for key in keys)
    return buffer.text, ShownText(shown, changes)


def test_what_the_user_typed_into_the_quoted_lines_is_kept() -> None:
    live, seen = typed("a = 1\nb = 2\nc = 3\n", (0, 4, 0, 5, "10"))
    assert replaced(live, "a = 1\nb = 2\n", "a = 1\nb = 20\n", seen) == (
        MERGED,
        "a = 10\nb = 20\nc = 3\n",
    )


def test_what_the_user_typed_into_another_word_of_a_changed_line_is_kept() -> None:
    live, seen = typed("top\ncall(one, two)\n", (1, 5, 1, 8, "uno"), (0, 0, 0, 0, "new\n"))
    assert replaced(live, "call(one, two)\n", "call(one, due)\n", seen) == (
        MERGED,
        "new\ntop\ncall(uno, due)\n",
    )


def test_lines_the_user_put_between_the_quoted_ones_stay() -> None:
    live, seen = typed("a\nb\nc\nd\n", (1, 0, 1, 0, "mine\n"))
    assert replaced(live, "a\nb\nc\n", "a\nb\nC\n", seen) == (MERGED, "a\nmine\nb\nC\nd\n")


def test_a_block_copied_badly_is_merged_as_well() -> None:
    live, seen = typed("def f():\n\tone()\n\ttwo()\n", (1, 1, 1, 4, "uno"))
    assert replaced(live, "def f():\n    one()\n    two()\n", "def f():\n    one()\n", seen) == (
        MERGED,
        "def f():\n\tuno()\n",
    )


def test_line_ends_the_user_has_turned_since_are_kept() -> None:
    shown = "a = 1\r\nb = 2\r\n"
    buffer = TextBuffer(shown)
    changes = buffer.replace_all("a = 10\nb = 2\n")
    seen = ShownText(shown, changes)
    assert replaced(buffer.text, "a = 1\nb = 2\n", "a = 1\nb = 3\n", seen) == (
        MERGED,
        "a = 10\nb = 3\n",
    )


def test_two_changes_of_the_same_word_are_refused() -> None:
    live, seen = typed("call(one)\n", (0, 5, 0, 8, "uno"))
    with pytest.raises(BlockChangedByUser):
        find_block(live, "call(one)\n", "call(eins)\n", seen)


def test_two_insertions_at_one_place_are_refused() -> None:
    live, seen = typed("a\nb\n", (1, 0, 1, 0, "mine\n"))
    with pytest.raises(BlockChangedByUser):
        find_block(live, "a\nb\n", "a\nyours\nb\n", seen)


def test_the_same_change_by_the_user_is_applied_already_though_they_typed_more() -> None:
    live, seen = typed("a = 1\nb = 2\n", (1, 4, 1, 5, "3"), (0, 4, 0, 5, "10"))
    with pytest.raises(EditAlreadyApplied) as error:
        find_block(live, "a = 1\nb = 2\n", "a = 1\nb = 3\n", seen)
    assert error.value.line == 1


def test_a_clean_copy_typed_since_is_not_taken_for_the_block_that_was_shown() -> None:
    live, seen = typed("a \nb 1\t\nc\n", (3, 0, 3, 0, "a\nb 1\n"))
    assert replaced(live, "a\nb 1\n", "a\nb 2\n", seen) == (
        TRAILING,
        "a \nb 2\t\nc\na\nb 1\n",
    )


def test_without_knowing_what_was_shown_such_a_copy_is_the_block() -> None:
    assert replaced("a \nb\t\nc\na\nb\n", "a\nb\n", "a\nB\n") == (EXACT, "a \nb\t\nc\na\nB\n")


def test_of_copies_made_since_none_is_meant_if_there_were_two_already() -> None:
    live, seen = typed("a \nb\na\t\nb\n", (4, 0, 4, 0, "a  \nb\n"))
    with pytest.raises(AmbiguousBlock):
        find_block(live, "a\nb\n", "a\nB\n", seen)


@pytest.mark.parametrize(
    ("live", "old", "new", "after"),
    [
        ("a\nb\nc\n", "a\nb\n", "a\nB", "a\nB\nc\n"),
        ("a\r\nb\r\n", "a\n", "A", "A\r\nb\r\n"),
        ("    a\nb\n", "a\n", "A", "    A\nb\n"),
        ("a\nb\n", "a\n", "", "b\n"),
        ("x = a\nb\n", "a\n", "A, ", "x = A, b\n"),
        ("a\n\nb\n", "\n\n", "\n", "a\nb\n"),
    ],
)
def test_whole_lines_keep_their_last_line_end_when_the_model_forgets_it(
    live: str, old: str, new: str, after: str
) -> None:
    assert replaced(live, old, new) == (EXACT, after)


def test_last_line_end_missing_in_the_new_text_only_is_refused() -> None:
    with pytest.raises(UnclearEdit, match="To join two lines, send both"):
        find_block("a\nb\n", "a\n", "a")


def test_a_tab_is_as_wide_as_the_files_indent() -> None:
    live = "class A:\n    def f():\n        one()\n    def g():\n"
    old = "\tdef f():\n\t\tone()\n\tdef g():\n"
    assert replaced(live, old, old + "\nB = 1\n\tdef h():\n") == (
        INDENT,
        live + "\nB = 1\n    def h():\n",
    )


def test_a_blank_new_line_is_indented_as_the_file_is() -> None:
    assert replaced("if x:\n    a()\n", "\ta()\n", "\ta()\n\t\n\tb()\n") == (
        INDENT,
        "if x:\n    a()\n    \n    b()\n",
    )


def test_the_indent_of_the_first_line_may_be_lost() -> None:
    live = "class A:\n    def f(): \n        one()\n"
    old, new = "def f():\n        one()\n", "def g():\n        two()\n"
    assert replaced(live, old, new) == (INDENT, "class A:\n    def g(): \n        two()\n")
    assert replaced(live.replace("    ", "\t"), old, new) == (
        INDENT,
        "class A:\n\tdef g(): \n\t\ttwo()\n",
    )
    assert replaced(live, old, "") == (INDENT, "class A:\n")


def test_an_indent_lost_in_the_old_text_only_is_refused() -> None:
    live = "class A:\n    def f(): \n        one()\n"
    with pytest.raises(UnclearEdit, match="that of the new text has one"):
        find_block(live, "def f():\n        one()\n", "  def g():\n        one()\n")


def test_one_unindented_line_does_not_determine_the_indent_of_several() -> None:
    live = "def f():\n    one() \n"
    with pytest.raises(UnclearEdit, match="the indentation of the new lines"):
        find_block(live, "one()\n", "two()\nthree()\n")
    assert replaced(live, "one()\n", "two()\n") == (INDENT, "def f():\n    two() \n")


def test_signs_a_model_made_typographic_are_plain_in_its_new_lines_too() -> None:
    live = 'a("x")\nb("y")\n'
    assert replaced(live, "a(“x”)\nb(“y”)\n", "a(“x”)\nc(“z”)\nb(“w”)\n") == (
        PUNCTUATION,
        'a("x")\nc("z")\nb("w")\n',
    )


def test_typographic_signs_that_the_file_has_stay() -> None:
    live = 'a(“x”)\nb("y")\n'
    assert replaced(live, "a(“x”)\nb(“y”)\n", "a(“x”)\nb(“y”)\nand that is “z”\n") == (
        PUNCTUATION,
        live + "and that is “z”\n",
    )


def test_a_typographic_sign_of_the_new_text_alone_is_refused_beside_others_made_up() -> None:
    with pytest.raises(UnclearEdit, match="’"):
        find_block('a("x")\n', "a(“x”)\n", "a(“it’s”)\n")
    assert replaced("a(1)\n", "a(1)\n", "a(“it’s”)\n") == (EXACT, "a(“it’s”)\n")


def test_blank_last_line_is_known_by_its_line_number() -> None:
    live = "a\n\nb\n"
    assert replaced(live, "     1\ta\n     2\t\n", "     1\tA\n     2\t") == (EXACT, "A\n\nb\n")
    assert replaced(live, "     1\ta\n     2\t", "     1\tA\n     2\t") == (EXACT, "A\n\nb\n")


@pytest.mark.parametrize(
    ("column", "key", "old", "new", "wanted"),
    [
        (1, " # why", "b", "b\nB", "a\nb # why\nB\nc\n"),
        (0, "# ", "b", "A\nb", "a\nA\n# b\nc\n"),
        (0, "  ", "b\nc", "b\nX\nc", "a\n  b\nX\nc\n"),
    ],
)
def test_what_was_typed_at_the_edge_of_a_quoted_line_stays_in_that_line(
    column: int, key: str, old: str, new: str, wanted: str
) -> None:
    live, seen = typed("a\nb\nc\n", (1, column, 1, column, key))
    assert replaced(live, old, new, seen) == (MERGED, wanted)


def test_a_quoted_part_of_a_line_is_exchanged_in_that_line() -> None:
    live, seen = typed("a\none two three\nc\n", (1, 7, 1, 7, ","))
    assert replaced(live, "two", "2", seen) == (EXACT, "a\none 2, three\nc\n")
