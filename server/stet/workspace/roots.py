"""The folders of the workspace, and what they are called when there are several."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stet.workspace.uris import uri_of


@dataclass(frozen=True, slots=True)
class Root:
    """One folder of the workspace.

    Attributes:
        uri: As the editor spells it.
        path: Absolute, links not resolved.
        name: How people and models call it; unique among the roots (`app`, or `web/app` beside
            `mobile/app`).
    """

    uri: str
    path: Path
    name: str


def name_roots(folders: Iterable[tuple[str, Path]]) -> tuple[Root, ...]:
    """Roots for `(uri, path)` pairs, each named by as much of its path as tells it from the others."""
    known: dict[Path, str] = {}
    for uri, path in folders:
        known.setdefault(path, uri)
    paths = list(known)
    return tuple(Root(known[path], path, _shortest_name(path, paths)) for path in paths)


def implied_roots(paths: Iterable[Path], home: Path | None) -> tuple[Root, ...]:
    """Return the workspace roots if the editor names no folder: the folders of the open files.

    Never the home folder or the top of the disk: opening one file there says nothing about
    everything below.
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
