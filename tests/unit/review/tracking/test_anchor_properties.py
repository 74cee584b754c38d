"""Anchors hold whatever is typed between them: edits drawn at random."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.diff import changes_between
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness

pytestmark = pytest.mark.slow


LINE = st.sampled_from(["", "a", "  a", "  ab", "b", "é🙂"])
GAP = st.lists(LINE, max_size=4)
CHANGED = st.tuples(st.lists(LINE, max_size=3), st.lists(LINE, max_size=3))


@st.composite
def pairs(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Stretches of a text, each with what it is to become: gaps, which stay, and hunks, in turn."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    stretches: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(1, 4))):
        gap = "".join(line + end for line in draw(GAP)) + f"gap{end}"
        old, new = (tuple("".join(line + end for line in side)) for side in draw(CHANGED))
        stretches += [(gap, gap), ("".join(old), "".join(new))]
    return [*stretches, (f"gap{end}", f"gap{end}")]


@settings(max_examples=300, deadline=None)
@given(pairs(), st.data())
def test_anchors_hold_whatever_is_typed_between_them(
    stretches: list[tuple[str, str]], data: st.DataObject
) -> None:
    page = ReviewHarness("".join(old for old, _ in stretches))
    for number in range(1, len(stretches), 2):
        start = sum(len(old) for old, _ in stretches[:number])
        old, new = stretches[number]
        _propose_one(page, Replacement(start, start + len(old), new))
    # Keep what the ledger made of it: hunks of whole lines, with what stays between them.
    stretches = _stretches(page)
    for _ in range(data.draw(st.integers(0, 6))):
        number = data.draw(st.integers(0, len(stretches) // 2)) * 2
        gap = stretches[number][0]
        start = data.draw(st.integers(0, len(gap)))
        end = data.draw(st.integers(start, min(len(gap), start + 8)))
        text = data.draw(st.sampled_from(["", "x", "y\n", "\nz", "  a\n", "🙂"]))
        changed = gap[:start] + text + gap[end:]
        if not _is_allowed(stretches, number, start, end, changed):
            continue
        offset = sum(len(old) for old, _ in stretches[:number])
        document = page.document
        place = Range(document.position_at(offset + start), document.position_at(offset + end))
        page.type(
            place.start.line, place.start.character, place.end.line, place.end.character, text
        )
        stretches[number] = (changed, changed)
        assert page.text == "".join(old for old, _ in stretches)
    assert set(page.states) <= {"pending"}
    ids = [hunk.id for hunk in page.hunks]
    order = data.draw(st.permutations(ids))
    for group in data.draw(st.sampled_from([[ids], [[each] for each in order]])):
        if group:
            page.accept(*group)
    assert page.text == "".join(new for _, new in stretches)
    assert set(page.states) <= {"accepted"}


def _propose_one(page: ReviewHarness, replacement: Replacement) -> None:
    text = TextEdit((replacement,)).apply(page.text)
    if text != page.text:
        page.propose(text)


def _stretches(page: ReviewHarness) -> list[tuple[str, str]]:
    found, done = [], 0
    for hunk in page.hunks:
        start = page.document.offset_at(hunk.range.start)
        gap = page.text[done:start]
        found += [(gap, gap), (hunk.old, hunk.new)]
        done = start + len(hunk.old)
    return [*found, (page.text[done:], page.text[done:])]


def _is_allowed(
    stretches: list[tuple[str, str]], number: int, start: int, end: int, changed: str
) -> bool:
    """Whether the edit leaves no doubt about what is meant: it is one of the gap's own lines."""
    gap = stretches[number][0]
    torn = "\r" in (gap[start - 1 : start], gap[end - 1 : end]) or "\r" in gap[start:end]
    is_last = number + 1 == len(stretches)
    last_line = gap.splitlines(keepends=True)[-1] if gap else ""
    keeps_last = end <= len(gap) - len(last_line) and changed.endswith("\n" + last_line)
    old, new = stretches[number - 1] if number else ("", "")
    by_hand = old == "" != new and changed.startswith(new)  # then nothing is left to insert
    return (
        bool(gap) and not torn and not by_hand and (is_last or keeps_last or changed == last_line)
    )


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_anchors_hold_whatever_lines_are_put_in_or_deleted_beside_them(
    data: st.DataObject,
) -> None:
    lines = [f"    line {n}\n" for n in range(12)]
    hunks = data.draw(st.sets(st.sampled_from(range(0, 12, 2)), min_size=1, max_size=3))
    page = ReviewHarness("".join(lines))
    page.propose("".join("    new\n" if n in hunks else line for n, line in enumerate(lines)))
    for step in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(lines)))
        if at < len(lines) and lines[at] not in {f"    line {n}\n" for n in hunks}:
            lines = lines[:at] + lines[at + 1 :]
        else:
            lines = [*lines[:at], f"    typed {step}\n", *lines[at:]]
        page.apply(_smallest(page.text, "".join(lines)))
    page.accept()
    wanted = {f"    line {n}\n" for n in hunks}
    assert page.text == "".join("    new\n" if line in wanted else line for line in lines)


def _smallest(old: str, new: str) -> TextChange:
    """One change without what both texts begin and end with: what many editors report."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    place = Range(_at(old, head), _at(old, len(old) - tail))
    return TextChange(place, new[head : len(new) - tail])


def _at(text: str, offset: int) -> Position:
    before = text[:offset]
    return Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def test_changes_between_two_texts_are_what_an_editor_would_send() -> None:
    assert changes_between("a\nb\n", "a\nc\n") == (_smallest("a\nb\n", "a\nc\n"),)
