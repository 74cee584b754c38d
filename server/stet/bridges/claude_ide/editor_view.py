"""What Claude Code is sent about the editor: selection, open files, folders and decisions.

All of it passes the privacy filter, and secrets in selected text are replaced by marks.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from stet.privacy.redactor import RedactedText
from stet.privacy.request_log import Recipient, RequestRecord
from stet.review.proposal import Hunk, HunkState
from stet.text.document import TextDocument
from stet.text.encoding import Encoding, units_from_column
from stet.text.position import Position, Range
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

_MAX_REASON = 2000


@dataclass(frozen=True, slots=True)
class IdeSelection:
    """What is selected in the active file.

    Attributes:
        wire: The values of `selection_changed`.
        record: The record for the request log; None if no text is selected.
    """

    wire: dict[str, Any]
    record: RequestRecord | None


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that the user names to Claude, which reads it from the disk.

    Attributes:
        wire: The values of `at_mentioned`.
        is_saved: Whether the file on the disk has the text of the editor.
    """

    wire: dict[str, Any]
    is_saved: bool


class EditorView:
    """The editor as a session of Claude Code sees it; used on the event loop only."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def selection(self) -> IdeSelection | None:
        """Return the selection; None if the user is in no file that may be shown."""
        return await asyncio.to_thread(_selection, self._workspace.snapshot())

    async def mention(self, uri: str, lines: Range | None) -> Mention:
        """Return a place to name: lines of a file, or the whole file.

        Raises:
            NotShown: If the file may not be shown.
        """
        snapshot = self._workspace.snapshot().asked_about(uri)
        return await asyncio.to_thread(_mention, snapshot, uri, lines)

    async def open_editors(self) -> list[dict[str, object]]:
        """Return the open files that may be shown, the most recently used first."""
        snapshot = self._workspace.snapshot()
        return await asyncio.to_thread(_open_editors, snapshot)

    def folders(self) -> dict[str, object]:
        """Return the folders of the workspace."""
        roots = [root.path for root in self._workspace.roots]
        return {
            "success": True,
            "folders": [
                {"name": path.name, "uri": path.as_uri(), "path": str(path)} for path in roots
            ],
            "rootPath": str(roots[0]) if roots else "",
        }

    def decisions(self, hunks: list[Hunk]) -> list[dict[str, object]]:
        """Return decisions in the form of diagnostics, which Claude sends to its model.

        Claude shows the model only diagnostics that are new after an edit. Its answer to the edit
        itself has no place for a reason.
        """
        found: dict[str, list[dict[str, object]]] = {}
        for hunk in hunks:
            if message := self._decision(hunk):
                line = hunk.range.start.line
                place = {"line": line, "character": 0}
                item: dict[str, object] = {
                    "message": message,
                    "severity": "Warning",
                    "source": "stet",
                    "range": {"start": place, "end": place},
                }
                found.setdefault(hunk.uri, []).append(item)
        return [{"uri": uri, "diagnostics": items} for uri, items in found.items()]

    def _decision(self, hunk: Hunk) -> str:
        """Return a sentence about a decision that the written text does not explain, or ""."""
        if hunk.state is not HunkState.REJECTED:
            return ""
        reason = hunk.reason[:_MAX_REASON]
        if self._workspace.settings.privacy.redact_secrets:
            reason = self._workspace.redactor.redact(reason).text
        why = f": {reason}" if reason else "."
        return f"The user rejected this part of your change ({hunk.id}){why}"


def _selection(snapshot: Snapshot) -> IdeSelection | None:
    """Return the selection. For a worker thread."""
    uri = snapshot.activity.active
    path = None if uri is None else path_of(uri)
    if uri is None or path is None or (opened := snapshot.document(uri)) is None:
        return None
    shown = snapshot.show_or_none(uri)
    selection = snapshot.activity.selection_of(uri)
    if shown is None or shown.is_large:
        return None
    at = selection.ranges[0] if selection else Range(Position(0, 0), Position(0, 0))
    place = snapshot.shown_range(opened, at)
    place = Range(shown.clamp(place.start), shown.clamp(place.end))
    text = shown.text_in(place)[: snapshot.settings.context.selection_limit]
    is_redacting = snapshot.settings.privacy.redact_secrets
    safe = snapshot.redactor.redact(text) if is_redacting else RedactedText(text)
    wire: dict[str, Any] = {
        "text": safe.text,
        "filePath": str(path),
        "fileUrl": path.as_uri(),
        "selection": {
            "start": _wire_position(shown, place.start),
            "end": _wire_position(shown, place.end),
            "isEmpty": place.is_empty,
        },
    }
    return IdeSelection(wire, _record(snapshot, shown, safe) if text else None)


def _mention(snapshot: Snapshot, uri: str, lines: Range | None) -> Mention:
    """Return a place to name. For a worker thread.

    Raises:
        NotShown: If the file may not be shown.
    """
    snapshot.show(uri)
    if (path := path_of(uri)) is None:
        raise NotShown(uri, "missing", "Claude reads files of the disk only.")
    wire: dict[str, Any] = {"filePath": str(path)}
    opened = snapshot.document(uri)
    if lines is not None:
        place = lines if opened is None else snapshot.shown_range(opened, lines)
        last = place.end.line if place.end.character or place.is_empty else place.end.line - 1
        wire |= {"lineStart": place.start.line, "lineEnd": max(last, place.start.line)}
    return Mention(wire, opened is None or read_saved(snapshot, uri) == opened.text)


def read_saved(snapshot: Snapshot, uri: str) -> str | None:
    """Return the text of a file on the disk; None if it can't be read. For a worker thread."""
    if (path := path_of(uri)) is None:
        return None
    try:
        return decode(snapshot.system.read_bytes(path, MAX_FILE_BYTES + 1))
    except OSError:
        return None


def _record(snapshot: Snapshot, shown: TextDocument, safe: RedactedText) -> RequestRecord:
    return RequestRecord(
        snapshot.system.now(),
        Recipient.AGENT,
        host="",
        model="claude",
        parts=(f"what is selected in {snapshot.name_of(shown.uri)}",),
        characters=len(safe.text),
        tokens=len(safe.text) // 4,
        kinds=tuple(sorted(safe.kinds.items())),
        is_open=not snapshot.settings.privacy.redact_secrets,
    )


def _open_editors(snapshot: Snapshot) -> list[dict[str, object]]:
    """Return the open files. For a worker thread."""
    found: list[dict[str, object]] = []
    active = snapshot.activity.active
    for uri in snapshot.activity.recent:
        path = path_of(uri)
        document = snapshot.document(uri)
        if path is None or document is None or snapshot.show_or_none(uri) is None:
            continue
        found.append(
            {
                "uri": path.as_uri(),
                "label": path.name,
                "languageId": document.language_id,
                "isActive": active is not None and canonical(uri) == canonical(active),
            }
        )
    return found


def _wire_position(document: TextDocument, position: Position) -> dict[str, int]:
    """Return a position with its column in UTF-16, as Claude Code counts."""
    line = document.lines[position.line]
    units = units_from_column(line, position.character, Encoding.UTF16)
    return {"line": position.line, "character": units}
