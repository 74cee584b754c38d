"""A very long text is read by its lines, and says the same as any other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.block_codec import InlineBlock
from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.large_document import LargeDocument
from stet.text.lines import split_lines
from stet.text.position import Position, Range
from stet.text.stripped_document import find_imported, plain_changes, strip_blocks

URI = "file:///ws/a.md"
BLOCKS = {
    "add": '```ai-edit\n{"id":"a","type":"add","before":"","after":"x"}\n```\n#ai_edit\n',
    "replace": '```ai-edit\n{"id":"b","type":"replace","before":"o\\np","after":"n"}\n```\n',
    "delete": '```ai-edit\n{"id":"c","type":"delete","before":"","after":""}\n```\n',
    "line": "plain\n",
    "empty": "\n",
}


def large(text: str, revision: int = 1) -> LargeDocument:
    return LargeDocument(URI, split_lines(text), 1, "markdown", revision)


def blocks_of(text: str) -> tuple[InlineBlock, ...]:
    return find_imported(split_lines(text)).blocks


def plain_of(text: str) -> LargeDocument:
    document = large(text)
    found = strip_blocks(document, (), blocks_of(text))
    plain = document if found is None else found.plain
    assert isinstance(plain, LargeDocument)
    return plain


@given(st.text("ab\n\ré", max_size=40))
def test_places_are_those_of_the_same_text_in_one_piece(text: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("stet.text.large_document._PART", 3)
        document, whole = large(text), TextDocument(URI, text)
        assert (document.text, document.length) == (text, len(text))
        for offset in range(-1, len(text) + 2):
            assert document.position_at(offset) == whole.position_at(offset)
        for offset in range(len(text) + 1):
            assert document.character_at(offset) == whole.character_at(offset)
        for line in range(-1, len(whole.lines) + 1):
            for column in range(-1, 5):
                place = Position(line, column)
                assert document.offset_at(place) == whole.offset_at(place)


@given(st.lists(st.sampled_from(sorted(BLOCKS)), max_size=6), st.booleans())
def test_it_is_stripped_of_its_blocks_as_any_text_is(parts: list[str], has_end: bool) -> None:
    text = "".join(BLOCKS[part] for part in parts).removesuffix("" if has_end else "\n")
    plain, wanted = plain_of(text), strip_blocks(TextDocument(URI, text, 1, "markdown"), ())
    assert plain.text == (text if wanted is None else wanted.plain.text)
    assert list(plain.lines) == split_lines(plain.text)


def test_texts_without_other_blocks_are_other_texts() -> None:
    text = f"{BLOCKS['replace']}plain\n{BLOCKS['add']}"
    document, (first, second) = large(text), blocks_of(text)
    both, one = strip_blocks(document, (), (first, second)), strip_blocks(document, (), (second,))
    assert both is not None
    assert one is not None
    assert len({document, both.plain, one.plain}) == 3
    assert len({found.content_hash for found in (document, both.plain, one.plain)}) == 3
    later = strip_blocks(large(text, 2), (), (first, second))
    assert later is not None
    assert later.plain != both.plain
    again = strip_blocks(document, (), blocks_of(text))
    assert again is not None
    assert again.plain == both.plain


PLACES = st.tuples(st.integers(0, 12), st.integers(0, 2))
EDITS = st.tuples(PLACES, PLACES, st.sampled_from(["", "u", "u\n", "\nu", "u\nv\n"]))


@given(st.lists(st.sampled_from(sorted(BLOCKS)), max_size=4), st.lists(EDITS, max_size=4))
def test_changes_beside_blocks_are_changes_of_the_plain_text(
    parts: list[str], edits: list[tuple[tuple[int, int], tuple[int, int], str]]
) -> None:
    text = "top\n" + "below\n".join(BLOCKS[part] for part in parts) + "end\n"
    buffer, before = TextBuffer(text), blocks_of(text)
    changes = []
    for start, end, new in edits:
        range_ = Range(*sorted((Position(*start), Position(*end))))
        changes.append(buffer.apply(TextChange(range_, new)))
    now = "".join(buffer.lines)
    found = plain_changes(changes, before, blocks_of(now))
    if found is None:
        return
    plain = TextBuffer(plain_of(text).text)
    for change in found:
        plain.apply(change)
    assert plain.text == plain_of(now).text


@pytest.mark.parametrize(
    ("place", "new", "is_beside"),
    [
        ((0, 0), "typed\n", True),
        ((0, 3), "typed", True),
        ((1, 0), "typed\n", True),
        ((1, 0), "typed", False),
        ((2, 5), "typed", False),
        ((4, 0), "typed", True),
    ],
)
def test_a_change_of_a_block_is_none_of_the_plain_text(
    place: tuple[int, int], new: str, *, is_beside: bool
) -> None:
    text = f"top\n{BLOCKS['replace']}end\n"
    buffer, at = TextBuffer(text), Position(*place)
    change = buffer.apply(TextChange(Range(at, at), new))
    found = plain_changes([change], blocks_of(text), blocks_of("".join(buffer.lines)))
    assert (found is not None) is is_beside
