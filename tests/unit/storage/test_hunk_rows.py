"""Rows give back exactly what they were made of, or say that they can't."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.review.journal import AnchorSnapshot
from stet.review.proposal import Hunk, HunkKind, HunkState, replace_hunk
from stet.storage.hunk_rows import (
    QUICK,
    TINY,
    InvalidRow,
    StoredText,
    hunk_fields,
    hunk_from_row,
    snapshot_from_row,
    spans_to_json,
    unpack,
)
from stet.text.position import Position, Range
from tests.support.hunks import make_hunk

ANY_TEXT = st.text(st.characters(), max_size=30)
"""Lone surrogates and NUL among it."""
POSITIONS = st.builds(Position, st.integers(0, 2**53), st.integers(0, 2**53))
RANGES = st.builds(lambda one, other: Range(min(one, other), max(one, other)), POSITIONS, POSITIONS)
URIS = st.sampled_from(["file:///ws/a.txt", "untitled:u", "file:///ws/%ED%A0%80"])
NOT_MOVE = st.sampled_from([kind for kind in HunkKind if kind is not HunkKind.MOVE])
HUNKS = st.builds(
    Hunk,
    **{field.name: ANY_TEXT for field in dataclasses.fields(Hunk) if field.type is str},
    kind=NOT_MOVE,
    state=st.sampled_from(HunkState),
    range=RANGES,
    protected=st.booleans(),
    inline=st.booleans(),
    replaces=st.lists(st.integers(0, 10**9).map("h{}".format), max_size=3).map(tuple),
    changed=st.integers(0, 2**53),
).flatmap(
    lambda hunk: st.builds(
        lambda uri, number: dataclasses.replace(hunk, id=f"h{number}", uri=uri, new_uri=""),
        URIS,
        st.integers(0, 10**9),
    )
)


@given(HUNKS)
def test_hunk_round_trips(hunk: Hunk) -> None:
    texts = tuple(StoredText.make(t) for t in (hunk.old, hunk.new, hunk.base, hunk.proposed))
    old, new, base, proposed = (unpack(text.hash, text.packed()) for text in texts)
    assert hunk_from_row(hunk.id, hunk_fields(hunk), (old, new, base, proposed)) == hunk


@given(HUNKS, st.sampled_from(HunkState), ANY_TEXT)
def test_copy_of_a_hunk_differs_in_the_given_fields_only(
    hunk: Hunk, state: HunkState, new: str
) -> None:
    before = dataclasses.replace(hunk)
    assert replace_hunk(hunk, state=state, new=new) == dataclasses.replace(
        hunk, state=state, new=new
    )
    assert hunk == before


@given(HUNKS, URIS)
def test_move_round_trips(hunk: Hunk, new_uri: str) -> None:
    move = dataclasses.replace(hunk, kind=HunkKind.MOVE, new_uri=new_uri)
    assert (
        hunk_from_row(move.id, hunk_fields(move), (move.old, move.new, move.base, move.proposed))
        == move
    )


@given(
    ANY_TEXT,
    st.dictionaries(
        ANY_TEXT, st.tuples(st.integers(0, 99), st.integers(100, 2**53)), max_size=5
    ).flatmap(
        lambda lines: st.tuples(st.just(lines), st.frozensets(st.sampled_from([*lines, ""])))
    ),
)
def test_anchor_snapshot_round_trips(
    text: str, positions: tuple[dict[str, tuple[int, int]], frozenset[str]]
) -> None:
    lines, lost = positions
    anchor_snapshot = AnchorSnapshot("file:///ws/a.txt", text, lines, lost & lines.keys())
    assert snapshot_from_row(spans_to_json(anchor_snapshot), text) == anchor_snapshot


def test_rows_without_a_later_field_have_its_default() -> None:
    """Earlier versions have written no `replaces`, and the first rows no `chat`."""
    hunk = make_hunk(1, HunkKind.ADD, new="n\n", chat="claude-1", replaces=("h2",))
    fields = json.loads(hunk_fields(hunk))
    assert (fields.pop("replaces"), fields.pop("chat")) == (["h2"], "claude-1")
    old = hunk_from_row("h1", json.dumps(fields), ("", "n\n", "", "n\n"))
    assert old == dataclasses.replace(hunk, chat="", replaces=())


@pytest.mark.parametrize("replaces", ["h1", {"h1": 1}, [1], ["h1", None], [["h1"]], ["h 1"], [""]])
def test_row_with_other_values_than_ids_is_refused(replaces: object) -> None:
    fields = json.loads(hunk_fields(make_hunk(1, HunkKind.ADD, new="n\n")))
    with pytest.raises(InvalidRow):
        hunk_from_row("h1", json.dumps({**fields, "replaces": replaces}), ("", "n", "", "n"))


@given(st.text())
def test_invalid_fields_are_refused(fields: str) -> None:
    with pytest.raises(InvalidRow):
        hunk_from_row("h1", fields, ("", "", "", ""))
    with pytest.raises(InvalidRow):
        snapshot_from_row(fields, "")


@pytest.mark.parametrize("n", [0, 1, TINY, TINY + 1, QUICK, QUICK + 1])
def test_large_texts_are_stored_as_they_are(n: int) -> None:
    text = StoredText.make("a" * n)
    assert unpack(text.hash, text.packed()) == "a" * n
    assert (len(text.packed()) > n) == (n <= TINY or n > QUICK)
