"""What counts as more than the user said yes to."""

import dataclasses

import pytest

from stet.review.outbox import exceeds_approval
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.position import Position, Range

AGREED = Hunk(
    id="h1",
    proposal="p1",
    turn="t1",
    chat="main",
    uri="file:///ws/a.txt",
    kind=HunkKind.REPLACE,
    state=HunkState.PENDING,
    range=Range(Position(0, 0), Position(2, 0)),
    old="one two\nthree\n",
    new="one 2\nthree\n",
    base="one two\nthree\n",
    proposed="one 2\nthree\n",
    summary="s",
    group="g",
    author="m",
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("one two\nthree\n", "one 2\nthree\n"),
        ("one two\n\n   three four\n", "one 2\n\n   three four\n"),
        ("two\nthree\n", "2\nthree\n"),
        ("", ""),
    ],
)
def test_approval_covers_typing_within_or_beside_the_hunk(old: str, new: str) -> None:
    assert not exceeds_approval(dataclasses.replace(AGREED, old=old, new=new), AGREED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("one two\nthree\n", "one 2\n"),
        ("one two\nfour\n", "one 2\n"),
        ("two two\n", "2\n"),
        ("two (\n", "2\n"),
    ],
)
def test_approval_does_not_cover_additional_deleted_text(old: str, new: str) -> None:
    assert exceeds_approval(dataclasses.replace(AGREED, old=old, new=new), AGREED)
