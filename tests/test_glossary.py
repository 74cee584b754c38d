"""The vocabulary of the package: one word has one meaning (`server/GLOSSARY.md`)."""

import builtins
import re
from collections import Counter
from pathlib import Path

from tests.support.identifiers import (
    class_names,
    count_terms,
    documented_exceptions,
    function_docstrings,
    identifiers_in,
    imported_names,
)

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "server" / "stet"
FILES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
GLOSSARY = (ROOT / "server" / "GLOSSARY.md").read_text()
ROW = re.compile(
    r"^\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \| `(?P<path>[^`|]+)` \|$", re.MULTILINE
)

BANNED = (
    "desk", "crew", "wish", "wishes", "footing", "footings", "hands", "forgetful",
    "book", "grounds", "ground", "flood", "verdict", "verdicts", "told", "led",
    "stated", "manner", "heed", "fate", "sight", "spare", "witness", "sweep",
    "seam", "seams", "seamed", "along", "apart", "elsewhere", "behind", "turning",
    "latecomer", "latecomers", "overdue", "shelf", "grave", "guarded", "carry", "carried",
    "carrying", "kept", "own", "stood", "standing", "by_hand", "take_back", "put_back",
    "let_go", "at_work", "still_allowed", "said", "heard", "unheard", "untold", "stands",
)  # fmt: skip
"""Words of an older, private vocabulary: no definition and no file has them in its name."""

BANNED_IN_TESTS = (
    "told", "heard", "said", "wish", "wishes", "stands", "behind", "desk", "crew", "footing",
)  # fmt: skip
"""Words of that vocabulary which no name in the tests has either."""

REPEATED_CLASSES: dict[str, str] = {}
"""Class names that mean two things, each with the reason."""

REPEATED_FILES: set[str] = set()
"""File names that exist in several packages; at most 20."""

EMPTY_DOCS = re.compile(r"^\s+\w+: (?:That|The same|Those|As it was|The other)\.$", re.MULTILINE)


def test_banned_words_do_not_come_back() -> None:
    names = [name for path in FILES for name in identifiers_in(path)]
    counts = count_terms(names, BANNED)
    assert {word: n for word, n in counts.items() if n} == {}


def test_banned_words_do_not_come_back_in_tests() -> None:
    names = [name for path in TESTS for name in identifiers_in(path)]
    counts = count_terms(names, BANNED_IN_TESTS)
    assert {word: n for word, n in counts.items() if n} == {}


def test_each_class_name_is_unique() -> None:
    counts = Counter(name for path in FILES for name in class_names(path))
    assert {name for name, n in counts.items() if n > 1} == set(REPEATED_CLASSES)


def test_at_most_20_file_names_are_repeated() -> None:
    counts = Counter(path.name for path in FILES if path.name != "__init__.py")
    assert {name for name, n in counts.items() if n > 1} == REPEATED_FILES
    assert len(REPEATED_FILES) <= 20


def test_no_attribute_is_documented_by_a_pronoun() -> None:
    empty = [str(path.relative_to(SOURCE)) for path in FILES if EMPTY_DOCS.search(path.read_text())]
    assert empty == []


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    clauses = ("Whether ", "How ", "Where ", "Why ", "Which ", "When ", "What ", "All ", "Those ")
    found = [
        f"{path.relative_to(SOURCE)}: {text.splitlines()[0]}"
        for path in FILES
        for text in function_docstrings(path)
        if text.startswith(clauses)
    ]
    assert found == []


def test_docstrings_name_exceptions_that_exist() -> None:
    known = {*dir(builtins), *(name for path in FILES for name in class_names(path))}
    unknown = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in FILES
        for imported in [frozenset(imported_names(path))]
        for name in documented_exceptions(path)
        if name.lstrip("_").partition(".")[0] not in known | imported
    ]
    assert unknown == []


def test_each_term_names_a_file_that_exists() -> None:
    rows = [match.groupdict() for match in ROW.finditer(GLOSSARY)]
    assert len(rows) >= 60
    assert [row for row in rows if not (SOURCE / row["path"]).is_file()] == []


def test_each_term_has_one_row() -> None:
    terms = Counter(term for row in ROW.finditer(GLOSSARY) for term in row["term"].split(", "))
    assert [term for term, n in terms.items() if n > 1] == []
