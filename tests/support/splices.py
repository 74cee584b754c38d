"""Changes of a text at positions that may not exist, as messages and as applied naively."""

from tests.support.naive_text import naive_splice
from tests.support.raw_peer import Message, replaced

Splice = tuple[int, int, int, int, str]


def as_change(splice: Splice) -> Message:
    """Make a content change."""
    start_line, start, end_line, end, text = splice
    return replaced((start_line, start), (end_line, end), text)


def spliced(text: str, *splices: Splice) -> str:
    """Return the text after the changes are applied one by one, with UTF-16 units."""
    for splice in splices:
        text = naive_splice(text, splice, "utf-16")
    return text
