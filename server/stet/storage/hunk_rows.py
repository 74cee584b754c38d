"""Conversion between hunks and rows of the database; rows that are read are untrusted.

Each text is stored once, by content (`StoredText`), a hunk's other fields as one JSON object in
ASCII, which can store lone surrogates; the database's own text type can't. A field that is added to
`Hunk` later with a default needs no new layout: rows without the field get the default.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from stet.review.journal import AnchorSnapshot
from stet.review.proposal import LIVE, Hunk, HunkKind, HunkState
from stet.text.position import Position, Range
from stet.workspace.uris import is_tracked

_REQUIRED = ("proposal", "turn", "uri")
_OPTIONAL = ("chat", "new_uri", "summary", "group", "author", "block", "reason")
_FLAGS = ("protected", "inline")
_SHARED = ("proposal", "turn", "chat", "uri", "new_uri", "author", "block", "reason")
_quoted = json.encoder.encode_basestring_ascii
MAX_NUMBER = 2**53
"""The largest valid number."""
MAX_TEXT = 256 * 2**20
"""The maximum size of an unpacked text, in bytes."""
QUICK = 200_000
"""The maximum size of a text that is compressed, in bytes: more would delay a keystroke."""
TINY = 100
"""The maximum size of a text that is too short to be compressed, in bytes."""


class InvalidRow(ValueError):
    """A row that is malformed."""


class StoredText(NamedTuple):
    """A text with its name in the database.

    Attributes:
        hash: The SHA-256 digest of `data`.
        data: The text in UTF-8, with lone surrogates passed.
        packed_ahead: The result of `packed`, if a worker thread has compressed the text.
    """

    hash: bytes
    data: bytes
    packed_ahead: bytes = b""

    @classmethod
    def make(cls, text: str) -> "StoredText":
        """Return the text with its name."""
        return _make_text(text) if len(text) > TINY else _cached_text(text)

    def pack_ahead(self) -> "StoredText":
        """Return the text compressed, whatever its size; slow, so call it in a worker thread."""
        return self._replace(data=b"", packed_ahead=zlib.compress(self.data, 1))

    def packed(self) -> bytes:
        """Return the stored bytes, in zlib's format."""
        level = 1 if TINY < len(self.data) <= QUICK else 0
        return self.packed_ahead or zlib.compress(self.data, level)


def _make_text(text: str) -> StoredText:
    data = text.encode("utf-8", "surrogatepass")
    return StoredText(hashlib.sha256(data).digest(), data)


@lru_cache(maxsize=2_048)
def _cached_text(text: str) -> StoredText:
    """Return a text of a line or two with its name. The result is cached, because the hunks of a
    large edit are persisted again at each decision.
    """
    return _make_text(text)


def unpack(name: object, packed: object) -> str:
    """Return the text that was stored as `packed`.

    Raises:
        InvalidRow: If `packed` is not a text, or not the text with the given name.
    """
    if not isinstance(packed, bytes):
        raise InvalidRow("a text is not in bytes")
    try:
        data = zlib.decompressobj().decompress(packed, MAX_TEXT)
        text = data.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise InvalidRow(f"a text can't be unpacked: {error}") from error
    if hashlib.sha256(data).digest() != name:
        raise InvalidRow("a text is not the one its name says")
    return text


def hunk_fields(hunk: Hunk) -> str:
    """Return everything of a hunk but its id and its texts, as JSON in ASCII."""
    start, end = hunk.range.start, hunk.range.end
    shared = _shared_fields(
        hunk.proposal, hunk.turn, hunk.chat, hunk.uri, hunk.new_uri, hunk.author, hunk.block,
        hunk.reason,
    )  # fmt: skip
    flags = f'"protected": {_bit(hunk.protected)}, "inline": {_bit(hunk.inline)}'
    place = f"{start.line}, {start.character}, {end.line}, {end.character}"
    replaces = f', "replaces": {json.dumps(hunk.replaces)}' if hunk.replaces else ""
    return (
        f'{{{shared}, "summary": {_quoted(hunk.summary)}, "group": {_quoted(hunk.group)}, {flags}, '
        f'"kind": {_quoted(hunk.kind)}, "state": {_quoted(hunk.state)}, '
        f'"changed": {hunk.changed}, "range": [{place}]{replaces}}}'
    )


@lru_cache(maxsize=64)
def _shared_fields(*values: str) -> str:
    """Return the JSON of the fields that the hunks of one edit share; cached."""
    return json.dumps(dict(zip(_SHARED, values, strict=True)))[1:-1]


def _bit(value: bool) -> str:  # noqa: FBT001 - it is all there is to it
    return "true" if value else "false"


def hunk_from_row(hunk_id: object, fields: object, texts: tuple[str, str, str, str]) -> Hunk:
    """Return the hunk of a row.

    Args:
        hunk_id: The hunk's id.
        fields: The result of `hunk_fields`.
        texts: The hunk's `old`, `new`, `base` and `proposed`.

    Raises:
        InvalidRow: If the row is malformed.
    """
    known = _object(fields)
    values: dict[str, Any] = {name: _text(known, name) for name in _REQUIRED}
    values |= {name: _text(known, name, "") for name in _OPTIONAL}
    values |= {name: known.get(name, False) is True for name in _FLAGS}
    try:
        kind, state = HunkKind(_text(known, "kind")), HunkState(_text(known, "state"))
    except ValueError as error:
        raise InvalidRow(str(error)) from error
    hunk_id, replaces = _hunk_id(hunk_id), known.get("replaces", [])
    if not isinstance(replaces, list):
        raise InvalidRow(f"no ids of hunks: {replaces!r}")
    values["replaces"] = tuple(map(_hunk_id, replaces))
    if not is_tracked(values["uri"]) or (kind is HunkKind.MOVE) != is_tracked(values["new_uri"]):
        raise InvalidRow(
            f"no file that {kind.value} is for: {values['uri']!r}, {values['new_uri']!r}"
        )
    values |= zip(("old", "new", "base", "proposed"), texts, strict=True)
    place, changed = _range(known.get("range")), _number(known.get("changed", 0))
    return Hunk(id=hunk_id, kind=kind, state=state, range=place, changed=changed, **values)


def is_live(hunk: Hunk) -> bool:
    """Return whether the user has not decided on a hunk yet."""
    return hunk.state in LIVE


def spans_to_json(snapshot: AnchorSnapshot) -> str:
    """Return the places of the hunks of a file as JSON in ASCII; without the text."""
    lost = sorted(snapshot.lost)
    return json.dumps({"uri": snapshot.uri, "lines": dict(snapshot.lines), "lost": lost})


def snapshot_from_row(fields: object, text: str) -> AnchorSnapshot:
    """Return the anchor snapshot of a row.

    Args:
        fields: The result of `spans_to_json`.
        text: The text of the snapshot.

    Raises:
        InvalidRow: If the row is malformed.
    """
    known = _object(fields)
    lines, lost = known.get("lines"), known.get("lost", [])
    if not isinstance(lines, dict) or not isinstance(lost, list):
        raise InvalidRow("places of hunks without lines")
    places: dict[str, tuple[int, int]] = {}
    for hunk, place in lines.items():
        if not isinstance(place, list) or len(place) != 2:
            raise InvalidRow(f"not a range of lines: {place!r}")
        first, end = (_number(entry) for entry in place)
        places[hunk] = (first, max(first, end))
    return AnchorSnapshot(
        _text(known, "uri"), text, places, frozenset(hunk for hunk in places if hunk in lost)
    )


def _object(fields: object) -> dict[str, object]:
    if not isinstance(fields, str) or not fields.isascii():
        raise InvalidRow("a row without fields in ASCII")
    try:
        known = json.loads(fields)
    except (ValueError, RecursionError) as error:
        raise InvalidRow(f"fields that are not JSON: {error}") from error
    if not isinstance(known, dict):
        raise InvalidRow("fields that are not an object")
    return known


def _text(known: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = known.get(name, default)
    if not isinstance(value, str):
        raise InvalidRow(f"{name} must be a text, not {value!r}")
    return value


def _hunk_id(value: object) -> str:
    if not isinstance(value, str) or not value.isalnum() or not value.isascii():
        raise InvalidRow(f"no id of a hunk: {value!r}")
    return value


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MAX_NUMBER:
        raise InvalidRow(f"no number: {value!r}")
    return value


def _range(value: object) -> Range:
    if not isinstance(value, list) or len(value) != 4:
        raise InvalidRow(f"no range: {value!r}")
    numbers = [_number(entry) for entry in value]
    start, end = Position(*numbers[:2]), Position(*numbers[2:])
    if end < start:
        raise InvalidRow(f"a range that ends before it starts: {value!r}")
    return Range(start, end)
