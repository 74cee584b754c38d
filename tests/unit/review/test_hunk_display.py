"""The lines of a hunk as a client draws them: `-`, `+` or a space, and changed words in
brackets.
"""

from textwrap import dedent
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.hunk_display import (
    LONG_LINE,
    MAX_COMPARED,
    MAX_REMOVED_LINES,
    DisplayLine,
    LineOp,
    Span,
    display_lines,
)
from stet.review.proposal import HunkKind, HunkState
from stet.text.escape import escape
from stet.text.lines import split_lines, whole_lines, without_end
from stet.text.position import Position, Range
from tests.support.hunks import hunks_between, make_hunk

MARKS = {LineOp.CONTEXT: " ", LineOp.DELETE: "-", LineOp.INSERT: "+"}
TEXTS = st.text(st.sampled_from("ab .é😀\t\r\n\u202e"), max_size=60)


def bracketed(text: str, spans: tuple[Span, ...]) -> str:
    """Return `text` with brackets around its spans."""
    for start, end in reversed(spans):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


def picture(lines: list[DisplayLine]) -> str:
    """Draw display lines, each with the number of its line in the current text."""
    return "".join(f"{one.line} {MARKS[one.op]}{bracketed(one.text, one.spans)}\n" for one in lines)


def replaced(old: str, new: str) -> list[DisplayLine]:
    """Return the display of a hunk that replaces `old` by `new` from line 3 on."""
    place = Range(Position(3, 0), Position(3 + len(whole_lines(old)), 0))
    return display_lines(make_hunk(1, HunkKind.of_texts(old, new), old=old, new=new, range=place))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("total = a + b\n", "total = a - b\n", "3 -total = a [+] b\n4 +total = a [-] b\n"),
        (
            "return self.side\n",
            "return self._side\n",
            "3 -return self.[side]\n4 +return self.[_side]\n",
        ),
        ("one two\n", "three four\n", "3 -one two\n4 +three four\n"),
        ("", "new\n", "3 +new\n"),
        ("old\n", "", "3 -old\n"),
        ("a b c\nkept\nd\n", "a b C\nkept\n", "3 -a b [c]\n4 +a b [C]\n4  kept\n5 -d\n"),
        ("x\n", "x\r\n", "3 -x\n4 +x\n"),
        ("\u202ex y\n", "\u202ex z\n", "3 -\\u202ex [y]\n4 +\\u202ex [z]\n"),
    ],
)
def test_display_lines_of_a_replacement(old: str, new: str, expected: str) -> None:
    assert picture(replaced(old, new)) == expected


def test_display_lines_of_a_conflict_are_the_lines_of_the_user_and_of_the_agent() -> None:
    hunk = make_hunk(
        1,
        HunkKind.REPLACE,
        old="see my text\n",
        new="",
        proposed="see its text\n",
        state=HunkState.CONFLICT,
    )
    assert picture(display_lines(hunk)) == "0 -see [my] text\n1 +see [its] text\n"


def test_display_lines_of_whole_files() -> None:
    created = make_hunk(1, HunkKind.CREATE, new="a\nb\n")
    removed = make_hunk(2, HunkKind.REMOVE, old="a\nb")
    moved = make_hunk(3, HunkKind.MOVE, old="a\n", new="a\n", new_uri="file:///ws/b.txt")
    shown = [picture(display_lines(hunk)) for hunk in (created, removed, moved)]
    assert shown == ["0 +a\n0 +b\n", "0 -a\n1 -b\n", ""]


def test_display_lines_of_a_large_removed_file_are_bounded() -> None:
    removed = display_lines(make_hunk(1, HunkKind.REMOVE, old="a\n" * (MAX_REMOVED_LINES + 1)))
    assert [line.line for line in removed] == [*range(MAX_REMOVED_LINES)]


def test_excerpt_holds_the_changed_sentences_of_a_long_line() -> None:
    kept = "This sentence is not changed at all, and it is here only to be long. " * 3
    old, new = f"{kept}The cat sat. It slept! {kept}", f"{kept}The dog sat. It slept! {kept}"
    assert len(old) > LONG_LINE
    shown = replaced(f"{old}\n", f"{new}\n")
    found = [[line.text[start:end] for start, end in line.excerpt] for line in shown]
    assert found == [["The cat sat. "], ["The dog sat. "]]
    assert [line.excerpt for line in replaced("The cat sat.\n", "The dog sat.\n")] == [(), ()]


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("{0}The cat sat. It slept! {0}", "{0}The big cat sat. It slept! {0}",
         ["The cat sat. "], ["The big cat sat. "]),
        ("{0}It slept! {0}", "{0}The cat sat. It slept! {0}",
         ["It slept! "], ["The cat sat. "]),
        ("{0}It slept!", "{0}It slept! The end.", ["It slept!"], ["It slept! The end."]),
    ],
    ids=["a word", "a sentence", "at the end"],
)  # fmt: skip
def test_excerpt_of_a_line_that_only_lacks_words(
    old: str, new: str, before: list[str], after: list[str]
) -> None:
    kept = "This sentence is not changed at all, and it is here only to be long. " * 3
    deleted, inserted = replaced(f"{old.format(kept)}\n", f"{new.format(kept)}\n")
    assert deleted.spans == ()
    assert [deleted.text[start:end] for start, end in deleted.excerpt] == before
    assert [inserted.text[start:end] for start, end in inserted.excerpt] == after


def test_excerpt_joins_neighbouring_sentences() -> None:
    kept = "Nothing changes in this long sentence, which goes on and on and on and on. " * 3
    shown = replaced(f"{kept}One ox. Two. {kept}\n", f"{kept}One cow. Three. {kept}\n")
    assert [[line.text[start:end] for start, end in line.excerpt] for line in shown] == [
        ["One ox. Two. "],
        ["One cow. Three. "],
    ]


@given(TEXTS, TEXTS)
def test_display_lines_are_the_lines_of_both_texts(old: str, new: str) -> None:
    current = split_lines(old)
    for hunk in hunks_between(old, new):
        shown = display_lines(hunk)
        before = [line for line in shown if line.op is not LineOp.INSERT]
        after = [line.text for line in shown if line.op is not LineOp.DELETE]
        assert [line.text for line in before] == [
            escape(without_end(current[line.line])) for line in before
        ]
        first = hunk.range.start.line
        n_old = len(whole_lines(hunk.old))
        assert [line.line for line in before] == [*range(first, first + n_old)]
        assert after == [escape(without_end(line)) for line in whole_lines(hunk.new)]
        for line in shown:
            for spans in (line.spans, line.excerpt):
                edges = [edge for span in spans for edge in span]
                assert edges == sorted(edges)
                assert all(0 <= start < end <= len(line.text) for start, end in spans)


@given(st.text(st.sampled_from("ab .\n"), max_size=80), st.text(st.sampled_from("ab .\n")))
@settings(max_examples=50)
def test_spans_are_all_that_differs(old: str, new: str) -> None:
    shown = replaced(f"same words here {old}", f"same words here {new}")
    kept = []
    for op in (LineOp.DELETE, LineOp.INSERT):
        lines = [line for line in shown if line.op is op]
        if not all(line.spans for line in lines):
            return
        text = ""
        for line in lines:
            outside, done = "", 0
            for start, end in line.spans:
                outside += line.text[done:start]
                done = end
            text += outside + line.text[done:]
        kept.append("".join(text.split()))
    assert len(kept) < 2 or kept[0] == kept[1]


@pytest.mark.parametrize("words", ["word ", "a b ", "😀 ", "."])
def test_display_lines_take_bounded_time_for_huge_lines(words: str) -> None:
    line = words * (1_000_000 // len(words))
    began = process_time()
    shown = replaced(f"{line}\n", f"x{line}y\n")
    assert process_time() - began < 1
    assert [one.spans for one in shown] == [(), ()]
    small = words * (MAX_COMPARED // 2 // len(words) - 1)
    began = process_time()
    replaced(f"{small}\n", f"x {small} y\n")
    assert process_time() - began < 1


def test_picture_shows_its_marks() -> None:
    shown = picture(
        [DisplayLine(LineOp.CONTEXT, 0, "a"), DisplayLine(LineOp.INSERT, 1, "bc", ((1, 2),))]
    )
    assert shown == dedent("""\
        0  a
        1 +b[c]
        """)


def test_same_hunk_at_another_line_has_its_lines_there() -> None:
    replace = HunkKind.REPLACE
    hunk = make_hunk(
        1, replace, old="one\n", new="two\n", range=Range(Position(3, 0), Position(4, 0))
    )
    moved = make_hunk(
        1, replace, old="one\n", new="two\n", range=Range(Position(9, 0), Position(10, 0))
    )
    assert picture(display_lines(hunk)) == "3 -one\n4 +two\n"
    assert picture(display_lines(moved)) == "9 -one\n10 +two\n"
