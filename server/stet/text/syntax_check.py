"""The syntax errors of a text, for languages whose parser Python has."""

import ast
import json
import tomllib
import warnings
from dataclasses import dataclass

MAX_CHARACTERS = 500_000
"""The most characters of a text that is parsed."""


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A syntax error.

    Attributes:
        line: The line, 1-based.
        column: The column in code points, 1-based.
        message: The parser's message.
    """

    line: int
    column: int
    message: str


def syntax_problems(name: str, text: str) -> tuple[SyntaxProblem, ...] | None:
    """Return the syntax errors of a text, at most one; None if the text is not checked.

    Takes long for a long text: call it in a worker thread.

    Args:
        name: The name of the file, whose suffix says the language: `.py`, `.pyi`, `.json`, `.toml`.
        text: The text.
    """
    suffix = f".{name.rpartition('.')[2].lower()}"
    if suffix not in {".py", ".pyi", ".json", ".toml"} or len(text) > MAX_CHARACTERS:
        return None
    try:
        if suffix == ".json":
            json.loads(text)
        elif suffix == ".toml":
            tomllib.loads(text)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                ast.parse(text)
    except json.JSONDecodeError as error:
        return (SyntaxProblem(error.lineno, error.colno, error.msg),)
    except SyntaxError as error:
        return (SyntaxProblem(error.lineno or 1, error.offset or 1, error.msg),)
    except (ValueError, RecursionError, MemoryError) as error:
        return (_problem_of(error),)
    return ()


def _problem_of(error: Exception) -> SyntaxProblem:
    """Return the problem of an error that has its place at most in its message."""
    message = str(error) or type(error).__name__
    head, found, place = message.partition(" (at line ")
    if not found:
        return SyntaxProblem(1, 1, message)
    line, _, column = place.rstrip(")").partition(", column ")
    if not (line.isdigit() and column.isdigit()):
        return SyntaxProblem(1, 1, message)
    return SyntaxProblem(int(line), int(column), head)
