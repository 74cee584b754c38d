"""Changes of a text by places that may be none, on the wire and as counting everything anew has them."""

from tests.support.naive_text import naive_splice
from tests.support.raw_peer import Message, replaced

Splice = tuple[int, int, int, int, str]


def as_change(splice: Splice) -> Message:
    """A content change."""
    start_line, start, end_line, end, text = splice
    return replaced((start_line, start), (end_line, end), text)


def spliced(text: str, *splices: Splice) -> str:
    """What is left when they are carried out one by one, counted in UTF-16."""
    for splice in splices:
        text = naive_splice(text, splice, "utf-16")
    return text
