"""Whether an insertion has arrived, whatever else has happened to the text."""

from hypothesis import given
from hypothesis import strategies as st

from stet.lsp.chat.insertion_watch import InsertionWatch
from stet.text.buffer import TextBuffer
from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.position import Range

TEXT = st.text("ab\n", min_size=0, max_size=20)
PLACE = st.floats(0, 1)


def insert(buffer: TextBuffer, at: float, new: str) -> TextChange:
    """Type `new` at a share of the text."""
    document = TextDocument("file:///c.md", buffer.text)
    place = document.position_at(round(at * len(buffer.text)))
    return buffer.apply(TextChange(Range(place, place), new))


@given(TEXT, TEXT.filter(bool), PLACE, st.lists(st.tuples(PLACE, TEXT.filter(bool)), max_size=4))
def test_it_has_come_if_it_is_among_the_changes_wherever_it_went(
    text: str, new: str, at: float, typed: list[tuple[float, str]]
) -> None:
    buffer, watch = TextBuffer(text), InsertionWatch(new)
    changes = [insert(buffer, *one) for one in typed[:2]]
    changes.append(insert(buffer, at, new))
    changes += [insert(buffer, *one) for one in typed[2:]]
    watch.follow(changes, buffer.lines)
    assert watch.has_come


@given(TEXT, TEXT.filter(bool), PLACE, st.booleans())
def test_it_has_come_however_an_editor_reports_it(
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


def test_what_the_user_types_instead_is_not_it() -> None:
    buffer, watch = TextBuffer("one\n"), InsertionWatch("answer")
    watch.follow([insert(buffer, 0.5, "typed"), insert(buffer, 0.1, " more")], buffer.lines)
    assert not watch.has_come
    watch.follow([], buffer.lines)
    assert not watch.has_come


def test_an_editor_that_sends_whole_texts_may_have_sent_it_with_other_typing() -> None:
    buffer, watch = TextBuffer("one\n"), InsertionWatch("answer")
    watch.follow(buffer.replace_all("typed one\nanswer"), buffer.lines)
    assert watch.has_come
