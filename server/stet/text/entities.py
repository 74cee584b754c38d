"""HTML's character references as what they mean.

The standard library makes a number of a reference however long it is, which raises `ValueError` from
4,300 digits on; no character needs more than seven.
"""

import html
import re

_ENDLESS = re.compile(r"&#(?:[0-9]{100,}+|[xX][0-9a-fA-F]{100,}+);?")


def unescape_entities(text: str) -> str:
    """`text` without references; one of a hundred digits is no character, as with any too large."""
    return html.unescape(_ENDLESS.sub("\ufffd", text) if "&#" in text else text)
