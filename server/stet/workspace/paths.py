"""The roots of the workspace, and paths in them: from a name to a document, and back.

A name is the text of a model or a person. The decision is made on real paths: the target of the
name, with every link resolved, must be below the real path of a root. So neither a link out of the
workspace nor a twin (`/ws-evil` beside `/ws`) is accepted. A document that is open in the editor
may be anywhere: the user opened it.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stet.system.system import FileStat, System
from stet.text.document import TextDocument
from stet.text.unicode_normal import normalize_unicode
from stet.workspace.names import PathRefused, parts_below, split_name
from stet.workspace.uris import canonical, path_of, scheme_of, untitled_name, uri_of


@dataclass(frozen=True, slots=True)
class Root:
    """One folder of the workspace.

    Attributes:
        uri: The URI as the editor spells it.
        path: The absolute path, links not resolved.
        name: The name for people and models; unique among the roots (`app`, or `web/app` beside
            `mobile/app`).
    """

    uri: str
    path: Path
    name: str


def name_roots(folders: Iterable[tuple[str, Path]]) -> tuple[Root, ...]:
    """Return roots for `(uri, path)` pairs, each named by the shortest unique end of its path."""
    known: dict[Path, str] = {}
    for uri, path in folders:
        known.setdefault(path, uri)
    paths = list(known)
    return tuple(Root(known[path], path, _shortest_name(path, paths)) for path in paths)


def implied_roots(paths: Iterable[Path], home: Path | None) -> tuple[Root, ...]:
    """Return the workspace roots if the editor names no folder: the folders of the open files.

    The home folder and the top of the disk are left out: one open file there does not mean all
    files below.
    """
    folders = dict.fromkeys(path.parent for path in paths)
    return name_roots(
        (uri_of(folder), folder) for folder in folders if folder not in (home, folder.parent)
    )


def _shortest_name(path: Path, paths: list[Path]) -> str:
    """Return the last parts of `path`, as few as no other path ends with."""
    parts = path.parts[1:] or (path.anchor,)
    for n_parts in range(1, len(parts) + 1):
        tail = parts[-n_parts:]
        if sum(other.parts[-n_parts:] == tail for other in paths) == 1:
            return "/".join(tail)
    return "/".join(parts)


__all__ = ["UNTITLED", "Located", "Locator", "PathRefused"]

UNTITLED = "untitled:"


@dataclass(frozen=True, slots=True)
class Located:
    """A document or folder with all its names.

    Attributes:
        uri: The URI, in the editor's spelling if the document is open.
        path: The absolute path, links not resolved; None for untitled documents.
        name: The name for models and people: relative to a root, `/` between the parts.
        stat: The stat that a walk has read; None if no walk has found the file.
    """

    uri: str
    path: Path | None
    name: str
    stat: FileStat | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Locator:
    """A resolver of the names in one snapshot.

    Attributes:
        system: The disk, to resolve links.
        roots: The roots of the workspace.
        documents: The open documents, by canonical URI.
    """

    system: System
    roots: tuple[Root, ...]
    documents: Mapping[str, TextDocument]

    def locate(self, name: str) -> Located:
        """Return the file or folder that `name` means; the file or folder need not exist.

        Raises:
            PathRefused: If the name means nothing in the workspace, or is ambiguous.
        """
        if name.startswith(UNTITLED):
            return self._locate_untitled(name)
        is_absolute, parts = split_name(name, windows=os.name == "nt")
        if is_absolute:
            return self._checked(Path("/", *parts) if os.name != "nt" else _drive_path(parts), name)
        return self._checked(self._choose(parts, name), name)

    def name_of(self, uri: str) -> str:
        """Return the name that models and people use for a document: the reverse of `locate`."""
        if scheme_of(uri) == "untitled":
            return UNTITLED + untitled_name(uri)
        path = path_of(uri)
        return uri if path is None else self.name_of_path(path)

    def name_of_path(self, path: Path) -> str:
        """Return the name of a path as `name_of` does; the absolute path if it is below no root."""
        for base_of in (lambda root: root.path, lambda root: self.system.real_path(root.path)):
            holders = [
                (below, root)
                for root in self.roots
                if (below := parts_below(path, base_of(root))) is not None
            ]
            if holders:
                below, root = min(holders, key=lambda holder: len(holder[0]))
                root_parts = () if len(self.roots) == 1 else (root.name,)
                return "/".join((*root_parts, *below)) or "."
        return path.as_posix()

    def _locate_untitled(self, name: str) -> Located:
        wanted_key = canonical(name)
        for key, document in self.documents.items():
            if key.startswith(UNTITLED) and (
                key == wanted_key or untitled_name(document.uri) == name.removeprefix(UNTITLED)
            ):
                return Located(document.uri, None, self.name_of(document.uri))
        raise PathRefused("untitled", f"No untitled document {name!r} is open.")

    def _choose(self, parts: tuple[str, ...], name: str) -> Path:
        """Return the path that a relative name means, among the roots."""
        if not self.roots:
            raise PathRefused("no-root", f"{name!r} is relative, and no folder is open.")
        if len(self.roots) == 1:
            return self._below_only_root(parts)
        named = [
            root.path.joinpath(*parts[len(root_parts) :])
            for root in self.roots
            if parts[: len(root_parts := tuple(root.name.split("/")))] == root_parts
        ]
        plain = [root.path.joinpath(*parts) for root in self.roots] if parts else []
        candidates = list(dict.fromkeys(named + plain))
        existing = [path for path in candidates if self._exists(path)]
        # Only a name that starts with a root's name can mean a file that does not exist yet.
        matches = existing or named
        if len(matches) == 1:
            return matches[0]
        choices = [self.name_of_path(path) for path in matches or candidates]
        choices = choices or [root.name for root in self.roots]
        raise PathRefused(
            "ambiguous", f"{name!r} could be {' or '.join(map(repr, choices))}: be more specific."
        )

    def _below_only_root(self, parts: tuple[str, ...]) -> Path:
        """Return the path of a name below the only root. The root's own name in front is accepted
        if no other path fits.
        """
        root = self.roots[0].path
        path = root.joinpath(*parts)
        if parts[:1] == (root.name,) and not self._exists(path):
            inner = root.joinpath(*parts[1:])
            if self._exists(inner):
                return inner
        return path

    def _exists(self, path: Path) -> bool:
        return canonical(uri_of(path)) in self.documents or self.system.stat(path) is not None

    def _checked(self, path: Path, name: str) -> Located:
        """Return `path` as an open document, or as something inside the roots.

        Raises:
            PathRefused: If the path is neither.
        """
        document = self._open_document(path)
        if document is not None:
            return Located(document.uri, path_of(document.uri), self.name_of(document.uri))
        real = self.system.real_path(path)
        bases = [self.system.real_path(root.path) for root in self.roots]
        if not any(parts_below(real, base) is not None for base in bases):
            is_below = any(parts_below(path, root.path) is not None for root in self.roots)
            if is_below:
                raise PathRefused(
                    "link", (f"{name!r} is outside the workspace (through a symbolic link).")
                )
            raise PathRefused("outside", f"{name!r} is outside the workspace.")
        path = self._as_on_disk(path, real)
        return Located(uri_of(path), path, self.name_of_path(path))

    def _as_on_disk(self, path: Path, real: Path) -> Path:
        """Return `path` as spelled on the disk, if the disk folds case or Unicode forms.

        So one file has one name. A link above the file is not resolved, unless the spelling after
        the link has to be changed.
        """
        for root in self.roots:
            base = self.system.real_path(root.path)
            below = parts_below(real, base)
            if below and parts_below(path, root.path):
                spelled = root.path.joinpath(*below)
                if _folded(path) == _folded(spelled):
                    return spelled
        is_respelt = path.name != real.name and _folded(Path(path.name)) == _folded(Path(real.name))
        return real if is_respelt else path

    def _open_document(self, path: Path) -> TextDocument | None:
        """Return the open document that is the file at `path`.

        Both may be given by any path of the file.
        """
        document = self.documents.get(canonical(uri_of(path)))
        if document is not None:
            return document
        real = self.system.real_path(path)
        for document in self.documents.values():
            opened = path_of(document.uri)
            if opened is not None and self.system.real_path(opened) == real:
                return document
        return None


def _folded(path: Path) -> str:
    """Return the form in which a file system that folds names compares paths."""
    return normalize_unicode("NFC", str(path)).casefold()


def _drive_path(parts: tuple[str, ...]) -> Path:
    """Return an absolute Windows path, with the drive's root between the drive and the other
    parts.
    """
    return Path(parts[0] + "/", *parts[1:]) if parts else Path("/")
