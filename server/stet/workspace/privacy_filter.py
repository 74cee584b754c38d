"""The privacy filter: the only decision about texts that may leave the machine.

Every text for a model or a tool passes through it (`Snapshot.show`, `Snapshot.walk`), for every
model, local ones too. The rules apply in this order, to the path as written and to its real path:

| rule | what is refused | unless |
| --- | --- | --- |
| `scheme` | documents that are neither files nor untitled | |
| `own` | Stet's state and cache folders: proposals, trash, pages, the index | |
| `secret` | names of secret files, everything in secret folders | |
| `deny` | `privacy.deny` of the settings | |
| `git` | the state of version control: `.git`, `.jj`, `.hg`, `.svn`, `CVS` and the like | |
| `outside` | what is not below a root of the workspace | it is open in the editor |
| `excluded` | `context.excludedFolders` | |
| `ignored` | what a `.stetignore` names | |
| `ignored` | what a `.gitignore` names | it is open and the user is asking about it |

The last exception is deliberate and narrow. A git-ignored file is no part of the project, and often
contains private data, so an open tab is no reason to send it. But a question asked in such a file
is about that file: the file that the question names, else the active document. A question that
names another file is not about the active one.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stet.settings.values import Settings
from stet.system.system import System
from stet.workspace.ignore_rules import IgnoreDecision, IgnorePatterns, IgnoreRules, parse_patterns
from stet.workspace.names import (
    Refusal,
    folded,
    is_version_control,
    last_part,
    loosest,
    parts_below,
)
from stet.workspace.paths import Root
from stet.workspace.secret_files import is_secret
from stet.workspace.uris import canonical, path_of, scheme_of, untitled_name

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """The filter on the files of one snapshot.

    Attributes:
        system: The disk, to resolve links.
        roots: The roots of the workspace.
        settings: The settings, with `privacy.deny` and `context.excludedFolders`.
        rules: The ignore files.
        open_keys: Canonical URIs of the open documents.
        asked_keys: Canonical URIs of the documents the user is asking about.
    """

    system: System
    roots: tuple[Root, ...]
    settings: Settings
    rules: IgnoreRules
    open_keys: Collection[str]
    asked_keys: Collection[str]

    def check(self, uri: str, real: Path | None = None) -> Refusal | None:
        """Return why a document may not be shown; None if it may. The document need not exist.

        Args:
            uri: The URI of the document.
            real: The document's real path, if the caller has resolved it and is about to read it.
        """
        if scheme_of(uri) == "untitled":
            name = untitled_name(uri)
            return self._check_outside(tuple(part for part in name.split("/") if part), name)
        path = path_of(uri)
        if path is None:
            return Refusal("scheme", f"{last_part(uri)!r} is neither a local file nor untitled.")
        key = canonical(uri)
        is_open = key in self.open_keys
        is_asked = is_open and key in self.asked_keys
        refusal = self._check_path(path, is_asked=is_asked)
        if refusal is not None:
            return refusal
        real = real or self.system.real_path(path)
        refusal = self._check_path(real, is_asked=is_asked) if real != path else None
        if refusal is not None:  # the message does not reveal the real name
            message = f"{self._name(path)!r} is a link to a file that may not be shown."
            return Refusal(refusal.rule, message)
        return None if is_open else self._check_inside(path, real)

    def check_folder(self, folder: Path) -> Refusal | None:
        """Return why no file in or below a folder may be shown; None if files may be shown."""
        real = self.system.real_path(folder)
        for path in dict.fromkeys((folder, real)):
            refusal = self._check_path(path, is_asked=False, is_folder=True)
            if refusal is not None:
                return refusal
        return self._check_inside(folder, real)

    def _check_inside(self, path: Path, real: Path) -> Refusal | None:
        """Return the refusal of a path whose real path `real` is below no root; None if it is."""
        if any(parts_below(real, base) is not None for _, base in self._bases()):
            return None
        return Refusal("outside", f"{self._name(path)!r} is outside the workspace.")

    def check_level(
        self, root: Root, parts: tuple[str, ...], *, is_folder: bool, is_asked: bool = False
    ) -> Refusal | None:
        """Check the entry at `parts` below `root` as `check` does, after the folders above it.

        Links are not resolved here: the caller does not follow them.
        """
        name = "/".join(parts)
        if is_folder and self._is_state_folder(root.path.joinpath(*parts)):
            return _state_refusal(name)
        refusal = self._check_names((*root.path.parts[1:], *parts), name, is_folder=is_folder)
        if refusal is None and self._is_denied(parts, is_folder=is_folder):
            refusal = _denied_refusal(name)
        if refusal is None and is_folder:
            refusal = self._check_excluded(root, parts)
        if refusal is not None:
            return refusal
        decision = self.rules.decide(root.path, parts, is_folder=is_folder)
        if decision is IgnoreDecision.DENIED:
            return Refusal("ignored", f"{name!r} is excluded by a .stetignore.")
        if decision is IgnoreDecision.IGNORED and not is_asked:
            return Refusal("ignored", f"{name!r} is ignored by a .gitignore.")
        return None

    def hides(self, root: Root, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether no program of another agent may see the entry at `parts` below `root`.

        These are secrets, Stet's own state, and what `privacy.deny` or a `.stetignore` names, after
        the folders above it. An agent needs the files that are only no part of the project.
        """
        if is_folder and self._is_state_folder(root.path.joinpath(*parts)):
            return True
        whole = (*root.path.parts[1:], *parts)
        refusal = self._check_names(whole, "", is_folder=is_folder)
        if refusal is not None and refusal.rule != "git":
            return True
        if self._is_denied(parts, is_folder=is_folder):
            return True
        return self.rules.decide(root.path, parts, is_folder=is_folder) is IgnoreDecision.DENIED

    def _check_path(self, path: Path, *, is_asked: bool, is_folder: bool = False) -> Refusal | None:
        """Return the refusal of `path`, if any, by names or the rules of every root that contains
        `path`.

        Args:
            path: The absolute path, links not resolved.
            is_asked: Whether the user has the file open and asks about it.
            is_folder: Whether the path is a folder; then a root contains itself.
        """
        if self._is_state(path):
            return _state_refusal(self._name(path))
        parts = path.parts[1:]
        holders = [
            (root, below)
            for root, base in self._bases()
            if (below := parts_below(path, base)) or (is_folder and below is not None)
        ]
        if not holders:
            return self._check_outside(parts, self._name(path))
        for n_parts in range(1, len(parts) + 1):
            inner = is_folder or n_parts < len(parts)
            refusal = self._check_names(parts[:n_parts], self._name(path), is_folder=inner)
            if refusal is not None:
                return refusal
        for root, below in holders:
            for n_parts in range(1, len(below) + 1):
                inner = is_folder or n_parts < len(below)
                refusal = self.check_level(
                    root, below[:n_parts], is_folder=inner, is_asked=is_asked
                )
                if refusal is not None:
                    return refusal
        return None

    def _name(self, path: Path) -> str:
        """Return the name of a path in a refusal: the path below a root, else the last part.

        The folders above the workspace, and the target of a link, are never revealed.
        """
        for root, base in self._bases():
            if below := parts_below(path, base):
                root_parts = () if len(self.roots) == 1 else (root.name,)
                return "/".join((*root_parts, *below))
        return path.name or "/"

    def _is_state(self, path: Path) -> bool:
        """Return whether a path is or is in one of Stet's own folders; links are not resolved."""
        parts = tuple(map(loosest, path.parts))
        return any(parts[: len(root_parts)] == root_parts for root_parts in self._state_folders())

    def _is_state_folder(self, folder: Path) -> bool:
        """Return whether a folder is one of Stet's own, through any links above it."""
        last = loosest(folder.name)
        # Resolve links only if the name matches: a walk checks every folder.
        is_named = any(root_parts[-1] == last for root_parts in self._state_folders())
        return is_named and self._is_state(self.system.real_path(folder))

    def _state_folders(self) -> frozenset[tuple[str, ...]]:
        real_path = self.system.real_path
        state = _state_paths(self.system.state_folder, real_path)
        return state | _state_paths(self.system.cache_folder, real_path)

    def _check_outside(self, parts: tuple[str, ...], name: str) -> Refusal | None:
        """Return the refusal, if any, of a document outside all roots: by names and all of
        `privacy.deny`.
        """
        for n_parts in range(1, len(parts) + 1):
            is_folder = n_parts < len(parts)
            refusal = self._check_names(parts[:n_parts], name, is_folder=is_folder)
            if refusal is None and self._is_denied(parts[:n_parts], is_folder=is_folder):
                refusal = _denied_refusal(name)
            if refusal is not None:
                return refusal
        return None

    def _check_names(self, parts: tuple[str, ...], name: str, *, is_folder: bool) -> Refusal | None:
        """Return the refusal, if any, that applies inside and outside of roots.

        `parts` begin at the top of the disk.
        """
        if is_secret((*parts, "") if is_folder else parts):
            return Refusal(
                "secret", f"{name!r} looks like a secret (a key, a login, an environment)."
            )
        # A bare name applies from the root down; only `/home/me/diary` can mean the whole disk.
        anchored = tuple(each for each in self.settings.privacy.deny if each.startswith("/"))
        if _is_matched(anchored, "privacy.deny", parts, is_folder=is_folder):
            return _denied_refusal(name)
        if is_version_control(parts):
            return Refusal("git", f"{name!r} belongs to version control.")
        return None

    def _is_denied(self, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether `privacy.deny` names the entry."""
        return _is_matched(self.settings.privacy.deny, "privacy.deny", parts, is_folder=is_folder)

    def _check_excluded(self, root: Root, parts: tuple[str, ...]) -> Refusal | None:
        """Return the refusal of a folder in `context.excludedFolders` (a name, a path, or
        `root/path`); None for any other folder.
        """
        lines = tuple(f"{name.strip('/')}/" for name in self.settings.context.excluded_folders)
        for names in (parts, (*root.name.split("/"), *parts)):
            if _is_matched(lines, "context.excludedFolders", names, is_folder=True):
                return Refusal("excluded", f"{'/'.join(parts)!r} is an excluded folder.")
        return None

    def _bases(self) -> list[tuple[Root, Path]]:
        """Return each root with its path as written, and again with its real path if it differs."""
        return [
            (root, base)
            for root in self.roots
            for base in dict.fromkeys((root.path, self.system.real_path(root.path)))
        ]


def _state_refusal(name: str) -> Refusal:
    return Refusal("own", f"{name!r} contains Stet's own state.")


@lru_cache(maxsize=4)
def _state_paths(
    state_folder: Callable[[], Path], real_path: Callable[[Path], Path]
) -> frozenset[tuple[str, ...]]:
    """Return the parts of one of Stet's own folders, in the loosest spelling.

    The folder is given as written and with links resolved.
    """
    try:
        folder = state_folder()
    except OSError:
        return frozenset()  # no state is stored, so there is none to hide
    places = (folder, real_path(folder))
    return frozenset(tuple(map(loosest, place.parts)) for place in places)


def _denied_refusal(name: str) -> Refusal:
    return Refusal("deny", f"{name!r} is excluded by `privacy.deny`.")


@lru_cache(maxsize=64)
def _patterns(lines: tuple[str, ...], setting: str) -> IgnorePatterns:
    """Return patterns of the settings, which match in any case."""
    patterns, bad = parse_patterns(map(_folded_pattern, lines))
    if bad:
        log.warning("`%s` has entries that are no patterns: %r", setting, bad)
    return patterns


def _folded_pattern(line: str) -> str:
    """Return a pattern in the form in which names are compared. A leading character that only looks
    like `!` or `#` is part of a name.

    Otherwise a project's settings could cancel the user's: they are only searched for a plain `!`.
    """
    text = folded(line)
    is_name = text.startswith(("!", "#")) and not line.startswith(text[0])
    return f"\\{text}" if is_name else text


def _is_matched(
    lines: tuple[str, ...], setting: str, parts: tuple[str, ...], *, is_folder: bool
) -> bool:
    """Return whether patterns of the settings name the entry at `parts`."""
    if not lines:
        return False
    return bool(_patterns(lines, setting).match(tuple(map(folded, parts)), is_folder=is_folder))
