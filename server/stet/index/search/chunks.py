"""A file cut into the passages that are searched, by what the ending of its name says it is.

No grammar of a programming language is asked: its parser can take more than a minute for 20,000
characters that were made for it, and nothing can stop it. What is done here takes time in proportion
to the text, whatever the text is.
"""

from collections.abc import Iterator

from stet.index.links import NOTES, ending_of
from stet.index.search.chunk import Chunk
from stet.index.search.cutting import passages_of
from stet.index.search.line_cuts import definitions_by_look, is_code
from stet.index.search.note_cuts import note_passages
from stet.index.search.python_cuts import python_definitions

_PYTHON = frozenset({".py", ".pyi", ".pyw"})


def chunks_of(text: str, name: str) -> tuple[Chunk, ...]:
    """The passages of `text`, a file called `name`, in order of place.

    Every line that is not blank (`str.strip`) lies in one of them, and none overlaps another. Lines
    are those of `stet.text.lines`. Notes are cut at their headings, code at what it defines, all
    else where lines are blank; what is long is cut further.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")  # as many lines
    return tuple(_passages(text, text.split("\n"), ending_of(name)))


def _passages(text: str, lines: list[str], ending: str) -> Iterator[Chunk]:
    if ending in NOTES:
        return note_passages(text, lines)
    if ending in _PYTHON:
        return passages_of(lines, python_definitions(text, lines))
    if is_code(ending):
        return passages_of(lines, definitions_by_look(text, lines, ending))
    return passages_of(lines, ())
