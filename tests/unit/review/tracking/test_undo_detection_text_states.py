"""Texts around accepted edits are recognised, with the states and places of their hunks."""

import random

import pytest

from stet.review.errors import HunkOverlap
from stet.review.tracking.undo_detection import MAX_LINES, MAX_TEXTS, HunkInText, TextStates
from stet.text.diff import changes_between
from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import PicturedReview

N_CASES = 60


def words(dice: random.Random, n: int) -> str:
    """So many lines of seven letters."""
    return "".join("".join(dice.choice("abcdefghij") for _ in range(7)) + "\n" for _ in range(n))


def propose_neighbours(dice: random.Random, page: ReviewHarness) -> list[str]:
    """Propose two or three hunks that touch, in any order; none if they can't be distinguished."""
    lines = page.text.splitlines(keepends=True)
    at, edits, made = dice.randrange(3), [], []
    for _ in range(dice.choice([2, 3])):
        removed, added = dice.choice([(1, 1), (1, 1), (0, 2), (1, 0), (1, 2), (2, 1)])
        edits.append((at, at + removed, words(dice, added)))
        at += removed
    dice.shuffle(edits)
    for nth, (first, end, new) in enumerate(edits):
        start, stop = len("".join(lines[:first])), len("".join(lines[:end]))
        try:
            made += [hunk.id for hunk in page.propose_at((start, stop, new), turn=f"t{nth}")]
        except HunkOverlap:
            return []
    return made if page.states == ["pending"] * len(edits) else []


@pytest.mark.parametrize("seed", range(N_CASES))
def test_text_states_follow_undo_and_redo_of_hunks_that_touch(seed: int) -> None:
    dice = random.Random(seed)
    page = ReviewHarness(words(dice, 10))
    hunks = propose_neighbours(dice, page)
    if not hunks:
        return
    dice.shuffle(hunks)
    at_once = dice.choice([1, 1, 2, len(hunks)])
    texts, accepted, done = [page.text], [set[str]()], set[str]()
    for nth in range(0, len(hunks), at_once):
        page.accept(*hunks[nth : nth + at_once])
        done |= set(hunks[nth : nth + at_once])
        if dice.random() < 0.4:
            page.type(page.text.count("\n") - 1, 0, page.text.count("\n") - 1, 0, "x")
        texts.append(page.text)
        accepted.append(set(done))
    n = len(texts) - 1
    for step in [0, n, *range(n - 1, -1, -1), *range(1, n + 1)]:
        if dice.random() < 0.5:
            page.replace(texts[step])
        else:
            page.apply(*changes_between(page.text, texts[step]))
        wanted = {one: "accepted" if one in accepted[step] else "pending" for one in hunks}
        assert {hunk.id: str(hunk.state) for hunk in page.hunks} == wanted


def hunk_of(page: ReviewHarness) -> HunkInText:
    """The first hunk of a document, which is on its first line."""
    hunk = page.hunks[0]
    return HunkInText(hunk, is_accepted=False, first=0, end=1, text=hash(hunk.old))


def test_text_states_are_those_of_the_latest_texts() -> None:
    page = PicturedReview("- a\n+ A\n  b\n")
    states = TextStates()
    for nth in range(MAX_TEXTS + 1):
        states.note(["a\n", f"{nth}\n", ""], [hunk_of(page)])
    [change] = changes_between("x\nx\n", "a\n0\n")
    assert states.find([change], ["a\n", "0\n", ""]) is None
    assert states.find([change], ["a\n", "1\n", ""]) is not None
    assert states.find([change], ["b\n", "1\n", ""]) is None


def test_text_states_do_not_hold_a_very_long_text() -> None:
    page = PicturedReview("- a\n+ A\n  b\n")
    states = TextStates()
    lines = ["a\n"] * MAX_LINES
    [change] = changes_between("x\n", "y\nz\n")
    states.note([*lines, ""], [hunk_of(page)])
    assert states.find([change], [*lines, ""]) is None
    states.note(lines, [hunk_of(page)])
    assert states.find([change], lines) is not None
