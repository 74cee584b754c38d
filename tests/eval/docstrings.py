"""Questions from a docstring to its function, in an index without docstrings."""

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from tests.eval.corpus import Change, Question, Step, files_in, is_held, sampled

MIN_WORDS = 4
"""The minimum number of words: a shorter paragraph is no useful question."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_TESTS = re.compile(r"(^|/)tests?/")
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Docstrings:
    """All Python files below some folders, as one index.

    The first paragraph of a function's docstring is the question. Repeated ones (in copies of a
    package, in overloads) are left out, as they are ambiguous.
    """

    folders: tuple[Path, ...]
    by_line: bool = True

    def steps(self, sample: int) -> Iterator[Step]:
        """Yield the steps; see `Corpus`."""
        put: dict[str, str] = {}
        questions: list[Question] = []
        for folder in self.folders:
            for name, text in files_in(folder, ".py"):
                known = f"{folder.name}/{name}"
                if _TESTS.search(known):
                    continue
                put[known], found = without_docstrings(text)
                held = is_held(name)
                questions += [Question(q, frozenset([known]), held, at) for q, at in found]
        yield Change(put)
        times = Counter(each.text for each in questions)
        yield from sampled([each for each in questions if times[each.text] == 1], sample)


def without_docstrings(text: str) -> tuple[str, list[tuple[str, int]]]:
    """Remove docstrings from a module; return the text, and the first paragraph of each function's
    docstring with the 0-based line of its `def` in that text. Other texts are unchanged.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text, []
    lines = re.split(r"(?<=\n)", text)
    removed = [0] * (len(lines) + 1)
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        docstring = _docstring_of(node)
        if docstring is None:
            continue
        first, end = docstring.lineno - 1, (docstring.end_lineno or docstring.lineno)
        if lines[first][: docstring.col_offset].strip():
            continue  # after other code on its line
        # A body must not become empty.
        lines[first] = " " * docstring.col_offset + "...\n"
        for line in range(first + 1, end):
            lines[line] = ""
            removed[line] = 1
        question = first_paragraph(str(docstring.value.value)) if is_function(node) else None
        if question is not None:
            found.append((question, node.lineno - 1))  # type: ignore[attr-defined]
    before = [0, *accumulate(removed)]
    return "".join(lines), [(question, line - before[line]) for question, line in found]


class _Docstring(ast.Expr):
    value: ast.Constant


def _docstring_of(node: ast.AST) -> "_Docstring | None":
    if not isinstance(node, _WITH_DOCSTRING) or not node.body:
        return None
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return first if isinstance(first.value.value, str) else None  # type: ignore[return-value]
    return None


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def first_paragraph(docstring: str) -> str | None:
    """Return a question on one line; None if there are too few words."""
    words = _PARAGRAPH_END.split(docstring.strip())[0].split()
    return " ".join(words)[:300] if len(words) >= MIN_WORDS else None
