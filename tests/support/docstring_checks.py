"""Functions without a docstring, and a check that an edit added only a docstring."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import ModuleType


def undocumented(module: ModuleType, shortest: int = 10, longest: int = 20) -> Iterator[str]:
    """Yield the sources of a module's functions of that many lines, without docstrings."""
    for _, function in sorted(vars(module).items()):
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            source = without_docstring(textwrap.dedent(inspect.getsource(function)))
            if source and shortest <= len(source.splitlines()) <= longest:
                yield source


def without_docstring(source: str) -> str:
    """Return the source of one function without its docstring; "" if no body would remain."""
    node = ast.parse(source).body[0]
    if not isinstance(node, ast.FunctionDef):
        return ""
    if ast.get_docstring(node) is None:
        return source
    lines = source.splitlines(keepends=True)
    first = node.body[0]
    del lines[first.lineno - 1 : first.end_lineno]
    return "".join(lines) if len(node.body) > 1 else ""


def only_documented(before: str, after: str) -> bool:
    """Tell whether `after` is the function `before` with a docstring and no other change."""
    node = ast.parse(after).body[0]
    assert isinstance(node, ast.FunctionDef)
    return bool(ast.get_docstring(node)) and without_docstring(after) == before
