"""Dead links: links that lead to no file, each with its place and with similar file names.

A module that is not in the workspace may be installed, so an import counts only if it must name a
file of the workspace. Files without text, such as images, are looked up by name before a link is
reported as dead.
"""

import posixpath
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from stet.links.file_table import FileTable, is_below, join_path
from stet.links.link import Edge, LinkKind
from stet.links.link_resolver import existing_target, link_path, resolve_link
from stet.links.link_scan import LinkGraph
from stet.text.document import TextDocument
from stet.text.position import Position
from stet.text.unicode_normal import fold_name
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of, uri_of

_ALWAYS = frozenset(
    {
        LinkKind.WIKI, LinkKind.EMBED, LinkKind.MARKDOWN, LinkKind.ANGLE, LinkKind.LATEX,
        LinkKind.LATEX_IMAGE, LinkKind.RUST_MOD, LinkKind.RUST_PATH,
    }
)  # fmt: skip
_IF_RELATIVE = frozenset({LinkKind.JAVASCRIPT, LinkKind.CSS, LinkKind.PYTHON_FROM, LinkKind.RUBY})


def is_local(edge: Edge) -> bool:
    """Return whether a link must mean a file of the workspace."""
    link = edge.link
    if link.kind in _IF_RELATIVE:
        return link.written.startswith(".") and bool(link.written.strip("."))
    return link.kind in _ALWAYS


class DeadLinkChecker:
    """A test for dead links in the graph of one scan. Blocks on the disk."""

    def __init__(self, snapshot: Snapshot, scan: LinkGraph) -> None:
        self._snapshot = snapshot
        self._scan = scan
        self._privacy = snapshot.privacy()

    def is_dead(self, edge: Edge) -> bool:
        """Return whether a link must mean a local file that does not exist."""
        return not edge.targets and is_local(edge) and not self._target_exists(edge)

    def _target_exists(self, edge: Edge) -> bool:
        """Return whether the target is a folder, a file without text, or a file that is hidden."""
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
                return True  # a path outside the root is not checked
        return resolve_link(link, path, self._files) is not None

    def _exists(self, path: str) -> bool:
        """Return whether `path` exists or is hidden, so that nothing is revealed."""
        uri = uri_of(Path(path))
        return self._privacy.check(uri) is not None or self._snapshot.exists(uri)

    @cached_property
    def _files(self) -> FileTable:
        """All files that may be named, including files without text."""
        walk = self._snapshot.walk(only_text=False)
        paths = frozenset(each.path.as_posix() for each in walk if each.path is not None)
        return FileTable(paths, self._scan.files.roots, self._scan.files.aliases)


@dataclass(slots=True)
class LinkLocations:
    """Positions and lines of links in one snapshot. Each text is read once. Blocks on the disk."""

    snapshot: Snapshot
    _documents: dict[str, TextDocument | None] = field(default_factory=dict)

    def place_of(self, edge: Edge) -> tuple[Position, str] | None:
        """Return the position of a link and the text of its line, or None if its file has just
        changed.
        """
        document = self._document(edge.source)
        link = edge.link
        if document is None or document.text[link.start : link.end] != link.written:
            return None
        place = document.position_at(link.start)
        return place, document.lines[place.line]

    def _document(self, uri: str) -> TextDocument | None:
        if uri not in self._documents:
            self._documents[uri] = self.snapshot.show_or_none(uri)
        return self._documents[uri]


MIN_LIKENESS = 0.45
"""The least Dice coefficient of the trigrams of two similar names."""
MIN_SAME = 0.7
"""The least `SequenceMatcher` ratio of two similar names with fewer common trigrams.

Trigrams are not enough: a short name with two swapped letters shares hardly any.
"""
_N_COMPARED = 20
"""The most names whose letters are compared: the names that share the most trigrams."""


class NameSuggestions:
    """An index of file names by trigram, which suggests similar names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._stems = [_stem(name) for name in self._names]
        self._n_trigrams: list[int] = []
        self._with: dict[str, list[int]] = defaultdict(list)
        for nth, stem in enumerate(self._stems):
            trigrams = _trigrams(stem)
            self._n_trigrams.append(len(trigrams))
            for trigram in trigrams:
                self._with[trigram].append(nth)

    def suggest(self, query: str, limit: int = 3) -> tuple[str, ...]:
        """Return the names most like `query`, the best first. Folders and endings do not count."""
        stem = _stem(query)
        trigrams = _trigrams(stem)
        shared = Counter(nth for trigram in trigrams for nth in self._with.get(trigram, ()))
        alike = {nth: 2 * n / (len(trigrams) + self._n_trigrams[nth]) for nth, n in shared.items()}

        def rank(nth: int) -> tuple[float, int, str]:
            return -alike[nth], len(self._names[nth]), self._names[nth]

        best = sorted(alike, key=rank)
        letters = SequenceMatcher(autojunk=False)
        letters.set_seq2(stem[:100])
        for nth in best[:_N_COMPARED]:
            letters.set_seq1(self._stems[nth][:100])
            if alike[nth] < MIN_LIKENESS and (same := letters.ratio()) >= MIN_SAME:
                alike[nth] = same
        found = sorted((nth for nth in best if alike[nth] >= MIN_LIKENESS), key=rank)
        return tuple(self._names[nth] for nth in found[:limit])


def _stem(name: str) -> str:
    stem = posixpath.splitext(posixpath.basename(name.strip("./")))[0] or name
    return fold_name(stem).replace("_", "-").replace(" ", "-")


def _trigrams(stem: str) -> frozenset[str]:
    text = f"  {stem} "
    return frozenset(text[at : at + 3] for at in range(len(text) - 2))


@dataclass(frozen=True, slots=True)
class DeadLink:
    """A link that leads to no file.

    Attributes:
        edge: The link and its file.
        place: The position of the link, 0-based, in code points; None if the file has just
            changed.
        line: The text of the line with the link.
        near: Names of similar files, the best first.
    """

    edge: Edge
    place: Position | None
    line: str
    near: tuple[str, ...]


def files_below(scan: LinkGraph, folders: Collection[Path]) -> list[str]:
    """Return the URIs of the files with links below these folders, by path. If there are no
    folders, return all.
    """
    tops = [folder.as_posix() for folder in folders]
    paths = (path for path in scan.links if not tops or any(is_below(path, top) for top in tops))
    return [scan.uris[path] for path in sorted(paths)]


def dead_links(snapshot: Snapshot, scan: LinkGraph, uris: Iterable[str]) -> Iterator[DeadLink]:
    """Yield the dead links of these files, in order of file and place. Blocks on the disk."""
    dead, places = DeadLinkChecker(snapshot, scan), LinkLocations(snapshot)
    near: NameSuggestions | None = None
    for uri in uris:
        for edge in filter(dead.is_dead, scan.outgoing(uri)):
            # The index is built only if a link is dead.
            near = near or NameSuggestions(map(snapshot.name_of, scan.uris.values()))
            place, line = places.place_of(edge) or (None, "")
            yield DeadLink(edge, place, line, near.suggest(link_path(edge.link)))
