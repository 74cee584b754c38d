"""The arguments of tools as Claude Code sends them: checked, since anybody with the token can."""

from collections.abc import Mapping

MAX_NAME = 10_000
"""The most characters of a path or of another name."""


class ToolRefused(Exception):
    """A tool can't do what it is asked; the message is a sentence for Claude."""


def name_in(arguments: Mapping[str, object], key: str) -> str:
    """Return a path or another short text.

    Raises:
        ToolRefused: If it is missing, no text, or too long.
    """
    value = arguments.get(key)
    if not isinstance(value, str) or not value or len(value) > MAX_NAME:
        raise ToolRefused(f"`{key}` must be a text of at most {MAX_NAME} characters.")
    return value


def text_in(arguments: Mapping[str, object], key: str) -> str:
    """Return a text of any length.

    Raises:
        ToolRefused: If it is missing, no text, or not valid Unicode.
    """
    value = arguments.get(key)
    if not isinstance(value, str):
        raise ToolRefused(f"`{key}` must be a text.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ToolRefused(f"`{key}` must be valid Unicode.") from None
    return value
