"""Whether an insertion has arrived, whatever else has happened to the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.lsp.chat.insertion_watch import MAX_IN_ORDER, InsertionWatch
from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.position import Position, Range

TEXT = st.text("ab\n", min_size=0, max_size=20)
PLACE = st.floats(0, 1)
FILLER = "c\nd\n" * (MAX_IN_ORDER // 2 + 1)
GAP = "e\n" * 30


def insert(buffer: TextBuffer, at: float, new: str) -> TextChange:
    """Type `new` at a share of the text."""
    document = TextDocument("file:///c.md", buffer.text)
    place = document.position_at(round(at * len(buffer.text)))
    return buffer.apply(TextChange(Range(place, place), new))


@given(TEXT, TEXT.filter(bool), PLACE, st.lists(st.tuples(PLACE, TEXT.filter(bool)), max_size=4))
def test_insertion_is_confirmed_at_any_place_of_the_changes(
    text: str, new: str, at: float, typed: list[tuple[float, str]]
) -> None:
    buffer, watch = TextBuffer(text), InsertionWatch(new)
    changes = [insert(buffer, *one) for one in typed[:2]]
    changes.append(insert(buffer, at, new))
    changes += [insert(buffer, *one) for one in typed[2:]]
    watch.follow(changes, buffer.lines)
    assert watch.has_come


@given(TEXT, TEXT.filter(bool), PLACE, st.booleans())
def test_insertion_is_confirmed_however_an_editor_reports_it(
    text: str, new: str, at: float, is_in_one: bool
) -> None:
    place = round(at * len(text))
    buffer, watch = TextBuffer(text), InsertionWatch(new)
    changes = buffer.replace_all(text[:place] + new + text[place:])
    if is_in_one:
        watch.follow(changes, buffer.lines)
    else:
        # Each change in a message of its own.
        again = TextBuffer(text)
        for change in changes:
            watch.follow([again.apply(change)], again.lines)
        assert again.text == buffer.text
    assert watch.has_come


def test_other_text_does_not_confirm_the_insertion() -> None:
    buffer, watch = TextBuffer("one\n"), InsertionWatch("answer")
    watch.follow([insert(buffer, 0.5, "typed"), insert(buffer, 0.1, " more")], buffer.lines)
    assert not watch.has_come
    watch.follow([], buffer.lines)
    assert not watch.has_come


def test_insertion_is_confirmed_by_a_whole_text_with_other_typing() -> None:
    buffer, watch = TextBuffer("one\n"), InsertionWatch("answer")
    watch.follow(buffer.replace_all("typed one\nanswer"), buffer.lines)
    assert watch.has_come


def test_insertion_is_confirmed_if_the_user_undoes_it_at_once() -> None:
    buffer, watch = TextBuffer("one\n"), InsertionWatch("answer")
    put = insert(buffer, 1.0, "answer")
    undone = buffer.apply(TextChange(Range(put.range.start, put.new_end), ""))
    watch.follow([put, undone], buffer.lines)
    assert watch.has_come


def test_undo_of_an_earlier_insertion_does_not_confirm_it() -> None:
    buffer = TextBuffer("one\n")
    put = insert(buffer, 1.0, "answer")
    watch = InsertionWatch("answer")
    undone = buffer.apply(TextChange(Range(put.range.start, put.new_end), ""))
    watch.follow([undone], buffer.lines)
    assert not watch.has_come


@given(
    st.text("ab\n", max_size=20), TEXT.filter(bool), PLACE, st.sampled_from(["\n", "\r\n", "\r"])
)
def test_insertion_is_confirmed_with_converted_line_ends(
    text: str, new: str, at: float, end: str
) -> None:
    place = round(at * len(text))
    buffer, watch = (
        TextBuffer(text.replace("\n", "\r\n")),
        InsertionWatch(new.replace("\n", "\r\n")),
    )
    changes = buffer.replace_all((text[:place] + new + text[place:]).replace("\n", end))
    watch.follow(changes, buffer.lines)
    assert watch.has_come


@pytest.mark.parametrize("new", ["\n\nab", "ab\n\n", "b\n\na", "a", "answer"])
def test_insertion_is_confirmed_in_a_text_with_hundreds_of_changes(new: str) -> None:
    middle = "ab\n\nab\n"
    for place in range(len(middle)):
        for now, is_there in (middle, False), (middle[:place] + new + middle[place:], True):
            buffer, watch = TextBuffer(FILLER + GAP + middle + GAP + FILLER), InsertionWatch(new)
            changed = FILLER.replace("c", "C")
            changes = buffer.replace_all(changed + GAP + now + GAP + changed)
            assert len(changes) > MAX_IN_ORDER
            watch.follow(changes, buffer.lines)
            assert watch.has_come is is_there


def test_insertion_is_confirmed_as_several_of_hundreds_of_changes() -> None:
    buffer, watch = TextBuffer(f"{FILLER}ab\n{FILLER}"), InsertionWatch("1\nab\n2\n")
    n = FILLER.count("\n")
    typed = [(line, "C") for line in range(2 * n - 1, n + 1, -1)]
    typed += [(n + 1, "2\nab\n"), (n, "1\n"), (n - 1, "C")]
    changes = [
        buffer.apply(TextChange(Range(Position(line, 0), Position(line, 0)), text))
        for line, text in typed
    ]
    assert len(changes) > MAX_IN_ORDER
    assert "d\n1\nab\n2\nab\nc\n" in buffer.text.replace("C", "")
    watch.follow(changes, buffer.lines)
    assert watch.has_come
