"""Diffs are right for any input, and never blow up."""

import random
import re
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.buffer import TextBuffer
from stet.text.diff import LineHunk, changes_between, diff_lines, long_changes_between, unified_diff
from stet.text.lines import split_lines
from tests.support.naive_text import NASTY, whole

nasty = st.lists(st.sampled_from(NASTY), max_size=16).map("".join).map(whole)
printable = nasty.map(lambda text: text.replace("\0", ""))
few_lines = st.lists(st.sampled_from(["a\n", "b\n", "}\n", "\n", "c\n"]), max_size=30)


def patched(old: list[str], hunks: tuple[LineHunk, ...]) -> list[str]:
    """`old` after `hunks`, each checked against what it says is there."""
    made: list[str] = []
    at = 0
    for n, hunk in enumerate(hunks):
        assert hunk.old_start > at or n == 0
        assert hunk.old or hunk.new
        made += old[at : hunk.old_start]
        at = hunk.old_start + len(hunk.old)
        assert (tuple(old[hunk.old_start : at]), len(made)) == (hunk.old, hunk.new_start)
        made += hunk.new
    return made + old[at:]


def applied(old: str, diff: str) -> str:
    """`old` after a unified diff, as `patch` applies it (every line checked)."""
    source = re.findall(r"[^\n]*\n|[^\n]+\Z", old)
    made: list[str] = []
    at = 0
    for section in re.split(r"(?m)^(?=@@ )", diff)[1:]:
        header, *lines = re.findall(r"[^\n]*\n", section.replace("\n\\ No", "\0\n\\ No"))
        lines = [line.replace("\0\n", "") for line in lines if line[0] != "\\"]
        start, count = re.findall(r"-(\d+)(?:,(\d+))?", header)[0]
        begin = int(start) - (count != "0")
        made += source[at:begin]
        at = begin
        for line in lines:
            if line[0] in " -":
                assert source[at] == line[1:]
                at += 1
            if line[0] in " +":
                made.append(line[1:])
    return "".join(made + source[at:])


@pytest.mark.slow
@given(
    around=st.tuples(nasty, nasty),
    texts=st.one_of(st.tuples(nasty, nasty), st.tuples(*[few_lines.map("".join)] * 2)),
)
@settings(max_examples=300, deadline=None)
def test_a_very_long_text_is_led_to_another_by_the_lines_that_differ(
    around: tuple[str, str], texts: tuple[str, str]
) -> None:
    # Joined, halves of a character that meet are that character: a text never holds them apart.
    old, new = (whole(f"{around[0]}{text}{around[1]}") for text in texts)
    buffer, lines = TextBuffer(old), split_lines(old)
    for change in long_changes_between(old, new):
        _ = buffer.apply(change)
        assert change.splice is not None
        first, before, after = change.splice
        assert lines[first : first + len(before)] == list(before)
        lines[first : first + len(before)] = after
    assert buffer.text == new
    assert lines == buffer.lines == split_lines(new)


@given(old=few_lines, new=few_lines)
@settings(max_examples=150, deadline=None)
def test_hunks_lead_from_the_old_lines_to_the_new(old: list[str], new: list[str]) -> None:
    assert patched(old, diff_lines(old, new)) == new


@given(old=nasty, new=nasty)
@settings(max_examples=200, deadline=None)
def test_changes_typed_into_a_buffer_give_the_new_text(old: str, new: str) -> None:
    buffer = TextBuffer(old)
    changes = changes_between(old, new)
    assert tuple(buffer.apply(one) for one in changes) == changes
    assert buffer.text == new


@given(old=printable, new=printable, context=st.integers(0, 4))
@settings(max_examples=150, deadline=None)
def test_a_unified_diff_can_be_applied(old: str, new: str, context: int) -> None:
    diff = unified_diff(old, new, "a", "b", context)
    assert applied(old, diff) == new
    assert bool(diff) == (old != new)


@pytest.mark.slow
@given(old=few_lines, new=few_lines, context=st.integers(0, 4))
@settings(max_examples=200, deadline=None)
def test_a_unified_diff_of_several_sections_can_be_applied(
    old: list[str], new: list[str], context: int
) -> None:
    text, wanted = "".join(old), "".join(new)
    assert applied(text, unified_diff(text, wanted, "a", "b", context)) == wanted


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_git_applies_a_unified_diff_whatever_ends_the_lines(end: str, tmp_path: Path) -> None:
    old, new = (end.join(lines) for lines in (["a", "b", "c", ""], ["a", "B", "c"]))
    (tmp_path / "a.txt").write_bytes(old.encode())
    diff = unified_diff(old, new, "a/a.txt", "b/a.txt")
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff.encode(), check=True)
    assert (tmp_path / "a.txt").read_bytes() == new.encode()


def test_a_unified_diff_is_what_people_know() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21))
    new = old.replace("2\n3\n", "two\n3\n", 1).replace("19\n20\n", "19\nTwenty")
    assert unified_diff(old, new, "a/n.txt", "b/n.txt", 1) == (
        "--- a/n.txt\n+++ b/n.txt\n"
        "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
        "@@ -19,2 +19,2 @@\n 19\n-20\n+Twenty\n\\ No newline at end of file\n"
    )


def test_new_and_emptied_files_are_shown_from_line_zero() -> None:
    assert unified_diff("", "a\nb", "/dev/null", "b") == (
        "--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    )
    assert unified_diff("a\n", "", "a", "b") == "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n"


def test_only_the_final_line_end_missing_is_a_difference() -> None:
    assert unified_diff("a\n", "a", "a", "b") == (
        "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"
    )


def test_a_name_with_a_line_break_stays_on_its_line() -> None:
    assert unified_diff("", "a\n", "x\n+++ y", "z").startswith("--- x\\n+++ y\n+++ z\n")


def test_a_moved_brace_does_not_pull_a_function_apart() -> None:
    old = ["f() {\n", "  1\n", "}\n", "\n", "h() {\n", "  3\n", "}\n"]
    new = ["f() {\n", "  1\n", "}\n", "\n", "g() {\n", "  2\n", "}\n", "\n", *old[4:]]
    assert diff_lines(old, new) == (LineHunk(4, (), 4, tuple(new[4:8])),)


def random_lines(rng: random.Random, kind: str) -> list[str]:
    if kind == "unique":
        return [f"line {n} {rng.random()}\n" for n in range(10_000)]
    return rng.choices(["}\n", "\n", "    return x\n", "a\n"], k=10_000)


@pytest.mark.parametrize("kind", ["unique", "alike"])
def test_a_thousand_scattered_changes_in_ten_thousand_lines_stay_small(kind: str) -> None:
    rng = random.Random(kind)
    old = random_lines(rng, kind)
    new = list(old)
    for n in rng.sample(range(10_000), 1000):
        new[n : n + 1] = rng.choice(([], ["other\n"], ["one more\n", new[n]]))
    hunks = diff_lines(old, new)
    assert patched(old, hunks) == new
    assert sum(len(hunk.old) + len(hunk.new) for hunk in hunks) < 3000


@pytest.mark.parametrize("kind", ["alike", "unlike", "shuffled", "reversed"])
def test_ten_thousand_lines_of_any_kind_are_compared_without_a_blow_up(kind: str) -> None:
    rng = random.Random(kind)
    old = random_lines(rng, "alike" if kind == "alike" else "unique")
    new = {
        "alike": lambda: random_lines(rng, "alike"),
        "unlike": lambda: random_lines(rng, "unique"),
        "shuffled": lambda: rng.sample(old, len(old)),
        "reversed": lambda: old[::-1],
    }[kind]()
    began = time.process_time()
    hunks = diff_lines(old, new)
    assert time.process_time() - began < 5  # a quadratic one takes minutes
    assert patched(old, hunks) == new


def test_a_full_sync_of_one_typed_character_is_that_character() -> None:
    (change,) = changes_between("a\nbcd\ne\n", "a\nbXcd\ne\n")
    assert (change.range.start, change.range.is_empty, change.text) == (change.range.end, True, "X")
    assert split_lines("a\nbcd")[change.range.start.line][: change.range.start.character] == "b"
