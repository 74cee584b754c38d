"""Status of an edit's path: what the path is on disk, and whether the rules allow an edit there.

`inspect_path` returns the present status. It is called when an edit is proposed, and again when the
edit is about to be written, because links, folders and ignore files may have changed in between (a
single check would be a race that an attacker wins). It accesses the disk a few dozen times, and
opens only ignore files.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from stet.system.system import FileKind, FileStat, System
from stet.text.unicode_normal import normalize_unicode
from stet.workspace.names import PathRefused, Refusal, alias_fault, parts_below, split_name
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical, path_of, uri_of

MAX_PATH = 4096
"""The maximum number of bytes of an absolute path with its final NUL, as on Linux."""


@dataclass(frozen=True, slots=True)
class PathStatus:
    """The status of one path at one moment.

    Attributes:
        names: The names of the path, as written and with every link resolved, without repeats.
        project_paths: The names relative to each project that contains the path: a root, or a
            checkout within a root.
        refusal: Why the path may not be changed, created, moved or removed; None if it may.
        creation_refusal: Why no file may be created at the path; None if one may.
        real: The path with every link resolved; None for untitled documents.
        is_link: Whether the entry itself is a link, not only a folder above it.
        has_hard_links: Whether the file has another name on the disk (a hard link).
        is_outside: Whether the resolved path is outside all roots.
        is_outside_by_link: Whether the resolved path is outside although the name is below a root.
    """

    names: tuple[str, ...] = ()
    refusal: Refusal | None = None
    creation_refusal: Refusal | None = None
    real: Path | None = None
    is_link: bool = False
    has_hard_links: bool = False
    is_outside: bool = False
    is_outside_by_link: bool = False
    project_paths: tuple[str, ...] = ()


def inspect_path(snapshot: Snapshot, uri: str, *, by_user: bool = False) -> PathStatus:
    """Return the status of the path at `uri`.

    Args:
        snapshot: The snapshot, with the document of the question.
        uri: Any URI, also one without a path.
        by_user: Whether the user has approved this file: then rules that only keep a model from
            exploring (a `.gitignore`, a file outside the roots that is not open) do not apply.
    """
    path = path_of(uri)
    if path is None:
        return _pathless_status(snapshot, uri)
    real = snapshot.system.real_path(path)
    leads_out, by_link = _is_outside(snapshot, path, real)
    entry, target = snapshot.system.stat(path), snapshot.system.stat(real)
    missing, above = _missing_parts(snapshot.system, path) if target is None else ([], None)
    name = snapshot.name_of(uri)
    status = PathStatus(
        (name,) if real == path else (name, snapshot.name_of(uri_of(real))),
        real=real,
        is_link=entry is not None and entry.kind is FileKind.LINK,
        has_hard_links=target is not None and target.kind is FileKind.FILE and target.n_names > 1,
        is_outside=leads_out,
        is_outside_by_link=by_link,
        project_paths=_project_paths(snapshot, path, real),
    )
    refusal = (
        (None if snapshot.document(uri) is not None else _name_fault(name, path))
        or _check_state_folder(snapshot, real)
        or _check_privacy(snapshot, uri, by_user=by_user)
        or _check_special_file(name, target, above)
    )
    if refusal is None:
        against_new = _creation_refusal(snapshot.system, name, missing, entry or target)
        return replace(status, creation_refusal=against_new)
    if refusal.rule == "outside" and by_link:
        refusal = Refusal("link", f"{name!r} is outside the workspace (through a symbolic link).")
    return replace(status, refusal=refusal)


def _pathless_status(snapshot: Snapshot, uri: str) -> PathStatus:
    """Return the status of an untitled document, or of a URI that is no file of this machine."""
    name = snapshot.name_of(uri)
    refusal = snapshot.privacy().check(uri)
    if refusal is None and snapshot.document(uri) is None:
        refusal = Refusal("untitled", f"No untitled document {name!r} is open.")
    new = Refusal("untitled", f"{name!r} is not on disk: a new file needs a path.")
    return PathStatus((name,), refusal, new)


def _is_outside(snapshot: Snapshot, path: Path, real: Path) -> tuple[bool, bool]:
    """Return whether `real` is outside all roots, and whether it is so although `path` is below
    one.
    """
    bases = [snapshot.system.real_path(root.path) for root in snapshot.roots]
    if any(base == real or base in real.parents for base in bases):
        return False, False
    return True, any(root.path in path.parents for root in snapshot.roots)


_CHECKOUTS = (".git", ".jj", ".hg", ".sl", ".svn", ".bzr", "_darcs")
"""Names of which one is in the top folder of a checkout."""
_DEEPEST = 64
"""The maximum depth below a root at which checkouts are searched for."""


def _project_paths(snapshot: Snapshot, *paths: Path) -> tuple[str, ...]:
    """Return the names of a place below each project that contains the place, without repeats."""
    found: dict[str, None] = {}
    for path in dict.fromkeys(paths):
        for root in snapshot.roots:
            for base in dict.fromkeys((root.path, snapshot.system.real_path(root.path))):
                parts = parts_below(path, base)
                if parts:
                    found["/".join(parts)] = None
                    found.update(dict.fromkeys(_checkout_paths(snapshot.system, base, parts)))
    return tuple(found)


def _checkout_paths(system: System, base: Path, parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the name of `parts` below each checkout between `base` and the end of `parts`."""
    folder = base
    for at, part in enumerate(parts[:-1][:_DEEPEST], 1):
        folder = folder / part
        if system.stat(folder) is None:
            return  # no folder below it exists either
        if any(system.stat(folder / name) is not None for name in _CHECKOUTS):
            yield "/".join(parts[at:])


def _name_fault(name: str, path: Path) -> Refusal | None:
    """Return why a name is invalid for a file (open documents have a name already)."""
    try:
        split_name(name, windows=os.name == "nt")
    except PathRefused as refused:
        return Refusal(refused.rule, refused.message)
    if len(os.fsencode(path)) >= MAX_PATH:
        return Refusal("too-long", f"The path of {path.name[:60]!r} is too long.")
    return None


def _check_state_folder(snapshot: Snapshot, real: Path) -> Refusal | None:
    """Refuse files of Stet's own state: proposals, chats, the trash."""
    try:
        state_folder = snapshot.system.real_path(snapshot.system.state_folder())
    except OSError:
        return None  # the folder can't be created, so there is no file in it
    if state_folder == real or state_folder in real.parents:
        return Refusal("own", f"{real.name!r} is in Stet's own state folder.")
    return None


def _check_privacy(snapshot: Snapshot, uri: str, *, by_user: bool) -> Refusal | None:
    """Return the refusal to change a file that may not be shown."""
    privacy = snapshot.privacy()
    if by_user:
        key = canonical(uri)
        opened, asked = {*privacy.open_keys, key}, {*privacy.asked_keys, key}
        privacy = replace(privacy, open_keys=opened, asked_keys=asked)
    return privacy.check(uri)


def _check_special_file(
    name: str, target: FileStat | None, above: FileStat | None
) -> Refusal | None:
    """Refuse a path that is no file: opening a pipe or a device may block or have side effects."""
    if target is None and above is not None and above.kind is not FileKind.FOLDER:
        return Refusal("special", f"{name!r} has a parent that is not a folder.")
    if target is None or target.kind is FileKind.FILE:
        return None
    what = {
        FileKind.FOLDER: "a folder",
        FileKind.LINK: "a broken symbolic link",
        FileKind.OTHER: "a device, a pipe or a socket",
    }[target.kind]
    return Refusal("special", f"{name!r} is {what}, not a file.")


def _missing_parts(system: System, path: Path) -> tuple[list[Path], FileStat | None]:
    """Return the missing paths from `path` up, and the status of the first one that exists."""
    missing: list[Path] = []
    for place in (path, *path.parents):
        found = system.stat(system.real_path(place))
        if found is not None:
            return missing, found
        missing.append(place)
    return missing, None


def _creation_refusal(
    system: System, name: str, missing: list[Path], stat: FileStat | None
) -> Refusal | None:
    """Return why no file may be created at a path with the status `stat`, for which the paths
    `missing` would have to be created; None if one may.
    """
    if stat is not None:
        return Refusal("exists", f"{name!r} already exists.")
    for place in missing:
        twins = (Path(normalize_unicode(form, str(place))) for form in ("NFC", "NFD"))
        if any(twin != place and system.stat(twin) is not None for twin in twins):
            return Refusal("exists", f"{name!r} already exists, in another Unicode form.")
    faults = (alias_fault(place.name) for place in missing)
    fault = next(filter(None, faults), None)
    return (
        Refusal("alias", (f"{name!r} is not a valid name for a new file: {fault}."))
        if fault
        else None
    )
