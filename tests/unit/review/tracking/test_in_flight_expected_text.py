"""The text that is expected after an edit: of a very long text the lines around the edit are
compared.
"""

from hypothesis import given
from hypothesis import strategies as st

from stet.review.tracking.in_flight import ExpectedText
from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.large_document import LargeDocument
from stet.text.lines import split_lines
from stet.text.position import Position, Range

N_LINES, EDITED = 500, 250
TEXT = "".join(f"line {n}\n" for n in range(N_LINES))
OLD = f"line {EDITED}\n"
START = TEXT.index(OLD)
EDIT = TextEdit((Replacement(START, START + len(OLD), "new\nlines\n"),))
WHOLE = TextChange(Range(Position(EDITED, 0), Position(EDITED + 1, 0)), "new\nlines\n")
SMALL = TextChange(Range(Position(EDITED, 0), Position(EDITED, len(OLD) - 1)), "new\nlines")


def expected_texts() -> tuple[ExpectedText, ExpectedText]:
    """The same text as a very long one, and as one that is not."""
    large = LargeDocument("file:///a", split_lines(TEXT), 1, "", 1)
    return ExpectedText(large, EDIT), ExpectedText(TextDocument("file:///a", TEXT, 1), EDIT)


def insertion(line: int, text: str) -> TextChange:
    at = Position(line, 0)
    return TextChange(Range(at, at), text)


changes = st.lists(
    st.one_of(
        st.sampled_from((WHOLE, SMALL)),
        st.builds(insertion, st.integers(EDITED - 90, EDITED + 90), st.sampled_from(("x", "y\n"))),
        st.builds(
            lambda line: TextChange(Range(Position(line, 0), Position(line, 1)), ""),
            st.integers(EDITED - 90, EDITED + 90),
        ),
    ),
    max_size=4,
)


@given(changes)
def test_expected_text_of_a_long_text_is_completed_by_the_changes_that_complete_a_short_text(
    made: list[TextChange],
) -> None:
    large, small = expected_texts()
    for change in made:
        has_come = small.completes_with(change)
        assert large.completes_with(change) is has_come
        if has_come:
            assert list(large.lines) == list(small.lines)


@given(changes)
def test_expected_text_of_a_long_text_is_found_where_that_of_a_short_text_is(
    made: list[TextChange],
) -> None:
    buffer = TextBuffer(TEXT)
    large, small = expected_texts()
    for change in made:
        _ = buffer.apply(change)
        assert large.is_expected(buffer.lines) is small.is_expected(buffer.lines)
    assert large.n_lines == small.n_lines == N_LINES + 2


def test_expected_text_is_never_completed_by_a_change_outside_of_its_window() -> None:
    for line in (0, N_LINES - 1):
        large, _ = expected_texts()
        assert not large.completes_with(insertion(line, "x\n"))
        assert not large.completes_with(WHOLE)
    buffer = TextBuffer(TEXT)
    _ = buffer.apply(WHOLE)
    for line in (0, N_LINES - 1):
        other = TextBuffer(buffer.text)
        _ = other.apply(insertion(line, "x"))
        assert not expected_texts()[0].is_expected(other.lines)
    assert expected_texts()[0].is_expected(buffer.lines)
