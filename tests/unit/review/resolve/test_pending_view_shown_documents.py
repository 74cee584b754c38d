"""Which of the texts that a model was shown it means."""

from stet.review.resolve.pending_view import ShownDocuments
from stet.text.document import TextDocument

URI = "file:///ws/a.py"
FIRST, SECOND, THIRD = (TextDocument(URI, text, version=1) for text in ("a\nb\n", "a\nc\n", "d\n"))


def test_the_last_text_is_the_one_that_line_numbers_are_about() -> None:
    shown = ShownDocuments([FIRST])
    shown.record(SECOND)
    assert shown.last("file:///ws/%61.py") == SECOND
    assert dict(shown) == {URI: SECOND}


def test_a_quote_is_about_the_latest_text_that_holds_it() -> None:
    shown = ShownDocuments([FIRST, SECOND, THIRD])
    assert shown.last(URI, ("a\r\n",)) == SECOND
    assert shown.last(URI, ("nowhere", "b\n")) == FIRST
    assert shown.last(URI, ("nowhere",)) == THIRD


def test_a_text_that_comes_again_is_the_last_again() -> None:
    shown = ShownDocuments([FIRST, SECOND])
    again = TextDocument(URI, FIRST.text, version=3, revision=7)
    shown.record(again)
    assert shown.last(URI) == again
    assert len(shown) == 1


def test_file_that_was_not_shown_has_no_text() -> None:
    assert ShownDocuments([FIRST]).last("file:///ws/b.py", ("a",)) is None
