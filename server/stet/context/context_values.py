r"""The values of a context: its sections, its tags, and the document that a question is about.

All text between the tags is untrusted. If such text contains one of Stet's own tags
(`</current_file>`, `<user_query>`, in any case and spacing), the `<` of that tag, and nothing else,
is written `&lt;`. So no text can end its section or begin another one, all other code is unchanged,
and the change is visible. Attribute values are escaped as in XML. Control characters in attribute
values, which could hide or move the text after them, are written `\x1b`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class EditorLocation:
    """The place where a question was asked. All positions are in code points, 0-based.

    Attributes:
        uri: The URI of the document; None for the active document.
        range: The selected range, of several the main one; None for the editor's last report.
        caret: The position of the caret; None for the end of the selected range.
        selections: All selected ranges, if there are more than `range`.
    """

    uri: str | None = None
    range: Range | None = None
    caret: Position | None = None
    selections: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextSection:
    """One part of a context.

    Attributes:
        name: The tag of the section.
        text: The whole section with its tags, as it is sent.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """The exact text that the model is sent with a question.

    Attributes:
        sections: The sections in the order of sending; `user_query_section` is the last.
        shown: The documents in the context, in whole or in part, as they were: the text and the
            line numbers in the model's edits refer to these.
        problems: One sentence for each name in the question that is not in the context.
    """

    sections: tuple[ContextSection, ...]
    shown: tuple[TextDocument, ...]
    problems: tuple[str, ...] = ()
    line_ranges: tuple[tuple[TextDocument, int, int], ...] = ()
    """The lines of very long documents in the context: first (0-based) and end (excluded)."""

    @property
    def text(self) -> str:
        """The text that is sent."""
        *data, query = (section.text for section in self.sections)
        return "\n".join(("<additional_data>", *data, "</additional_data>", query))


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
    # `<workspace>` is a tag of other formats too: only with this attribute it is a tag of Stet.
    rf"<(?=\s*+/?+\s*+(?:{'|'.join(NAMES)})(?<!workspace)(?![\w-])|\s*+workspace\s+roots\b)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def element(name: str, text: str, attributes: Mapping[str, str] | None = None) -> str:
    """Return `<name attributes>`, the lines of `text`, `</name>`; `text` is ready to be sent."""
    line_end = "" if text == "" or text.endswith("\n") else "\n"
    return f"<{name}{_attributes(attributes or {})}>\n{text}{line_end}</{name}>"


def section(name: str, text: str) -> ContextSection:
    """Return the section that is one element; `text` is ready to be sent."""
    return ContextSection(name, element(name, text))


def empty_element(name: str, attributes: Mapping[str, str]) -> str:
    """Return `<name attributes/>`."""
    return f"<{name}{_attributes(attributes)}/>"


def escape_tags(text: str) -> str:
    """Return `text` with Stet's own tags escaped, and with U+FFFD for each lone surrogate, which
    can't be sent.

    Hidden characters are escaped when a request is sent (`stet.text.spoofing`).
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
    """Return `text` with control characters escaped, also those for the writing direction."""
    return _HIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


@dataclass(frozen=True, slots=True)
class CurrentDocument:
    """The document of a question.

    Attributes:
        document: The document at the time of the question.
        name: The model's name for the document.
        cursor: The position of the caret: the active end of a selection, if there is one; None if
            it is not known.
        selected: The selected ranges, in the order of the text; empty if there is no selection.
        visible: The visible range; None if it is not known.
    """

    document: TextDocument
    name: str
    cursor: Position | None
    selected: tuple[Range, ...]
    visible: Range | None = None


def find_current_document(snapshot: Snapshot, location: EditorLocation) -> CurrentDocument | None:
    """Return the document at `location`, or the active document. Return None if there is no
    document or the document may not be shown.
    """
    uri = snapshot.activity.active if location.uri is None else location.uri
    # If the privacy filter refuses the document, not even its name is sent.
    if uri is None or (document := snapshot.show_or_none(uri)) is None:
        return None
    cursor, ranges = _cursor_and_selections(snapshot, uri, location)
    # A question that names a place is about that place, even if another place is visible.
    names_place = location.range is not None and not location.selections
    visible = None if names_place else snapshot.activity.visible_of(uri)
    real = snapshot.document(uri)
    if real is not None:
        ranges = tuple(snapshot.shown_range(real, range_) for range_ in ranges)
        cursor = cursor and snapshot.shown_range(real, Range(cursor, cursor)).start
        visible = visible and snapshot.shown_range(real, visible)
    selected = sorted(
        Range(start, end)
        for range_ in ranges
        if (start := document.clamp(range_.start)) < (end := document.clamp(range_.end))
    )
    return CurrentDocument(
        document,
        snapshot.name_of(uri),
        None if cursor is None else document.clamp(cursor),
        tuple(selected),
        visible,
    )


def _cursor_and_selections(
    snapshot: Snapshot, uri: str, location: EditorLocation
) -> tuple[Position | None, tuple[Range, ...]]:
    """Return caret and selections: those of the question, else the last known ones."""
    if location.range is not None:
        return location.caret or location.range.caret, location.selections or (location.range,)
    selection = snapshot.activity.selection_of(uri)
    return (None, ()) if selection is None else (selection.caret, selection.ranges)
