"""`<workspace>`: where the roots are, and where a new file would go."""

from pathlib import Path

from stet.context.current import Current
from stet.context.tags import empty_element
from stet.context.values import Section
from stet.workspace.roots import Root
from stet.workspace.uris import path_of


def workspace(roots: tuple[Root, ...], current: Current | None) -> Section:
    """Absolute paths; several roots are joined by `;`.

    The current directory is the one of the current file where that lies in a root, else the first
    root.
    """
    attributes = {
        "roots": ";".join(root.path.as_posix() for root in roots),
        "current_directory": _current_directory(roots, current),
    }
    return Section("workspace", empty_element("workspace", attributes))


def _current_directory(roots: tuple[Root, ...], current: Current | None) -> str:
    path: Path | None = None if current is None else path_of(current.document.uri)
    if path is not None and any(root.path in path.parents for root in roots):
        return path.parent.as_posix()
    return roots[0].path.as_posix() if roots else ""
