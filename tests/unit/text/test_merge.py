"""What the user made of some lines, merged with what the agent wrote: both, or a conflict."""

import pytest

from stet.text.merge import MergeConflict, Merger, PartialMerge, merge, merge_partly

CLEAN = {
    "a line each": ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
    "adjacent lines": ("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"),
    "an insertion behind a changed line": ("a\nb\n", "a\nnew\nb\n", "A\nb\n", "A\nnew\nb\n"),
    "an insertion before a changed line": ("a\nb\n", "a\nnew\nb\n", "a\nB\n", "a\nnew\nB\n"),
    "a deletion beside a change": ("a\nb\n", "b\n", "a\nB\n", "B\n"),
    "the same change": ("a\nb\n", "A\nb\n", "A\nb\n", "A\nb\n"),
    "the same change and one more": ("a\nb\nc\n", "A\nb\nc\n", "A\nB\nc\n", "A\nB\nc\n"),
    "the same insertion": ("a\nb\nc\n", "a\nx\nb\nC\n", "a\nx\nb\nc\n", "a\nx\nb\nC\n"),
    "two words of a line": ("f(one, two)\n", "f(uno, two)\n", "f(one, due)\n", "f(uno, due)\n"),
    "the same word and another": ("f(a, b, c)\n", "g(a, b, c)\n", "g(a, b, d)\n", "g(a, b, d)\n"),
    "words of several lines": (
        "f(a, b)\ng(c, d)\n",
        "f(a, B)\ng(C, d)\n",
        "f(A, b)\ng(c, D)\n",
        "f(A, B)\ng(C, D)\n",
    ),
    "the same change and one beside it": (
        "the old man sat\n",
        "the young men sat\n",
        "the young man sat\n",
        "the young men sat\n",
    ),
    "a word moved by one and deleted by both": ("a \n", " a\n", " \n", " a\n"),
    "all of it deleted by both": ("a\n", "", "", ""),
}


@pytest.mark.parametrize("name", CLEAN)
def test_changes_apart_from_each_other_are_merged_whoever_made_them(name: str) -> None:
    base, ours, theirs, merged = CLEAN[name]
    assert merge(base, ours, theirs) == merged
    assert merge(base, theirs, ours) == merged


CONFLICTS = {
    "one line, two ways": ("a\n", "b\n", "c\n"),
    "two insertions at one place": ("a\nb\n", "a\nx\nb\n", "a\ny\nb\n"),
    "two texts for an empty one": ("", "x\n", "y\n"),
    "a growing change and an insertion behind it": ("a\nb\n", "a\nx\nb\n", "A\ny\nb\n"),
    "a deletion and a change": ("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"),
    "another number of lines": ("f(a, b)\n", "f(A, b)\n", "f(a, b\n)\n"),
    "the same word": ("f(one)\n", "f(uno)\n", "f(eins)\n"),
    "words with nothing but a blank between them": ("a + b\n", "a - b\n", "a + c\n"),
    "neighbouring words of prose": (
        "the old man sat\n",
        "the young man sat\n",
        "the old boy sat\n",
    ),
    "an insertion beside a changed word": ("the man sat\n", "the old man sat\n", "a man sat\n"),
    "touching words": ("f(one)\n", "g(one)\n", "f[one)\n"),
    "the last word and more behind it": ("x = 1\n", "x = 2\n", "x = 1  # why\n"),
    "two words at one place": ("a b\n", "a x b\n", "a y b\n"),
    "insertions whose order nobody can tell": ("a b\n", "a x b\n", "a, b\n"),
    "changes on both sides of the same change": ("a b c\n", "x y c\n", "a y z\n"),
    "a shifted block and its lines changed": (
        "x = 1\ny = 2\nz = 3\n",
        "y = 2\nz = 3\nw = 4\n",
        "x := 1\ny := 2\nz := 3\n",
    ),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_changes_that_touch_are_a_conflict_whoever_made_them(name: str) -> None:
    base, ours, theirs = CONFLICTS[name]
    assert merge(base, ours, theirs) is None
    assert merge(base, theirs, ours) is None


@pytest.mark.parametrize("name", CLEAN)
def test_line_changed_by_both_sides_is_distinguished(name: str) -> None:
    base, ours, theirs, merged = CLEAN[name]
    found = Merger(base, theirs).merge_detailed(ours)
    assert found is not None
    mixed = {line for line in merged.splitlines() if line not in (ours + theirs).splitlines()}
    assert found.is_mixed == bool(mixed)


LINE_ENDS = {
    "the user turns all line ends": ("a\r\nb\r\n", "a\nb\n", "a\r\nB\r\nc\r\n", "a\nB\nc\n"),
    "the agent turns all line ends": ("a\nb\n", "a\nx\nb\n", "a\r\nb\r\n", "a\r\nx\r\nb\r\n"),
    "both do, differently": ("a\nb\n", "a\r\nb\r\n", "a\rb\r", "a\r\nb\r\n"),
    "the user turns one of them": ("a\r\nb\r\n", "a\nb\r\n", "A\r\nb\r\n", "A\nb\r\n"),
    "mixed ones are left alone": ("a\r\nb\nc\r\n", "a\r\nb\nC\r\n", "A\r\nb\nc\r\n", "A\r\nb\nC\r\n"),
    "the user appends to a last line without end": ("a", "a\nc", "b", "b\nc"),
    "the same with another line end": ("a", "a\r\nc", "b", "b\r\nc"),
    "the agent ends the last line": ("a\nb", "A\nb", "a\nb\n", "A\nb\n"),
    "the user takes the last line end away": ("a\nb\n", "a\nb", "A\nb\n", "A\nb"),
    "the agent does, the user appends": ("a\n", "a\nc\n", "a", "a\nc"),
    "the last line end of an empty line stays": ("a\n", "a\n\n", "a", "a\n\n"),
    "the user deletes what had no end": ("a", "", "a\nc", "c"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINE_ENDS)
def test_line_ends_are_merged_apart_from_the_text(name: str) -> None:
    base, ours, theirs, merged = LINE_ENDS[name]
    assert merge(base, ours, theirs) == merged


def test_a_carriage_return_never_joins_the_line_feed_of_another_line() -> None:
    assert merge("a\nb\n\n", "a\rb\n\n", "a\n\n") is None


def test_a_merger_gives_the_same_for_every_text_of_the_user() -> None:
    merger = Merger("f(a, b)\n", "f(a, c)\n")
    texts = ("f(a, b)\n", "g(a, b)\n", "f(a, b)\nmore\n", "f(a, d)\n", "")
    assert [merger.merge(ours) for ours in texts] == [
        merge(merger.base, ours, merger.theirs) for ours in texts
    ]
    assert merger == Merger("f(a, b)\n", "f(a, c)\n")


PARTLY = {
    "a conflict beside clean changes": (
        ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nX\nc\nD\n"),
        PartialMerge("a\nB\nc\nD\n", (MergeConflict(1, 2, "b\n", "X\n"),)),
    ),
    "lines added by both": (
        ("a\nb\n", "a\nmine\nb\n", "a\nits\nb\n"),
        PartialMerge("a\nmine\nits\nb\n"),
    ),
    "lines that the user has removed": (
        ("a\nb\nc\n", "a\nc\n", "a\nX\nc\n"),
        PartialMerge("a\nc\n", (MergeConflict(1, 1, "b\n", "X\n"),)),
    ),
    "a last line without a line end": (
        ("a\nb", "a\nB", "a\nX"),
        PartialMerge("a\nB", (MergeConflict(1, 2, "b", "X"),)),
    ),
    "line ends that the user has converted": (
        ("a\nb\nc\n", "a\r\nB\r\nc\r\n", "a\nX\nc\n"),
        PartialMerge("a\r\nB\r\nc\r\n", (MergeConflict(1, 2, "b\r\n", "X\r\n"),)),
    ),
}


@pytest.mark.parametrize(("texts", "merged"), PARTLY.values(), ids=PARTLY)
def test_partial_merge_has_the_users_lines_at_a_conflict(
    texts: tuple[str, str, str], merged: PartialMerge
) -> None:
    assert merge_partly(*texts) == merged
