"""The dead links of files, each with its place and with files that may be meant."""

import posixpath
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from stet.links.dead_link_check import DeadLinkChecker
from stet.links.file_table import is_below
from stet.links.graph import Edge
from stet.links.link_locations import LinkLocations
from stet.links.link_resolver import link_path
from stet.links.link_scan import ScannedLinks
from stet.text.position import Position
from stet.text.unicode_normal import fold_name
from stet.workspace.snapshot import Snapshot

MIN_LIKENESS = 0.45
"""Dice's coefficient of the trigrams of two names, from which on they are alike."""
MIN_SAME = 0.7
"""The same for the letters that two names share in order: two letters changed about leave a short
name hardly a trigram."""
_N_COMPARED = 20
"""Names whose letters are compared: those that share the most trigrams."""


class NameSuggestions:
    """A table of file names by their trigrams: asking costs only what the names share."""

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
        best = sorted(alike, key=lambda nth: (-alike[nth], len(self._names[nth]), self._names[nth]))
        letters = SequenceMatcher(autojunk=False)
        letters.set_seq2(stem[:100])
        for nth in best[:_N_COMPARED]:
            letters.set_seq1(self._stems[nth][:100])
            if alike[nth] < MIN_LIKENESS and (same := letters.ratio()) >= MIN_SAME:
                alike[nth] = same
        found = sorted(
            (nth for nth in best if alike[nth] >= MIN_LIKENESS),
            key=lambda nth: (-alike[nth], len(self._names[nth]), self._names[nth]),
        )
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
        place: Where it stands in the text that is shown, 0-based, in code points; None if the file
            has just changed.
        line: The line of that text.
        near: Names of files like what is written, the best first.
    """

    edge: Edge
    place: Position | None
    line: str
    near: tuple[str, ...]


def files_below(scan: ScannedLinks, folders: Collection[Path]) -> list[str]:
    """Return the URIs of the files with links below these folders, by path. If there are no
    folders, return all.
    """
    tops = [folder.as_posix() for folder in folders]
    return [
        scan.uris[path]
        for path in sorted(scan.links)
        if not tops or any(is_below(path, top) for top in tops)
    ]


def dead_links(snapshot: Snapshot, scan: ScannedLinks, uris: Iterable[str]) -> Iterator[DeadLink]:
    """Yield the dead links of these files, in order of file and place. Blocks on the disk."""
    dead, places = DeadLinkChecker(snapshot, scan), LinkLocations(snapshot)
    near: NameSuggestions | None = None
    for uri in uris:
        for edge in filter(dead.is_dead, scan.outgoing(uri)):
            # The table is worth making only where something is dead.
            near = near or NameSuggestions(map(snapshot.name_of, scan.uris.values()))
            place, line = places.place_of(edge) or (None, "")
            yield DeadLink(edge, place, line, near.suggest(link_path(edge.link)))
