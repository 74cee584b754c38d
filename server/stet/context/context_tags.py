r"""The tags of a context, and how text is kept from forging them.

Everything between our tags was written by somebody else. Where such text holds one of our own tags
(`</current_file>`, `<user_query>`, in any case and spacing), the `<` of that tag, and nothing else,
is written `&lt;`. So no text can end its section or begin another, all other code stands as it is,
and what was changed can be seen. Attribute values are escaped as in XML; control characters in
them, which could hide or move what follows, are written `\x1b`.
"""

import re
from collections.abc import Mapping

NAMES = (
    "additional_data",
    "current_file",
    "attached_files",
    "file_contents",
    "folder_contents",
    "manually_added_selection",
    "mentioned",
    "project_instructions",
    "since_last_turn",
    "turn_record",
    "user_query",
    "workspace",
)
"""Every tag that a context uses."""

_STET_TAG = re.compile(
    # `<workspace>` is a tag of other formats too, and only its attribute makes it one of ours.
    rf"<(?=\s*+/?+\s*+(?:{'|'.join(NAMES)})(?<!workspace)(?![\w-])|\s*+workspace\s+roots\b)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def element(name: str, text: str, attributes: Mapping[str, str] | None = None) -> str:
    """`<name attributes>`, `text` on lines of its own, `</name>`; `text` is ready to be sent."""
    line_end = "" if text == "" or text.endswith("\n") else "\n"
    return f"<{name}{_attributes(attributes or {})}>\n{text}{line_end}</{name}>"


def empty_element(name: str, attributes: Mapping[str, str]) -> str:
    """`<name attributes/>`."""
    return f"<{name}{_attributes(attributes)}/>"


def escape_tags(text: str) -> str:
    """`text` with our own tags made visible text; a lone surrogate, which can't be sent, as U+FFFD.

    What hides sentences is shown where texts go out (`stet.text.spoofing`).
    """
    return _STET_TAG.sub("&lt;", _SURROGATE.sub("\ufffd", text))


def single_line(text: str) -> str:
    """Return a name or a line escaped by `escape_tags`, without control characters."""
    return escape_tags(_escape_match(text))


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{_quoted(value)}"' for name, value in attributes.items())


def _quoted(value: str) -> str:
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SURROGATE.sub("\ufffd", _escape_match(escaped.replace('"', "&quot;")))


def _escape_match(text: str) -> str:
    """Control characters, also those that change the direction of writing, as their escapes."""
    return _HIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
