"""What a hunk becomes when the user wants another text: its line ends are the document's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.review.proposal import HunkState
from stet.text.lines import line_end, split_lines
from tests.support.review_harness import ReviewHarness


def amended(text: str, new: str, wanted: str) -> str:
    """The text once the only hunk of `new` was amended and accepted."""
    page = ReviewHarness(text)
    page.propose(new)
    page.ledger.amend("h1", wanted)
    page.accept("h1")
    return page.text


@pytest.mark.parametrize(
    ("text", "new", "wanted", "after"),
    [
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", "B\nBB\n", "a\r\nB\r\nBB\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", "x", "a\r\nx\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "a\r\nc\r\n", "B\nBB\n", "a\r\nB\r\nBB\r\nc\r\n"),
        ("a\r\nb\r\n", "n\r\na\r\nb\r\n", "n\nm", "n\r\nm\r\na\r\nb\r\n"),
        ("a\r\nb", "a\r\nb\r\nn", "b\nn\nm", "a\r\nb\r\nn\r\nm"),
        ("a\r\nb", "a\r\nB", "B\nBB", "a\r\nB\r\nBB"),
        ("a\nb\nc\n", "a\nB\nc\n", "B\r\nBB\r\n", "a\nB\nBB\nc\n"),
        ("a\rb\rc\r", "a\rB\rc\r", "B\nBB\n", "a\rB\rBB\rc\r"),
    ],
    ids=["replaced", "without an end", "deleted", "at the top", "at the end", "last", "\\n", "\\r"],
)
def test_lines_end_as_those_of_the_document(text: str, new: str, wanted: str, after: str) -> None:
    assert amended(text, new, wanted) == after


def test_where_ends_are_mixed_a_line_keeps_its_own_and_a_new_one_has_what_most_have() -> None:
    text, new = "a\r\nb\nc\nd\r\ne\r\n", "a\r\nB\nc\nD\r\ne\r\n"
    page = ReviewHarness(text)
    page.propose(new.replace("c\n", "C\n"))
    page.ledger.amend("h1", "B\nnew\nc\nD\n")
    assert page.hunks[0].new == "B\nnew\r\nc\nD\r\n"


@pytest.mark.parametrize(
    ("text", "new", "wanted"),
    [("a\rb\n\nc\n", "a\rB\n\nc\n", "\nx\n"), ("a\rb\r\nc\r\n\n", "a\rB\r\nc\r\n\n", "\n\n")],
)
def test_no_two_line_ends_become_one(text: str, new: str, wanted: str) -> None:
    before = len(split_lines(text))
    assert len(split_lines(amended(text, new, wanted))) == before + wanted.count("\n") - 1


def test_line_after_a_last_line_without_an_end_gets_the_line_end_of_the_document() -> None:
    page = ReviewHarness("a\r\nb\r\n")
    page.propose("a\r\nb\r\nn\r\n")
    page.type(1, 1, 2, 0, "")
    page.ledger.amend("h1", "m")
    page.accept("h1")
    assert page.text == "a\r\nb\r\nm"


def test_a_new_file_keeps_the_ends_that_it_was_given() -> None:
    page = ReviewHarness("")
    hunk = page.create("a\r\nb\r\n")
    assert page.ledger.amend(hunk.id, "a\nc\nb\n").new == "a\r\nc\r\nb\r\n"


def test_taking_the_agents_text_in_a_conflict_changes_no_line_end() -> None:
    page = ReviewHarness("a\r\nb\r\nc\r\n")
    page.propose("a\r\nB\r\nc\r\n")
    page.type(1, 0, 1, 1, "mine")
    assert page.hunks[0].state is HunkState.CONFLICT
    assert page.ledger.take_theirs("h1").new == "B\r\n"


@given(st.lists(st.sampled_from(["a", "b", "x", ""]), max_size=6), st.booleans())
def test_amended_document_keeps_its_line_ends(lines: list[str], is_ended: bool) -> None:
    wanted = "\n".join(lines) + ("\n" if lines and is_ended else "")
    after = amended("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", wanted)
    assert {line_end(line) for line in split_lines(after)[:-1]} == {"\r\n"}
