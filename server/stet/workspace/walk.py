"""All the files of the workspace that may be shown, in a fixed order.

Sorted by name, depth first; never through a link, never into a folder that is left out, and never
endless: a walk gives up after `MAX_ENTRIES` names and says so in the log.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stet.system.system import FileKind, FileStat, System
from stet.workspace.disk_text import MAX_FILE_BYTES, SNIFFED_BYTES, has_binary_ending, is_binary
from stet.workspace.names import has_odd_characters
from stet.workspace.paths import Located, Locator
from stet.workspace.privacy import PrivacyFilter
from stet.workspace.roots import Root
from stet.workspace.uris import canonical, path_of, uri_of

log = logging.getLogger(__name__)

MAX_ENTRIES = 100_000
"""Names looked at in one walk."""
MAX_DEPTH = 64
"""Folders inside each other."""


@dataclass(slots=True)
class Walk:
    """One walk over the files that `privacy` lets through; all of them unless `only_text`."""

    system: System
    locator: Locator
    privacy: PrivacyFilter
    only_text: bool = True
    n_entries: int = 0

    def files(self, top: Path | None) -> Iterator[Located]:
        """The files below `top`, or below all roots.

        Open documents count with the text they have, whatever lies on the disk; those that are not
        on the disk, or outside the roots, come last (untitled ones only when all is walked).
        """
        top = None if top is None else self._without_links(top)
        seen: set[str] = set()
        for root in sorted(self.privacy.roots, key=lambda root: root.name):
            start = root.path if top is None or top in root.path.parents else top
            if self._is_walked(root, start):
                for located in self._below(root, start.relative_to(root.path).parts):
                    seen.add(canonical(located.uri))
                    yield located
        yield from self._only_open(
            seen, lambda path: top is None or (path is not None and top in path.parents)
        )

    def files_in(self, folder: Path) -> Iterator[Located]:
        """The files in `folder` itself."""
        folder = self._without_links(folder)
        root = self._innermost(folder)
        if root is None or not self._is_walked(root, folder):
            return
        found = [
            located
            for path, stat in self._entries(root, folder.relative_to(root.path).parts)
            if (located := self._file(path, stat)) is not None
        ]
        seen = {canonical(located.uri) for located in found}
        found += self._only_open(seen, lambda path: path is not None and path.parent == folder)
        yield from sorted(found, key=lambda located: located.name)

    def _is_walked(self, root: Root, start: Path) -> bool:
        """Whether a walk of `root` may begin at `start`."""
        return self._innermost(start) == root and self.privacy.check_folder(start) is None

    def _without_links(self, top: Path) -> Path:
        """`top` by the way that leads through no link below its root: the one the rules speak of."""
        real = self.system.real_path(top)
        for root in self.privacy.roots:
            base = self.system.real_path(root.path)
            if base == real or base in real.parents:
                return root.path / real.relative_to(base)
        return top

    def _innermost(self, path: Path) -> Root | None:
        """The root nearest above `path`: each file is walked once."""
        holders = [r for r in self.privacy.roots if r.path == path or r.path in path.parents]
        return max(holders, key=lambda root: len(root.path.parts), default=None)

    def _below(self, root: Root, parts: tuple[str, ...]) -> Iterator[Located]:
        """The files in a folder and then, at its place in the order, in each folder inside."""
        for path, stat in self._entries(root, parts):
            if stat.kind is FileKind.FOLDER:
                if len(parts) < MAX_DEPTH and self._innermost(path) == root:
                    yield from self._below(root, (*parts, path.name))
                continue
            located = self._file(path, stat)
            if located is not None:
                yield located

    def _file(self, path: Path, stat: FileStat) -> Located | None:
        """The file at `path`; None for folders, and for what holds no text where that is asked for."""
        if stat.kind is not FileKind.FILE:
            return None
        uri = uri_of(path)
        document = self.locator.documents.get(canonical(uri))
        if document is None and self.only_text and not self._is_text(path, stat):
            return None
        name = self.locator.name_of_path(path)
        return Located(uri if document is None else document.uri, path, name, stat)

    def _entries(self, root: Root, parts: tuple[str, ...]) -> Iterator[tuple[Path, FileStat]]:
        """The files and folders in a folder that may be shown."""
        folder = root.path.joinpath(*parts)
        for name, stat in self.system.list_folder(folder):
            self.n_entries += 1
            if self.n_entries == MAX_ENTRIES:
                log.warning("%s: more than %d names, the rest is left out", root.path, MAX_ENTRIES)
            if self.n_entries >= MAX_ENTRIES:
                return
            if stat.kind not in (FileKind.FILE, FileKind.FOLDER) or has_odd_characters(name):
                continue
            path = folder / name
            key = canonical(uri_of(path))
            refusal = self.privacy.check_level(
                root,
                (*parts, name),
                is_folder=stat.kind is FileKind.FOLDER,
                is_asked=key in self.privacy.open_keys and key in self.privacy.asked_keys,
            )
            if refusal is None:
                yield path, stat

    def _is_text(self, path: Path, stat: FileStat) -> bool:
        if stat.size > MAX_FILE_BYTES or has_binary_ending(path.name):
            return False
        try:
            return not is_binary(self.system.read_bytes(path, SNIFFED_BYTES))
        except OSError:
            return False  # gone or not ours to read: nothing to show

    def _only_open(self, seen: set[str], is_wanted: Callable[[Path | None], bool]) -> list[Located]:
        """The open documents that were not found on the disk, sorted by name."""
        found: list[Located] = []
        for key, document in self.locator.documents.items():
            path = path_of(document.uri)
            if key in seen or not is_wanted(path) or self.privacy.check(document.uri) is not None:
                continue
            found.append(Located(document.uri, path, self.locator.name_of(document.uri)))
        return sorted(found, key=lambda located: located.name)
