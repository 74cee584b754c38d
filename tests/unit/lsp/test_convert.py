import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp

from stet.lsp import convert
from stet.lsp.lsp_errors import InvalidParams
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.encoding import Encoding
from stet.text.position import Position, Range
from stet.workspace.workspace import Modification, ModificationKind, WireEdit
from tests.support.editor_documents import with_edits

TEXTS = st.text(st.sampled_from("ab𝄞é中\r\n\f\u2028"), max_size=30)
ENCODINGS = st.sampled_from(Encoding)


@given(TEXTS, ENCODINGS, st.data())
def test_every_place_survives_the_way_to_the_editor_and_back(
    text: str, encoding: Encoding, data: st.DataObject
) -> None:
    document = TextDocument("file:///a", text)
    place = document.position_at(data.draw(st.integers(0, len(text))))
    wire = convert.to_wire_position(place, document.lines, encoding)
    # Inside CRLF there is no place that an editor could name.
    assert convert.to_position(wire, document.lines, encoding) == document.clamp(place)


@given(TEXTS, ENCODINGS, st.data())
def test_an_edit_means_the_same_to_an_editor(
    text: str, encoding: Encoding, data: st.DataObject
) -> None:
    document = TextDocument("file:///a", text)
    offsets = [
        document.offset_at(document.clamp(document.position_at(offset)))
        for offset in data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=4))
    ]
    start, end = min(offsets), max(offsets)
    edit = TextEdit((Replacement(start, end, "new\n"),))
    edits = convert.text_edits(edit, document, encoding)
    assert with_edits(text, edits, str(encoding)) == edit.apply(text)


def test_places_beyond_the_text_are_its_end_and_reversed_ranges_are_turned() -> None:
    lines = ("one\n", "two")
    wire = lsp.Range(lsp.Position(9, 9), lsp.Position(0, 99))
    assert convert.to_range(wire, lines, Encoding.UTF16) == Range(Position(0, 3), Position(1, 3))
    beyond = convert.to_wire_position(Position(9, 9), lines, Encoding.UTF16)
    assert beyond == lsp.Position(1, 3)


def test_a_change_is_read_straight_from_json() -> None:
    start, end = {"line": 1, "character": 2}, {"line": 3, "character": 4}
    params = {
        "textDocument": {"uri": "file:///a", "version": 7},
        "contentChanges": [
            {"range": {"start": start, "end": end}, "rangeLength": 5, "text": "x"},
            {"text": "all"},
        ],
    }
    assert convert.change_modification(params) == Modification(
        ModificationKind.CHANGED,
        "file:///a",
        version=7,
        edits=(WireEdit(1, 2, 3, 4, "x"), WireEdit.full("all")),
    )


@pytest.mark.parametrize("params", [None, [], {}, {"textDocument": {}, "contentChanges": []}])
def test_a_change_of_the_wrong_shape_is_refused(params: object) -> None:
    with pytest.raises(InvalidParams, match="didChange` is malformed"):
        convert.change_modification(params)
