"""Links that lead nowhere.

A module that is not in the workspace is installed somewhere else, so of imports only those count
that can mean nothing but a file beside them. Files without text (images, say) are looked up by name
before a link is called dead.
"""

from pathlib import Path

from stet.links.file_table import FileTable, is_below, join_path
from stet.links.graph import Edge
from stet.links.link import LinkKind
from stet.links.link_resolver import existing_target, link_path, resolve_link
from stet.links.link_scan import ScannedLinks
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of, uri_of

_ALWAYS = frozenset(
    {
        LinkKind.WIKI,
        LinkKind.EMBED,
        LinkKind.MARKDOWN,
        LinkKind.ANGLE,
        LinkKind.LATEX,
        LinkKind.LATEX_IMAGE,
        LinkKind.RUST_MOD,
        LinkKind.RUST_PATH,
    }
)
_IF_RELATIVE = frozenset({LinkKind.JAVASCRIPT, LinkKind.CSS, LinkKind.PYTHON_FROM, LinkKind.RUBY})


def is_local(edge: Edge) -> bool:
    """Whether a link can mean nothing but a file of the workspace."""
    link = edge.link
    if link.kind in _IF_RELATIVE:
        return link.written.startswith(".") and bool(link.written.strip("."))
    return link.kind in _ALWAYS


class DeadLinkChecker:
    """Tells dead links from live ones, for one scan. Blocks on the disk."""

    def __init__(self, snapshot: Snapshot, scan: ScannedLinks) -> None:
        self._snapshot = snapshot
        self._scan = scan
        self._privacy = snapshot.privacy()
        self._all_files: FileTable | None = None

    def is_dead(self, edge: Edge) -> bool:
        """Whether a link leads nowhere."""
        return not edge.targets and is_local(edge) and not self._target_exists(edge)

    def _target_exists(self, edge: Edge) -> bool:
        """Whether a link means something that holds no text, or may not be shown."""
        source = path_of(edge.source)
        if source is None:
            return False
        path, link = source.as_posix(), edge.link
        written = link_path(link)
        if "\0" in written:
            return False
        if existing_target(link, path, self._scan.files, self._exists) is not None:
            return True
        root = self._scan.files.root_of(path)
        if written.startswith("/") and root:
            place = join_path(root, written.lstrip("/"))
            if not is_below(place, root) or self._exists(place):
                return True  # what lies outside is not asked about
        return resolve_link(link, path, self._files()) is not None

    def _exists(self, path: str) -> bool:
        """Whether something is there; what may not be shown is taken to be: nothing of it is told."""
        uri = uri_of(Path(path))
        return self._privacy.check(uri) is not None or self._snapshot.exists(uri)

    def _files(self) -> FileTable:
        """All files that may be named, those without text too."""
        if self._all_files is None:
            paths = frozenset(
                each.path.as_posix()
                for each in self._snapshot.walk(only_text=False)
                if each.path is not None
            )
            self._all_files = FileTable(paths, self._scan.files.roots, self._scan.files.aliases)
        return self._all_files
