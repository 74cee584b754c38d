"""Whether an insertion has arrived, whatever else has happened to the text."""

from hypothesis import given
from hypothesis import strategies as st

from stet.lsp.chat.layout import Insertion
from stet.lsp.chat.writer import has_come
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
    buffer, document = TextBuffer(text), TextDocument("file:///c.md", text)
    changes = [insert(buffer, *one) for one in typed[:2]]
    changes.append(insert(buffer, at, new))
    changes += [insert(buffer, *one) for one in typed[2:]]
    insertion = Insertion(round(at * len(text)), new)
    assert has_come(document, insertion, changes, buffer.text)


def test_what_the_user_types_instead_is_not_it() -> None:
    buffer, document = TextBuffer("one\n"), TextDocument("file:///c.md", "one\n")
    changes = [insert(buffer, 0.5, "typed"), insert(buffer, 0.1, " more")]
    assert not has_come(document, Insertion(4, "answer"), changes, buffer.text)
    assert not has_come(document, Insertion(4, "answer"), None, buffer.text)


def test_an_editor_that_sends_whole_texts_may_have_sent_it_with_other_typing() -> None:
    document = TextDocument("file:///c.md", "one\n")
    assert has_come(document, Insertion(4, "answer"), None, "typed one\nanswer")
