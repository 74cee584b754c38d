"""A frozen text answers by place and by offset."""

from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.document import TextDocument
from stet.text.position import Position, Range
from tests.support.naive_text import NASTY, naive_offset

nasty = st.lists(st.sampled_from(NASTY), max_size=20).map("".join)


@given(text=nasty, line=st.integers(-2, 25), character=st.integers(-2, 40))
@settings(max_examples=200, deadline=None)
def test_offset_equals_a_naive_count(text: str, line: int, character: int) -> None:
    document = TextDocument("file:///a", text)
    place = Position(line, character)
    offset = naive_offset(text, line, character, "utf-32")
    assert document.offset_at(place) == offset
    assert document.position_at(offset) == document.clamp(place)


@given(text=nasty)
@settings(max_examples=100, deadline=None)
def test_every_offset_but_a_torn_line_end_survives_the_way_to_a_place_and_back(text: str) -> None:
    document = TextDocument("", text)
    torn = [at for at in range(len(text)) if text[at - 1 : at + 1] == "\r\n"]
    for offset in range(len(text) + 1):
        expected = offset - 1 if offset in torn else offset
        assert document.offset_at(document.position_at(offset)) == expected


def test_lines_are_counted_as_a_person_counts_them() -> None:
    counts = [TextDocument("", text).n_lines for text in ("", "a", "a\n", "a\nb", "\n")]
    assert counts == [0, 1, 1, 2, 1]


def test_a_document_knows_its_end_and_reads_its_ranges() -> None:
    document = TextDocument("file:///a", "ab\r\ncd")
    assert document.text_in(Range(Position(0, 1), Position(1, 1))) == "b\r\nc"
    assert document.end == Position(1, 2)


def test_the_hash_is_of_the_text_alone_and_takes_lone_surrogates() -> None:
    one, other = (
        TextDocument("file:///a", "x\ud800", version=1),
        TextDocument("file:///b", "x\ud800"),
    )
    assert one.content_hash == other.content_hash != TextDocument("", "x").content_hash
    assert TextDocument("", "").content_hash.startswith("e3b0c44298fc1c14")
