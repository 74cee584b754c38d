"""A reference model: the text of every open document according to LSP, in the agreed encoding.

Written to be obviously correct; it shares no code with the server.
"""

import re
import zlib
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote_to_bytes

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_WORD = re.compile(r"[um]\d+x")


class Violation(Exception):
    """A violation of an invariant."""


@dataclass
class Document:
    """One open document.

    Attributes:
        uri: The URI in the editor's spelling.
        version: The editor's version number.
        text: The current text.
        is_doubtful: Whether one version was used for two texts; an edit may mean either.
        opened_at: The number of messages sent before the document was opened.
    """

    uri: str
    version: int
    text: str
    is_doubtful: bool = False
    opened_at: int = 0


def checksum(text: str) -> int:
    """Compute a checksum of the text as UTF-16: two adjacent surrogates count as one character."""
    return zlib.crc32(text.encode("utf-16-le", "surrogatepass"))


def as_sent(text: str) -> str:
    """Return a text as JSON transmits it, which joins two adjacent surrogates."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def key_of(uri: str) -> str:
    """Return one key for all spellings of a document's URI."""
    scheme, _, rest = uri.partition(":")
    decoded = unquote_to_bytes(rest.encode("utf-8", "surrogatepass"))
    return f"{scheme.lower()}:{quote_from_bytes(decoded)}"


def is_held(uri: str) -> bool:
    """Tell whether the server tracks documents of that scheme."""
    return uri.partition(":")[0] in {"file", "untitled"}


def lines_of(text: str) -> list[str]:
    """Split into lines with their ends; the last line has no end, and may be empty."""
    lines = _LINE.findall(text)
    if len(lines) > 1 and lines[-1] == "" and not lines[-2].endswith(("\r", "\n")):
        lines.pop()  # the pattern matches the end twice
    return lines


def width(text: str, encoding: str) -> int:
    """Return the length of a text in the encoding's units."""
    codec, size = CODECS[encoding]
    return len(text) if text.isascii() else len(text.encode(codec, "surrogatepass")) // size


def offset_of(lines: list[str], line: int, units: int, encoding: str) -> int:
    """Return a position's offset in code points from the start; out of range it is clamped."""
    line = max(line, 0)
    if line >= len(lines):
        return sum(map(len, lines))
    start = sum(map(len, lines[:line]))
    content = lines[line].rstrip("\r\n")
    if content.isascii():
        return start + max(0, min(units, len(content)))
    left = units
    for column, character in enumerate(content):
        left -= width(character, encoding)
        if left < 0:
            return start + column
    return start + len(content)


def replaced(text: str, change: dict[str, object], encoding: str) -> str:
    """Return `text` after one content change of `textDocument/didChange`.

    In UTF-16 a change may split a character, of which a half stays; adjacent halves are joined.
    """
    new, stretch = as_sent(str(change["text"])), change.get("range")
    if not isinstance(stretch, dict):
        return new
    if encoding == "utf-16":
        text, new, encoding = in_halves(text), in_halves(new), "utf-32"
    lines = lines_of(text)
    first, last = (
        offset_of(lines, stretch[end]["line"], stretch[end]["character"], encoding)
        for end in ("start", "end")
    )
    return as_sent(text[: min(first, last)] + new + text[max(first, last) :])


def in_halves(text: str) -> str:
    """Return a text in which each UTF-16 unit is a separate character."""
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[n] | units[n + 1] << 8) for n in range(0, len(units), 2))


def slice_of(text: str, stretch: dict[str, dict[str, int]], encoding: str) -> str:
    """Return the text in a range."""
    lines = lines_of(text)
    first, last = (
        offset_of(lines, stretch[end]["line"], stretch[end]["character"], encoding)
        for end in ("start", "end")
    )
    return text[first:last]


def words_of(*texts: str) -> set[str]:
    """Return the marked words: `u…x` of the user's, `m…x` of the model's."""
    return {word for text in texts for word in _WORD.findall(text)}


def is_malformed(params: object) -> bool:
    """Tell whether the parameters of `textDocument/didChange` violate the protocol's types."""
    if not isinstance(params, dict):
        return True
    document, changes = params.get("textDocument"), params.get("contentChanges")
    if not isinstance(document, dict) or not isinstance(changes, list):
        return True
    version = document.get("version")
    has_version = version is None or type(version) is int
    return (
        type(document.get("uri")) is not str or not has_version or any(map(_is_no_change, changes))
    )


def _is_no_change(change: object) -> bool:
    if not isinstance(change, dict) or type(change.get("text")) is not str:
        return True
    stretch = change.get("range")
    if stretch is None:
        return False
    return not isinstance(stretch, dict) or any(
        _is_no_place(stretch.get(e)) for e in ("start", "end")
    )


def _is_no_place(place: object) -> bool:
    return not isinstance(place, dict) or any(
        type(place.get(name)) is not int for name in ("line", "character")
    )
