"""The identifiers that source files define, and the words they are made of."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@cache  # most identifiers are in many files
def words_in(identifier: str) -> tuple[str, ...]:
    """Split an identifier into its words, in lower case: `FooBar_baz` gives foo, bar, baz."""
    return tuple(word.lower() for word in _WORD.findall(identifier))


def identifiers_in(path: Path) -> Iterator[str]:
    """Yield each name that a file defines, once per definition, and the file's own name first."""
    yield path.parent.name if path.name == "__init__.py" else path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.MatchAs(name=str(name)):
                yield name
            case _:
                pass


def class_names(path: Path) -> Iterator[str]:
    """Yield the name of each class of a file, a leading underscore left out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")


def count_terms(identifiers: Iterable[str], terms: Iterable[str]) -> Counter[str]:
    """Count the identifiers that contain a term: one word, or several joined by `_`, in a row."""
    wanted = {tuple(term.split("_")): term for term in terms}
    lengths = {len(parts) for parts in wanted}
    counts: Counter[str] = Counter()
    for identifier in identifiers:
        words = words_in(identifier)
        runs = {words[at : at + n] for n in lengths for at in range(len(words) - n + 1)}
        counts.update(wanted[run] for run in runs & wanted.keys())
    return counts


def function_docstrings(path: Path) -> Iterator[str]:
    """Yield each docstring of a function that is no property."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_property = any("property" in ast.unparse(name) for name in node.decorator_list)
            if not is_property and (text := ast.get_docstring(node)):
                yield text


def imported_names(path: Path) -> Iterator[str]:
    """Yield each name that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def documented_exceptions(path: Path) -> Iterator[str]:
    """Yield each name in the "Raises" sections of a file's docstrings."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            section = (ast.get_docstring(node) or "").partition("Raises:\n")[2]
            for names in re.findall(r"^    ([\w.]+(?:, [\w.]+)*):", section, re.MULTILINE):
                yield from names.split(", ")
