"""The unsaved text of the editor, for an agent that reads the saved files."""

import asyncio
from collections.abc import Collection

from stet.system.system import System
from stet.text.diff import unified_diff
from stet.workspace.safe_excerpt import excerpt, redactor_of
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import path_of
from stet.workspace.workspace import Workspace

MAX_CHARACTERS = 20_000
"""The most characters of all differences; further files are named only."""
_HEAD = "The user's editor has unsaved text. The saved files differ from it as follows:"
_MAX_BYTES = 4_000_000


async def unsaved_changes(workspace: Workspace, uris: Collection[str] | None = None) -> str:
    """Return how the open documents differ from the saved files, or "" if they are equal.

    Args:
        workspace: The open documents; those outside of the workspace folders are left out.
        uris: The only documents to compare; None for all.
    """
    snapshot = workspace.snapshot()
    roots = [root.path for root in workspace.roots]
    wanted = []
    for document in snapshot.documents.values():
        path = path_of(document.uri)
        is_ours = path is not None and any(path.is_relative_to(root) for root in roots)
        if is_ours and (uris is None or document.uri in uris):
            wanted.append(document.uri)
    return await asyncio.to_thread(_describe, snapshot, wanted) if wanted else ""


def _describe(snapshot: Snapshot, uris: Collection[str]) -> str:
    """Return the differences as one text, without secrets. Blocks on the disk."""
    redactor = redactor_of(snapshot)
    parts: list[str] = []
    left = MAX_CHARACTERS
    for uri in uris:
        try:
            document = snapshot.show(uri)
        except NotShown:
            continue
        saved = _saved_text(snapshot.system, uri)
        if document.is_large or saved is None or saved == document.text:
            continue
        name = snapshot.name_of(uri)
        diff = unified_diff(saved, document.text, name, f"{name} (unsaved)")
        if redactor is not None:
            redactor.learn(document.text)
            diff = redactor.redact(diff).text
        if len(diff) > left:
            diff = f"{excerpt(diff, left, redactor)}\n… {name} has more unsaved changes.\n"
        left -= min(left, len(diff))
        parts.append(diff)
    return "\n".join([_HEAD, *parts]) if parts else ""


def _saved_text(system: System, uri: str) -> str | None:
    """Return the text of a file on the disk; "" if there is no file, None if it is not text."""
    path = path_of(uri)
    if path is None:
        return None
    try:
        return system.read_bytes(path, _MAX_BYTES).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        return None
