"""A workspace in memory, made in one line.

workspace = make_workspace({"/ws/a.py": "x = 1\\n"}, opened={"/ws/a.py": "x = 2\\n"})
"""

from collections.abc import Mapping

from stet.settings.values import Settings
from stet.text.encoding import Encoding
from stet.workspace.workspace import Modification, ModificationKind, WireEdit, Workspace
from tests.support.memory_system import MemorySystem


def make_workspace(
    files: Mapping[str, str | bytes] | None = None,
    *,
    opened: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    roots: tuple[str, ...] = ("/ws",),
    settings: Settings | None = None,
) -> Workspace:
    """Make files on the disk, and documents opened in order (the last one is active)."""
    workspace = Workspace(MemorySystem(files or {}, links=links), settings)
    workspace.encoding = Encoding.UTF32
    for root in roots:
        workspace.add_root(f"file://{root}")
    for path, text in (opened or {}).items():
        open_document(workspace, uri_at(path), text)
    return workspace


def uri_at(path: str) -> str:
    """Return the URI of a path, or `path` itself if it is a URI."""
    return f"file://{path}" if path.startswith("/") else path


def open_document(workspace: Workspace, uri: str, text: str, version: int = 0) -> None:
    """Apply an editor's didOpen."""
    workspace.apply(Modification(ModificationKind.OPENED, uri, version, "plaintext", text))


def close_document(workspace: Workspace, uri: str) -> None:
    """Apply an editor's didClose."""
    workspace.apply(Modification(ModificationKind.CLOSED, uri))


def change(*edits: WireEdit, uri: str = "file:///ws/a.py", version: int = 1) -> Modification:
    """Make the modification of an editor's didChange."""
    return Modification(ModificationKind.CHANGED, uri, version, edits=edits)


def insertion(line: int, column: int, text: str) -> WireEdit:
    """Make an edit that only inserts."""
    return WireEdit(line, column, line, column, text)
