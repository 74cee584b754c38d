r"""Untrusted text in a terminal, a message or a log, without control and hidden characters.

A file, its name, a model's answer and an error of a server can all hold bytes that move the cursor,
hide text, open links or write to the clipboard (`\x1b[8m`, OSC 8, OSC 52, a bare `\r`), and marks
that reorder or hide text (bidirectional controls, tag characters). They are shown as Python's
escape sequences.
"""

import re

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

_LINK = re.compile(r"\](?=[(\[:])|<(?=[A-Za-z][\w.+-]*:)")


def escape(text: str) -> str:
    """Return `text` with control and hidden characters escaped; line feeds and tabs stay, CRLF
    becomes a line feed.
    """
    return _ACTING.sub(_escape_match, text.replace("\r\n", "\n"))


def escape_line(text: str) -> str:
    """Return the escaped text on one line: line feeds and tabs become spaces."""
    return escape(text).replace("\n", " ").replace("\t", " ")


def disable_links(text: str) -> str:
    """Return `text` with a space in Markdown's links and pictures, so that editors show them as
    text.

    The forms are `[x](command:y)`, `[x][y]`, `[y]: command:z` and `<command:z>`. A click on a link
    to `command:` would run any command. The space is visible and changes no word.
    """
    return _LINK.sub(r"\g<0> ", text)


def _escape_match(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
