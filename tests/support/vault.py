"""A vault of thousands of notes with known links and tags.

Every link is written from its target, in a form that has this target according to CommonMark or
Obsidian. Only one rule is computed, by sorting all notes of a name: which note a bare name means.
"""

import os
import posixpath
import random
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

_STEMS = (
    *(
        "note",
        "Idea",
        "Meeting notes",
        "a.b",
        "v1.2",
        "caf\u00e9",
        "Zo\u00eb's list",
        "日記",
        "計画 2024",
    ),
    *(
        "\U0001f389 party",
        "re-plan",
        "C++",
        "50%",
        "x & y",
        "M\u00fcller (neu)",
        "\u0928\u094b\u091f",
    ),
)
_FOLDERS = ("work", "my life", "資料", "\u00e9t\u00e9", "a", "deep er", "\U0001f4da", "Z")
_TAGS = ("idea", "Area/one", "\u8a08\u753b", "caf\u00e9/x-y", "\U0001f389", "y2024", "a_b")


@dataclass(slots=True)
class Vault:
    """Notes by name, with their links and tags; names are relative to the root.

    Attributes:
        texts: The text of each file.
        links: The links of each note in order: a name, or None for a dead link.
        tags: The tags of each note, each spelling once.
    """

    texts: dict[str, str] = field(default_factory=dict)
    links: dict[str, list[str | None]] = field(default_factory=dict)
    tags: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def backlinks(self) -> dict[str, list[str]]:
        """Return the notes that link to each note, once for each link, sorted."""
        found: dict[str, list[str]] = {name: [] for name in self.texts}
        for source, targets in self.links.items():
            for target in targets:
                if target is not None and target != source:
                    found[target].append(source)
        return {name: sorted(sources) for name, sources in found.items()}


def make_vault(n_notes: int, seed: int) -> Vault:
    """Make a vault of `n_notes` notes, the same for the same seed."""
    return _Maker(random.Random(seed), n_notes).made()


class _Maker:
    def __init__(self, chance: random.Random, n_notes: int) -> None:
        self._chance = chance
        folders = ["", *_FOLDERS, *(f"{a}/{b}" for a in _FOLDERS for b in _FOLDERS[:5])]
        folders += [f"{folder}/in" for folder in folders[1:20]]
        self._names: list[str] = []
        taken: set[str] = set()
        while len(self._names) < n_notes:
            stem = chance.choice(_STEMS)
            if chance.random() < 0.8:
                stem += f" {len(self._names)}"
            name = self._form(posixpath.join(chance.choice(folders), f"{stem}.md"))
            if _folded(name) not in taken:
                taken.add(_folded(name))
                self._names.append(name)
        self._by_stem: dict[str, list[str]] = {}
        for name in self._names:
            self._by_stem.setdefault(_folded(posixpath.basename(name)), []).append(name)
        self._aliases = {name: f"Alias of {nth}" for nth, name in enumerate(self._names[::5])}

    def made(self) -> Vault:
        vault = Vault()
        for nth, name in enumerate(self._names):
            alias = self._aliases.get(name)
            tags = self._chance.sample(_TAGS, self._chance.randrange(4))
            front = [f"aliases: ['{alias}', other-{nth}]"] if alias else []
            if tags and nth % 4 == 0:
                front.append(f"tags: [{tags[0]}]")
            lines = ["---", *front, "---", f"# Note {nth}", ""] if front else [f"# Note {nth}", ""]
            targets: list[str | None] = []
            ways = [self._dead, *[self._live] * 6, self._decoy]
            for way in self._chance.choices(ways, k=self._chance.randrange(12)):
                written, meant = way(name)
                lines += [written, ""]
                targets += meant
            # The links form a ring, so that there are cycles of all notes.
            after = self._names[(nth + 1) % len(self._names)]
            lines += [f"Next: [[/{after}]] {' '.join(f'#{tag}' for tag in tags[nth % 4 == 0 :])}"]
            vault.texts[name] = "\n".join(lines) + "\n"
            vault.links[name] = [*targets, after]
            vault.tags[name] = tuple(tags)
        return vault

    def _live(self, source: str) -> tuple[str, list[str | None]]:
        target = self._chance.choice(self._names)
        ways: list[Callable[[str, str], str]] = [
            self._path_wiki,
            self._relative_wiki,
            self._encoded,
            self._angle,
            self._root,
            self._reference,
            self._html,
        ]
        if target in self._aliases:
            return f"[[{_cased(self._aliases[target])}|alias]]", [target]
        if self._chance.random() < 0.3:
            stem = posixpath.basename(target).removesuffix(".md")
            return f"[[{_cased(self._form(stem))}]]", [self._meant_by(target, source)]
        return self._chance.choice(ways)(source, target), [target]

    def _meant_by(self, target: str, source: str) -> str:
        """Choose like Obsidian: the note in the root, below the source's folder, the shortest."""
        same = self._by_stem[_folded(posixpath.basename(target))]
        folder = posixpath.dirname(source)
        return min(
            same,
            key=lambda name: (
                "/" in name,
                not name.startswith(f"{folder}/" if folder else ""),
                len(unicodedata.normalize("NFC", name)),
                unicodedata.normalize("NFC", name),
            ),
        )

    def _path_wiki(self, _source: str, target: str) -> str:
        path = self._form(target)
        tail = self._chance.choice(("", "#Part", "#^block", "|words", "#A b|words"))
        lead = self._chance.choice(("/", "!", "", "" if "/" in target else "/"))
        if "/" not in target and lead in ("", "!"):
            return f"{lead}[[{path}{tail}]]"  # an exact path, too: that of a note in the root
        mark, slash = ("!", "") if lead == "!" else ("", lead)
        return (
            f"{mark}[[{slash}{path.removesuffix('.md') if '.' not in path[:-3] else path}{tail}]]"
        )

    def _relative_wiki(self, source: str, target: str) -> str:
        path = posixpath.relpath(target, posixpath.dirname(source) or ".")
        return f"See [[{path if path.startswith('../') else f'./{path}'}]]."

    def _encoded(self, source: str, target: str) -> str:
        anchor = self._chance.choice(("", "#part", "#a%20b", " 'title'"))
        return (
            f"{self._chance.choice(('', '!'))}[text]({quote(self._path(source, target))}{anchor})"
        )

    def _angle(self, source: str, target: str) -> str:
        path = self._path(source, target).replace("%", "%25").replace("&", "&amp;")
        return f'- [text](<{path}> "title")'

    def _root(self, _source: str, target: str) -> str:
        return f"> [text](/{quote(self._form(target))})"

    def _reference(self, source: str, target: str) -> str:
        nth = self._chance.randrange(10**9)
        return f"[see][r{nth}]\n\n[r{nth}]: {quote(self._path(source, target))} (title)"

    def _html(self, source: str, target: str) -> str:
        return f'<a href="{quote(self._path(source, target))}#x">text</a>'

    def _dead(self, source: str) -> tuple[str, list[str | None]]:
        gone = f"{self._chance.choice(_FOLDERS)}/gone {self._chance.randrange(10**6)}"
        return self._chance.choice(
            (f"[[{gone}]]", f"![[{gone}.png]]", f"[t]({quote(gone)}.md)", f"[t](</{gone}>)")
        ), [None]

    def _decoy(self, source: str) -> tuple[str, list[str | None]]:
        target = posixpath.basename(self._chance.choice(self._names)).removesuffix(".md")
        return self._chance.choice(
            (
                f"`[[{target}]]`",
                f"```\n[[{target}]] #none\n```",
                f"<!-- [[{target}]] #none -->",
                f"~~~ md\n[x]({quote(target)}.md)\n~~~",
                "[web](https://example.org/note.md) <mailto:a@example.org> [here](#part)",
                f"\\[[{target}]]",
            )
        ), []

    def _path(self, source: str, target: str) -> str:
        path = posixpath.relpath(target, posixpath.dirname(source) or ".")
        return self._form(path)

    def _form(self, name: str) -> str:
        """Choose another Unicode form now and then, as if typed on another machine."""
        return unicodedata.normalize(self._chance.choice(("NFC", "NFD")), name)


def _cased(name: str) -> str:
    return name.upper() if name.isascii() else name


def _folded(name: str) -> str:
    return os.path.normcase(unicodedata.normalize("NFC", name)).casefold()
