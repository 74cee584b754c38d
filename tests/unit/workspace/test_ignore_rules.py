import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.workspace.ignore_rules import parse_patterns

SHOWN = None


@pytest.mark.parametrize(
    ("lines", "path", "is_ignored"),
    [
        ("*.log", "x.log", True),
        ("*.log", "deep/down/x.log", True),
        ("*.log", "x.log.txt", SHOWN),
        ("/x", "x", True),
        ("/x", "a/x", SHOWN),
        ("a/x", "a/x", True),
        ("a/x", "b/a/x", SHOWN),
        ("build/", "build/", True),
        ("build/", "build", SHOWN),
        ("build/", "a/build/", True),
        ("a/*", "a/b", True),
        ("a/*", "a/", SHOWN),
        ("a/*", "a/b/c", SHOWN),
        ("a/**", "a/", SHOWN),
        ("a/**", "a/b/c", True),
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("a/**/x", "a/x", True),
        ("a/**/x", "a/b/c/x", True),
        ("a**b", "axxb", True),
        ("a**b", "a/b", SHOWN),
        ("x?", "xy", True),
        ("x?", "x", SHOWN),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", SHOWN),
        ("[^a-c]x", "dx", True),
        ("[]]x", "]x", True),
        ("[", "[", SHOWN),
        ("a\\*b", "a*b", True),
        ("a\\*b", "axb", SHOWN),
        ("\\#x", "#x", True),
        ("\\!x", "!x", True),
        ("# x", "# x", SHOWN),
        ("x  ", "x", True),
        ("x\\ ", "x ", True),
        ("trailing\\", "trailing\\", SHOWN),
        ("*|!keep.log", "keep.log", False),
        ("!keep.log|*", "keep.log", True),
        ("*|!*/|!*.py", "src/", False),
        ("*|!*/|!*.py", "src/a.py", False),
        ("*|!*/|!*.py", "src/a.c", True),
        ("/*|!/src", "src/", False),
        ("/", "x", SHOWN),
        ("é.md", "é.md", True),
    ],
)
def test_patterns_mean_what_they_mean_to_git(
    lines: str, path: str, is_ignored: bool | None
) -> None:
    patterns, _ = parse_patterns(lines.split("|"))
    parts = tuple(path.removesuffix("/").split("/"))
    assert patterns.match(parts, is_folder=path.endswith("/")) is is_ignored


def test_invalid_patterns_are_reported() -> None:
    assert parse_patterns(["ok", "", "# note", "[", "a\\", "!", "//"])[1] == ("[", "a\\", "!", "//")


@given(st.text("a*?[]!^-\\/ #", max_size=12), st.lists(st.text("a]-[", min_size=1), min_size=1))
def test_any_line_is_a_pattern_or_is_none(line: str, path: list[str]) -> None:
    patterns, bad = parse_patterns([line])
    assert patterns.match(tuple(path), is_folder=True) in (True, False, None)
    assert len(patterns.patterns) + len(bad) <= 1


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "**/a/" * 30 + "b", "*[ab]" * 30 + "c"])
def test_hostile_pattern_is_matched_fast(pattern: str) -> None:
    patterns, _ = parse_patterns([pattern])
    path = ("a" * 255,) * 30
    assert timeit.timeit(lambda: patterns.match(path, is_folder=False), number=1) < 0.5
