"""Whether an edit breaks a file that was whole, for the languages the standard library reads."""

import ast
import json
import tomllib
import warnings
from collections.abc import Callable

from stet.text.edit import TextEdit


def _python(text: str) -> None:
    with warnings.catch_warnings():
        # Odd escapes in somebody's file are not ours to report.
        warnings.simplefilter("ignore")
        ast.parse(text)


_READERS: dict[str, Callable[[str], object]] = {
    "python": _python,
    "json": json.loads,
    "toml": tomllib.loads,
}


def syntax_problem(language: str, before: str, edit: TextEdit) -> str:
    """What `edit` breaks, in a few words; empty where the file was broken before or nothing is."""
    if (read := _READERS.get(language)) is None or _problem(read, before):
        return ""
    problem = _problem(read, edit.apply(before))
    return f"it is no valid {language.capitalize()} ({problem})" if problem else ""


def _problem(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except (ValueError, SyntaxError, RecursionError) as error:
        return str(error) or type(error).__name__
    return ""
