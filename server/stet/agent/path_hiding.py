"""What went wrong with a call, without the absolute paths that the model wrote into it.

An error is kept in the conversation, and says which file it is about as the workspace calls it.
"""

import json
from collections.abc import Callable, Iterator, Mapping

from stet.tools.tool_errors import ToolError
from stet.workspace.names import is_absolute, last_part

_NAMES = ("file", "folder", "to", "files", "glob", "links_to", "linked_from")
"""The arguments of tools that name files."""
_MAX_NAMES = 50


def hide_absolute_paths(
    error: str, arguments: Mapping[str, object], name_of: Callable[[str], str]
) -> str:
    """Return an error with each absolute path of the arguments as the workspace calls it.

    Args:
        error: For the model.
        arguments: Of the call.
        name_of: Gives the name of what a path leads to; raises `ToolError` where that is nothing of
            the workspace: then only the last part of the path is said.
    """
    # The longest first: one may be the beginning of another.
    for path in sorted(set(_absolute_paths(arguments)), key=len, reverse=True):
        try:
            name = name_of(path)
        except ToolError:
            name = last_part(path)
        name = last_part(name) if is_absolute(name) else name
        for written, text in (
            (repr(path), repr(name)),
            (json.dumps(path)[1:-1], name),
            (path, name),
        ):
            error = error.replace(written, text)
    return error


def _absolute_paths(arguments: Mapping[str, object]) -> Iterator[str]:
    """Absolute paths among the arguments that name files; bare separators are no path."""
    found = [arguments.get(key) for key in _NAMES]
    for value in found:
        names = value[:_MAX_NAMES] if isinstance(value, list) else [value]
        for name in names:
            if isinstance(name, str) and is_absolute(name) and name.strip("/\\ "):
                yield name
