"""Hunks as text for the user's editor, and what is read from the edited text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.cli.hunk_review import GUIDE, InvalidHunk, hunk_text, keys_of, read_hunk

OLD, NEW = "one\ntwo\nthree\n", "one\nTWO\nthree\n"
LINES = st.lists(st.sampled_from(["", "a", "b", " c", "#d", "-e", "+f"]), max_size=6)


def test_hunk_text_marks_each_line_below_a_guide() -> None:
    assert hunk_text(OLD, NEW) == f"{GUIDE} one\n-two\n+TWO\n three\n"


@given(LINES, LINES, st.booleans())
def test_read_hunk_of_an_unchanged_text_is_the_proposed_text(
    before: list[str], after: list[str], is_ended: bool
) -> None:
    old = "".join(f"{line}\n" for line in before)
    new = "".join(f"{line}\n" for line in after)
    if not is_ended and after and after[-1]:
        new = new.removesuffix("\n")
    if before or after:
        assert read_hunk(hunk_text(old, new), old, new) == new


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ("-one\n-two\n-three\n", ""),
        (" one\n two\n three\n+four\n", "one\ntwo\nthree\nfour\n"),
        ("# why\n one\n-two\n+2\r\n three\n", "one\n2\nthree\n"),
        ("# nothing is left\n", None),
    ],
)
def test_read_hunk_takes_context_and_added_lines(edited: str, expected: str | None) -> None:
    assert read_hunk(edited, OLD, NEW) == expected


@pytest.mark.parametrize(
    ("edited", "reason"),
    [
        (" one\n-2\n three\n", "differ from the file"),
        (" one\n three\n", "differ from the file"),
        (" one\ntwo\n three\n", "starts with 't'"),
    ],
)
def test_read_hunk_refuses_changed_lines_of_the_file(edited: str, reason: str) -> None:
    with pytest.raises(InvalidHunk, match=reason):
        read_hunk(edited, OLD, NEW)


def test_keys_of_a_whole_file_leave_editing_out() -> None:
    assert keys_of({"kind": "replace"}) == ("y", "n", "a", "q", "e", "?")
    assert keys_of({"kind": "create"}) == ("y", "n", "a", "q", "?")
