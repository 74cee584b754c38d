"""`<workspace>`: where the roots are, and where a new file would go."""

from pathlib import Path

from stet.context.context_tags import empty_element
from stet.context.context_values import ContextSection
from stet.context.current_document import CurrentDocument
from stet.workspace.roots import Root
from stet.workspace.uris import path_of


def workspace_section(roots: tuple[Root, ...], current: CurrentDocument | None) -> ContextSection:
    """Absolute paths; several roots are joined by `;`.

    The current directory is the one of the current file where that lies in a root, else the first
    root.
    """
    attributes = {
        "roots": ";".join(root.path.as_posix() for root in roots),
        "current_directory": _current_directory(roots, current),
    }
    return ContextSection("workspace", empty_element("workspace", attributes))


def _current_directory(roots: tuple[Root, ...], current: CurrentDocument | None) -> str:
    path: Path | None = None if current is None else path_of(current.document.uri)
    if path is not None and any(root.path in path.parents for root in roots):
        return path.parent.as_posix()
    return roots[0].path.as_posix() if roots else ""
