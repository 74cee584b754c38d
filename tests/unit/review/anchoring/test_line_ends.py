"""Taking an accepted hunk back gives the text as it was, to the line end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.diff import changes_between
from tests.support.page import Page

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.tuples(st.sampled_from(["a", "b", "", "other"]), ENDS).map("".join)
TEXTS = st.lists(LINES, min_size=1, max_size=6)


@given(before=TEXTS, after=TEXTS, last=st.sampled_from(["", "end"]), one_by_one=st.booleans())
def test_undoing_all_gives_a_text_of_mixed_line_ends_back_to_the_byte(
    before: list[str], after: list[str], last: str, one_by_one: bool
) -> None:
    text = "".join(before) + last
    page = Page(text)
    hunks = page.propose("".join(after))
    page.accept()
    if any(hunk.state != "accepted" for hunk in page.hunks):
        return  # one text can be reached in two ways, and another hunk was taken for it
    for some in [[hunk] for hunk in reversed(hunks)] if one_by_one else [hunks]:
        edit = page.ledger.outbox.send(page.document, [hunk.id for hunk in some], back=True)
        page.apply(*changes_between(page.text, edit.apply(page.text)))
    assert page.text == text


@pytest.mark.parametrize(
    ("typed", "text"),
    [("typed\n", "b\ra\r\ntyped\nc\r\n"), ("", "b\ra\r\nc\r\n"), ("x\r", "b\ra\r\nx\rc\r\n")],
)
def test_lines_come_back_with_their_ends_beside_lines_typed_with_others(
    typed: str, text: str
) -> None:
    page = Page("b\ra\r\nc\r\n")
    page.propose("b\rc\r\n")
    page.accept()
    page.type(1, 0, 1, 0, typed)
    page.send_back()
    assert sorted(page.document.lines) == sorted(Page(text).document.lines)


def test_lines_come_back_with_the_ends_that_the_whole_text_has_got_since() -> None:
    page = Page("a\r\nb\r\nc\r\n")
    page.propose("a\r\nc\r\n")
    page.accept()
    page.replace("a\nc\n")
    page.send_back()
    assert page.text == "a\nb\nc\n"
