"""A clean merge loses nothing of either side, whatever the texts; `git merge-file` agrees."""

import random
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.lines import split_lines
from stet.text.merge import Merger, merge
from tests.support.naive_text import NASTY

pytestmark = pytest.mark.slow


pieces = st.lists(st.sampled_from((*NASTY, "a\n", "b c\r\n", "a b\n", "x")), max_size=10)
texts = pieces.map("".join)


@given(base=texts, one=texts, other=texts)
@settings(max_examples=500, deadline=None)
def test_unchanged_side_has_no_effect_and_equal_changes_are_merged_once(
    base: str, one: str, other: str
) -> None:
    assert merge(base, one, base) == one
    assert merge(base, base, other) == other
    assert merge(base, one, one) == one
    assert (merge(base, one, other) is None) == (merge(base, other, one) is None) or "\r" in (
        base + one + other
    )


def words(text: str) -> Counter[str]:
    """The words and signs of a text, written anew for the tests."""
    return Counter(re.findall(r"\w+|[^\w\s]", text))


@given(base=texts, ours=texts, theirs=texts)
@settings(max_examples=500, deadline=None)
def test_a_clean_merge_holds_whatever_either_side_wrote_and_nothing_else(
    base: str, ours: str, theirs: str
) -> None:
    merged = merge(base, ours, theirs)
    if merged is None:
        return
    old, mine, other, made = map(words, (base, ours, theirs, merged))
    for word in mine | other | made:
        if word not in old:
            assert max(mine[word], other[word]) <= made[word] <= mine[word] + other[word]
        elif mine[word] == other[word] == 0:
            assert word not in made


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str, str]:
    """Lines of words, edited by two people whose words show who wrote them."""
    end = draw(st.sampled_from(("\n", "\r\n")))
    n = draw(st.integers(1, 8))
    base = [[f"w{line}{word}" for word in "abcdef"] for line in range(n)]
    sides = []
    for who in ("mine", "other"):
        lines = [list(line) for line in base]
        for number in range(draw(st.integers(0, 3))):
            at, column = draw(st.integers(0, n - 1)), draw(st.integers(0, 5))
            how = draw(st.sampled_from(("word", "line", "insert", "delete")))
            if how == "word" and len(lines[at]) == 6:
                lines[at][column] = f"{who}{number}"
            elif how == "line":
                lines[at] = [f"{who}{number}", "whole"]
            elif how == "insert":
                lines[at] = [*lines[at], f"{end}{who}{number}"]
            elif how == "delete":
                lines[at] = []
        sides.append("".join(" ".join(line) + end for line in lines if line))
    last = draw(st.sampled_from(("", end)))
    mine, other = (side.removesuffix(end) + last if side else "" for side in sides)
    return end.join(" ".join(line) for line in base) + last, mine, other


@given(edited())
@settings(max_examples=500, deadline=None)
def test_words_of_both_sides_are_kept_in_order(case: tuple[str, str, str]) -> None:
    base, ours, theirs = case
    merged = merge(base, ours, theirs)
    swapped = merge(base, theirs, ours)
    assert merged == swapped
    if merged is None:
        return
    for who, side in (("mine", ours), ("other", theirs)):
        assert re.findall(rf"{who}\d", merged) == re.findall(rf"{who}\d", side)
    removed = set(base.split()) - (set(ours.split()) & set(theirs.split()))
    assert not removed & set(merged.split())
    kept = set(base.split()) & set(ours.split()) & set(theirs.split())
    assert kept <= set(merged.split())


def some_edits(rng: random.Random, lines: list[str], who: str) -> list[str]:
    """The lines with a few of them changed, added or taken away."""
    edited_lines = list(lines)
    for number in range(rng.randrange(1, 4)):
        at = rng.randrange(len(edited_lines))
        n = rng.choice((0, 1, 1, 2))
        edited_lines[at : at + n] = [
            rng.choice((f"{who} {number}\n", f"{lines[0][:-1]} {who} {number}\n", "same\n"))
            for _ in range(rng.randrange(3))
        ]
        if not edited_lines:
            break
    return edited_lines


def test_git_agrees_where_it_merges_and_where_it_does_not_both_sides_survive(
    tmp_path: Path,
) -> None:
    rng = random.Random(20)
    counts: Counter[str] = Counter()
    for _ in range(250):
        base = [f"line {n} has words\n" for n in range(rng.randrange(3, 14))]
        ours, theirs = some_edits(rng, base, "mine"), some_edits(rng, base, "other")
        merged = merge("".join(base), "".join(ours), "".join(theirs))
        names = []
        for name, lines in (("ours", ours), ("base", base), ("theirs", theirs)):
            (tmp_path / name).write_bytes("".join(lines).encode())
            names.append(str(tmp_path / name))
        done = subprocess.run(["git", "merge-file", "-p", *names], capture_output=True, check=False)
        if done.returncode == 0:
            assert merged == done.stdout.decode(), (base, ours, theirs)
            counts["git merges"] += 1
        elif merged is not None:
            for who, side in (("mine", ours), ("other", theirs)):
                own = Counter(re.findall(rf"{who} \d", "".join(side)))
                assert own == Counter(re.findall(rf"{who} \d", merged)), (base, ours, theirs)
            counts["only we merge"] += 1
        else:
            counts["nobody merges"] += 1
    assert counts["git merges"] > 50
    assert counts["only we merge"] > 10
    assert counts["nobody merges"] > 50


def test_a_keystroke_in_a_long_hunk_is_merged_in_a_moment() -> None:
    base = "".join(f"line {n} of the text\n" for n in range(5_000))
    merger = Merger(base, base.replace("line", "LINE"))
    ours = base.replace("2500 of the text", "2500 of the texts")
    started = time.perf_counter()
    merged = merger.merge(ours)
    assert time.perf_counter() - started < 0.5  # about 1 ms; the rest is for a busy machine
    assert merged == ours.replace("line", "LINE")
    assert len(split_lines(merged or "")) == 5_001
