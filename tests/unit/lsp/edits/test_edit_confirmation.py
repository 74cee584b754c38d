"""An edit that an editor put where its numbers lead, after more was typed."""

from hypothesis import assume, given
from hypothesis import strategies as st

from stet.lsp.edits.edit_confirmation import find_misapplied
from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.large_document import LargeDocument
from stet.text.position import Position, Range

BEFORE = TextDocument("file:///a", "one\ntwo\nthree\n")
THREE = TextEdit((Replacement(8, 14, "3\n"),))


def change(line: int, column: int, end_line: int, end_column: int, text: str) -> TextChange:
    return TextChange(Range(Position(line, column), Position(end_line, end_column)), text)


TYPED_ABOVE = change(0, 0, 0, 0, "zero\n")


def test_misapplied_edit_is_found_with_the_text_it_destroyed() -> None:
    by_numbers = change(2, 0, 3, 0, "3\n")
    found = find_misapplied(BEFORE, THREE, (TYPED_ABOVE, by_numbers))
    assert found is not None
    assert found.text == "zero\none\ntwo\nthree\n"


def test_edit_reported_in_parts_is_not_misapplied() -> None:
    two = TextEdit((Replacement(0, 4, "1\n"), *THREE.replacements))
    parts = (change(2, 0, 3, 0, "3\n"), change(0, 0, 1, 0, "1\n"))
    assert find_misapplied(BEFORE, two, parts) is None
    assert find_misapplied(BEFORE, two, (*parts, change(0, 0, 0, 0, "typed\n"))) is None


def test_edit_in_the_right_place_is_not_misapplied() -> None:
    assert find_misapplied(BEFORE, THREE, (change(2, 0, 3, 0, "3\n"),)) is None
    right = change(3, 0, 4, 0, "3\n")
    assert find_misapplied(BEFORE, THREE, (TYPED_ABOVE, right)) is None


def test_typing_that_moves_no_line_is_not_misapplied() -> None:
    typed = change(0, 3, 0, 3, "!")
    assert find_misapplied(BEFORE, THREE, (typed, change(2, 0, 3, 0, "3\n"))) is None


def test_lines_put_between_two_may_come_before_what_was_typed_there() -> None:
    insertion = TextEdit((Replacement(4, 4, "new\n"),))
    typed = change(1, 0, 1, 0, "typed\n")
    for line in (1, 2):
        assert (
            find_misapplied(BEFORE, insertion, (typed, change(line, 0, line, 0, "new\n"))) is None
        )


def test_numbers_beyond_the_end_are_cut_as_editors_cut_them() -> None:
    gone = change(0, 0, 2, 0, "")
    found = find_misapplied(BEFORE, THREE, (gone, change(1, 0, 1, 0, "3\n")))
    assert found is not None
    assert found.text == "three\n"


def test_misapplied_edit_that_restores_an_earlier_text_is_found() -> None:
    document = TextDocument("file:///a", "aaaa\n")
    edit = TextEdit((Replacement(4, 5, ""),))  # the last line end
    changes = (
        TextChange(Range(Position(0, 4), Position(0, 4)), "x\n\n"),
        TextChange(Range(Position(0, 4), Position(1, 0)), ""),
    )
    found = find_misapplied(document, edit, changes)
    assert found is not None
    assert found.text == "aaaax\n\n\n"


_TEXT = st.text("ab\n", max_size=12)


@given(_TEXT, st.data())
def test_every_misapplied_edit_is_found_with_the_text_of_the_user(
    text: str, data: st.DataObject
) -> None:
    document = TextDocument("file:///a", text)
    size = st.integers(0, len(text))
    start, end = sorted((data.draw(size), data.draw(size)))
    edit = TextEdit((Replacement(start, end, data.draw(_TEXT)),))
    at = data.draw(size)
    typed = data.draw(st.text("xy\n", min_size=1, max_size=5))
    place = document.position_at(at)
    user = TextDocument("file:///a", text[:at] + typed + text[at:])
    # The same lines and columns in the text the user has by then.
    first, last = (user.clamp(document.position_at(offset)) for offset in (start, end))
    astray = TextEdit(
        (Replacement(user.offset_at(first), user.offset_at(last), edit.replacements[0].text),)
    )
    now = astray.apply(user.text)
    assume(edit.apply(text) != text)  # what changes nothing is not sent
    # What the user typed is all the edit would do: it has arrived.
    assume(user.text != edit.apply(text))
    assume(now not in {user.text, edit.apply(text)})
    assume(at <= start or at >= end)
    is_of_lines = edit.replacements[0].text.endswith("\n")
    assume(not (start == end == at and place.character == 0 and is_of_lines))
    shift = len(typed) if at <= start else 0
    meant = TextEdit((Replacement(start + shift, end + shift, edit.replacements[0].text),))
    changes = (
        TextChange(Range(place, place), typed),
        TextChange(Range(first, last), edit.replacements[0].text),
    )
    found = find_misapplied(document, edit, changes)
    if now == meant.apply(user.text):
        assert found is None or found.text == user.text
    else:
        assert found is not None
        assert found.text == user.text


@given(
    _TEXT,
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), _TEXT), min_size=2, max_size=3),
    st.tuples(st.integers(0, 12), st.integers(0, 3), _TEXT),
)
def test_very_long_text_is_compared_around_the_edit_only(
    text: str, typed: list[tuple[int, int, str]], wanted: tuple[int, int, str]
) -> None:
    above, below = "above\n" * 40, "below\n" * 40
    whole = f"{above}{text}\n{below}"
    lines = whole.splitlines(keepends=True)
    document = TextDocument("file:///a", whole)
    large = LargeDocument("file:///a", (*lines, ""), 1, "", 1)
    buffer = TextBuffer(whole)
    changes = []
    for at, n, new in typed:
        start = TextDocument("", buffer.text).position_at(len(above) + at)
        end = TextDocument("", buffer.text).position_at(len(above) + at + n)
        changes.append(buffer.apply(TextChange(Range(start, end), new)))
    at, n, new = wanted
    edit = TextEdit((Replacement(len(above) + at, len(above) + at + n, new),))
    found, expected = (
        find_misapplied(large, edit, changes),
        find_misapplied(document, edit, changes),
    )
    assert (found and found.text) == (expected and expected.text)
