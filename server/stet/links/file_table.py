"""Tables of the workspace's files, in which a link's target is found without a search.

Paths are absolute strings with `/` between their parts; nothing here does I/O. Lookups fold case
and Unicode form if the exact name is missing: a note written on one machine is read on another.
"""

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from stet.links.build_files import BuildFile
from stet.text.unicode_normal import fold_name, normalize_unicode


@dataclass(frozen=True)  # without slots: the tables are made once and kept in the instance
class FileTable:
    """The files that links can lead to.

    Attributes:
        paths: The paths of all files.
        roots: The folders of the workspace.
        aliases: The folded aliases of notes, each with the paths of the notes that define it.
        builds: The definitions of the build files, by path.
    """

    paths: frozenset[str]
    roots: tuple[str, ...]
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    builds: Mapping[str, BuildFile] = field(default_factory=dict)

    def at(self, path: str) -> str | None:
        """Return the file at `path` (normalised), or the only file at another spelling of it."""
        if path in self.paths:
            return path
        same = self._by_folded.get(fold_name(path), ())
        return same[0] if len(same) == 1 else None

    def ending_with(self, tail: str) -> tuple[str, ...]:
        """Return the files whose paths end with the parts of `tail`, sorted. Exact spellings take
        precedence.
        """
        found = self.ending_like(tail)
        exact = tuple(path for path in found if path.endswith(f"/{tail}"))
        return exact or found

    def ending_like(self, tail: str) -> tuple[str, ...]:
        """Return the files whose paths end with the parts of `tail` in any spelling, sorted."""
        parts = tail.rsplit("/", 2)
        if len(parts) == 1:
            return self._by_name.get(fold_name(tail), ())
        found = self._by_two_names.get(fold_name("/".join(parts[-2:])), ())
        if len(parts) > 2:
            end = fold_name(f"/{tail}")
            found = tuple(path for path in found if fold_name(path).endswith(end))
        return found

    def in_folder(self, folder: str) -> tuple[str, ...]:
        """Return the files in `folder` itself, sorted."""
        return self._by_folder.get(folder, ())

    def folders_ending_with(self, tail: str) -> tuple[str, ...]:
        """Return the folders with files whose paths end with the parts of `tail`, sorted."""
        found = self._folders_by_name.get(posixpath.basename(tail), ())
        return tuple(folder for folder in found if folder.endswith(f"/{tail}"))

    def root_of(self, path: str) -> str | None:
        """Return the innermost root that holds `path`, or the first root if no root holds
        `path`.
        """
        holders = [root for root in self.roots if is_below(path, root)]
        return max(holders, key=len, default=self.roots[0] if self.roots else None)

    def ancestors(self, path: str) -> list[str]:
        """Return the folders above `path` up to its root, the nearest first."""
        root = self.root_of(path)
        folder = posixpath.dirname(path)
        found = [folder]
        while root is not None and is_below(folder, root):
            folder = posixpath.dirname(folder)
            found.append(folder)
        return found

    def moved(self, old: str, new: str) -> "FileTable":
        """Return the file table after a file is moved from `old` to `new`."""

        def moved(path: str) -> str:
            return new if path == old else path

        aliases = {alias: tuple(map(moved, paths)) for alias, paths in self.aliases.items()}
        builds = {moved(path): build for path, build in self.builds.items()}
        return replace(self, paths=self.paths - {old} | {new}, aliases=aliases, builds=builds)

    @cached_property
    def python_names(self) -> frozenset[str]:
        """All possible parts of a Python module's name here; most imports name none of them."""
        files = (posixpath.basename(path) for path in self.paths if path.endswith((".py", ".pyi")))
        stems = {name.removesuffix(".pyi").removesuffix(".py") for name in files}
        return frozenset(stems.union(*(folder.split("/") for folder in self._by_folder)))

    @cached_property
    def go_modules(self) -> tuple[tuple[str, str], ...]:
        """The paths of Go modules with their folders, longer paths first."""
        found: list[tuple[str, str]] = []
        for path, build in self.builds.items():
            home = posixpath.dirname(path)
            found += [(build.module, home)] if build.module else []
            found += ((name, join_path(home, to)) for name, to in build.replaced)
        return tuple(sorted(found, key=lambda each: (-len(each[0]), each)))

    @cached_property
    def packages(self) -> dict[str, tuple[str, ...]]:
        """The `package.json` files of each npm package name, sorted."""
        return self._named("package.json")

    @cached_property
    def crates(self) -> dict[str, tuple[str, ...]]:
        """The `Cargo.toml` files of each crate name, sorted; only crates with a library here."""
        return {
            name: there
            for name, found in self._named("Cargo.toml").items()
            if (there := tuple(path for path in found if self.crate_root(path) in self.paths))
        }

    def crate_root(self, manifest: str) -> str:
        """Return the root file of a crate's library, given the path of its `Cargo.toml`."""
        return join_path(posixpath.dirname(manifest), self.builds[manifest].main[0])

    def _named(self, file: str) -> dict[str, tuple[str, ...]]:
        here = [each for each in self.builds.items() if posixpath.basename(each[0]) == file]
        return _grouped((build.name, path) for path, build in here if build.name)

    @cached_property
    def _by_folded(self) -> dict[str, tuple[str, ...]]:
        return _grouped((fold_name(path), path) for path in self.paths)

    @cached_property
    def _by_name(self) -> dict[str, tuple[str, ...]]:
        return _grouped((fold_name(posixpath.basename(path)), path) for path in self.paths)

    @cached_property
    def _by_two_names(self) -> dict[str, tuple[str, ...]]:
        """The paths by folder and file name, since many folders have a file of the same name."""
        pairs = ((path.rsplit("/", 2)[-2:], path) for path in self.paths)
        return _grouped((fold_name("/".join(names)), path) for names, path in pairs)

    @cached_property
    def _by_folder(self) -> dict[str, tuple[str, ...]]:
        return _grouped((posixpath.dirname(path), path) for path in self.paths)

    @cached_property
    def _folders_by_name(self) -> dict[str, tuple[str, ...]]:
        return _grouped((posixpath.basename(folder), folder) for folder in self._by_folder)


def is_below(path: str, folder: str) -> bool:
    """Return whether `path` is in `folder` or deeper."""
    return path != folder and path.startswith(f"{folder.rstrip('/')}/")


def join_path(folder: str, path: str) -> str:
    """Return `path`, relative to `folder`, without `.` and `..`."""
    return posixpath.normpath(f"{folder.rstrip('/')}/{path}")


def nearest_file(candidates: tuple[str, ...], source: str) -> str | None:
    """Return the file of `candidates` (sorted) that a name means in the file `source`.

    The file shares the most leading folders with `source`; of several such files, the shortest path
    is chosen.
    """
    start = posixpath.dirname(source).rstrip("/") + "/"
    place = bisect_left(candidates, start)
    # The path that shares the most letters with the folder is next to its insertion point.
    neighbours = candidates[max(0, place - 1) : place + 1]
    beginnings = (posixpath.commonprefix((start, path)) for path in neighbours)
    shared = max(beginnings, key=len, default="")
    return _shortest(candidates, shared[: shared.rfind("/") + 1])


def nearest_note(candidates: tuple[str, ...], source: str, tail: str = "") -> str | None:
    """Return the note that a name in a wikilink means if several notes have the name.

    The order is Obsidian's: a note below the folder of `source` goes first, then the shortest path
    in code points, then a path with the case of `tail`.
    """
    folder = posixpath.dirname(source)
    below = tuple(path for path in candidates if is_below(path, folder))
    return _shortest_text(below or candidates, tail)


@lru_cache(maxsize=256)
def _shortest_text(candidates: tuple[str, ...], tail: str) -> str | None:
    end = normalize_unicode("NFC", f"/{tail}")

    def rank(path: str) -> tuple[int, bool, str]:
        composed = normalize_unicode("NFC", path)
        return len(composed), not composed.endswith(end), composed

    return min(candidates, key=rank, default=None)


@lru_cache(maxsize=256)
def _shortest(candidates: tuple[str, ...], start: str) -> str | None:
    """Return the shortest path that begins with `start`.

    The result is cached: a thousand files may have the name that a thousand files of a folder link
    to.
    """
    fitting = (path for path in candidates if path.startswith(start))
    return min(fitting, key=lambda path: (path.count("/"), len(path), path), default=None)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: tuple(sorted(values)) for key, values in found.items()}
