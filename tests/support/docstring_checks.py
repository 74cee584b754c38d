"""Functions without a docstring, and whether one was added and nothing else touched."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import ModuleType


def undocumented(module: ModuleType, shortest: int = 10, longest: int = 20) -> Iterator[str]:
    """The sources of a module's own functions of so many lines, docstrings taken off."""
    for _, function in sorted(vars(module).items()):
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            source = without_docstring(textwrap.dedent(inspect.getsource(function)))
            if source and shortest <= len(source.splitlines()) <= longest:
                yield source


def without_docstring(source: str) -> str:
    """`source`, a single function, without its docstring; "" if it would be no function then."""
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
    """Whether `after` is the function `before` with a docstring, every other byte as it was."""
    node = ast.parse(after).body[0]
    assert isinstance(node, ast.FunctionDef)
    return bool(ast.get_docstring(node)) and without_docstring(after) == before
