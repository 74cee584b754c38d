"""The documents of `FakeEditor`, kept according to the protocol without any code of Stet's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types as lsp

from tests.support.naive_text import SIZES, naive_lines, naive_offset


@dataclass
class EditorDocument:
    """One open document."""

    uri: str
    version: int
    text: str


def to_uri(name: str | Path, root: Path | None) -> str:
    """Return the URI of a URI, a path, or a name relative to the root."""
    if isinstance(name, str) and ":" in name:
        return name
    path = Path(name) if root is None else root / name
    return "file://" + quote(path.as_posix())


def to_path(uri: str) -> Path | None:
    """Return the path of a document; None for a document without a file."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def place_of(text: str, offset: int, encoding: str) -> lsp.Position:
    """Return the position of an offset (code points)."""
    codec, size = SIZES[encoding]
    number, start, content = 0, 0, ""
    for n, (line_start, line, _) in enumerate(naive_lines(text)):
        if line_start <= offset:
            number, start, content = n, line_start, line
    before = content[: offset - start].encode(codec, "surrogatepass")
    return lsp.Position(number, len(before) // size)


def range_of(text: str, needle: str, encoding: str) -> lsp.Range:
    """Return the range of the one occurrence of `needle`."""
    assert text.count(needle) == 1, f"{needle!r} stands {text.count(needle)} times in {text!r}"
    start = text.index(needle)
    return lsp.Range(place_of(text, start, encoding), place_of(text, start + len(needle), encoding))


def with_edits(text: str, edits: Sequence[object], encoding: str) -> str:
    """Return `text` after the edits of one `TextDocumentEdit`.

    All ranges refer to the text before. Overlapping edits violate the protocol.
    """
    spans = sorted(_spans(text, edits, encoding), key=lambda span: span[:2])
    for (_, end, _), (start, _, _) in pairwise(spans):
        assert end <= start, f"overlapping edits: {edits!r}"
    for start, end, new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


def _spans(text: str, edits: Sequence[object], encoding: str) -> Iterator[tuple[int, int, str]]:
    for edit in edits:
        assert isinstance(edit, lsp.TextEdit | lsp.AnnotatedTextEdit), edit
        start, end = edit.range.start, edit.range.end
        first = naive_offset(text, start.line, start.character, encoding)
        last = naive_offset(text, end.line, end.character, encoding)
        assert first <= last, f"a reversed range: {edit!r}"
        yield first, last, edit.new_text
