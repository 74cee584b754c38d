"""A file cut into the passages that are searched, by what the ending of its name says it is.

No grammar is asked here: its parser can take more than a minute for 20,000 characters that were made
for it, and nothing can stop it. `outliner.py` asks, and what it was told is taken. All else that is
done here takes time in proportion to the text, whatever the text is.
"""

from collections.abc import Iterator, Sequence

from stet.index.links import NOTES, ending_of
from stet.index.search.chunk import Chunk
from stet.index.search.chunk_splitter import split_passages
from stet.index.search.definition import Definition, with_plain_ends
from stet.index.search.line_definitions import definitions_by_look, is_code
from stet.index.search.note_chunks import note_passages
from stet.index.search.python_definitions import python_definitions

_PYTHON = frozenset({".py", ".pyi", ".pyw"})


def chunk_file(
    text: str, name: str, outline: Sequence[Definition] | None = None
) -> tuple[Chunk, ...]:
    """The passages of `text`, a file called `name`, in order of place.

    Every line that is not blank (`str.strip`) lies in one of them, and none overlaps another. Lines
    are those of `stet.text.lines`. Notes are cut at their headings, code at what it defines, all
    else where lines are blank; what is long is cut further.

    Args:
        text: With line ends of any kind.
        name: Of the file.
        outline: What it defines, if a grammar has told; else that is found by its look.
    """
    text = with_plain_ends(text)
    lines = text.split("\n")
    if outline is not None:
        return tuple(split_passages(lines, outline))
    return tuple(_passages(text, lines, ending_of(name)))


def _passages(text: str, lines: list[str], ending: str) -> Iterator[Chunk]:
    if ending in NOTES:
        return note_passages(text, lines)
    if ending in _PYTHON:
        return split_passages(lines, python_definitions(text, lines))
    if is_code(ending):
        return split_passages(lines, definitions_by_look(text, lines, ending))
    return split_passages(lines, ())
