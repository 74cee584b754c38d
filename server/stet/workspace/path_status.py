"""The ground of an edit: what the disk and the user's ignore rules say of the place it is for.

`inspect_path` looks at a place as it is at this moment. It is asked when something is proposed, and again
when it is about to be written, because links, folders and ignore files may have changed in between
(a check that is only made once is a race that the attacker wins). It asks the disk a few dozen
times; nothing is opened but ignore files.
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
"""Bytes of an absolute path with its end, as Linux has it; elsewhere it is less or much more."""


@dataclass(frozen=True, slots=True)
class PathStatus:
    """The status of one path at one moment.

    Attributes:
        names: Its names, as written and with every link resolved, without repeats.
        project_paths: The same relative to each project that contains it: a root, or a checkout
            within a root.
        refusal: Why nothing there may be changed, created, moved or removed; None if it may.
        creation_refusal: Why no new file may be created there; None if one may.
        real: The path with every link resolved; None for untitled documents.
        is_link: Whether the entry itself is a link, not only a folder above it.
        has_hard_links: Whether the file has another name somewhere on the disk (a hard link).
        is_outside: Whether the resolved path is outside all roots.
        is_outside_by_link: Whether it is outside although its name is below a root.
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
        uri: Any URI; it need not have a path at all.
        by_user: Whether the user has approved this file: then rules that only keep a model from
            looking around (a `.gitignore`, a file outside the roots that is not open) do not apply.
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
        refusal = Refusal("link", f"{name!r} leads out of the workspace by a link.")
    return replace(status, refusal=refusal)


def _pathless_status(snapshot: Snapshot, uri: str) -> PathStatus:
    """Return untitled documents, and what is no document of this machine."""
    name = snapshot.name_of(uri)
    refusal = snapshot.privacy().check(uri)
    if refusal is None and snapshot.document(uri) is None:
        refusal = Refusal("untitled", f"No untitled document {name!r} is open.")
    new = Refusal("untitled", f"{name!r} has no place on the disk: a new file needs a path.")
    return PathStatus((name,), refusal, new)


def _is_outside(snapshot: Snapshot, path: Path, real: Path) -> tuple[bool, bool]:
    """Return whether no root holds the place, and whether that is so although its name lies below
    one.
    """
    bases = [snapshot.system.real_path(root.path) for root in snapshot.roots]
    if any(base == real or base in real.parents for base in bases):
        return False, False
    return True, any(root.path in path.parents for root in snapshot.roots)


_CHECKOUTS = (".git", ".jj", ".hg", ".sl", ".svn", ".bzr", "_darcs")
"""What lies in the top folder of a checkout."""
_DEEPEST = 64
"""Folders below a root in which a checkout is looked for."""


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
            return  # nor is anything below it
        if any(system.stat(folder / name) is not None for name in _CHECKOUTS):
            yield "/".join(parts[at:])


def _name_fault(name: str, path: Path) -> Refusal | None:
    """Return why a name is invalid for a file (open documents have a name already)."""
    try:
        split_name(name, windows=os.name == "nt")
    except PathRefused as refused:
        return Refusal(refused.rule, refused.message)
    if len(os.fsencode(path)) >= MAX_PATH:
        return Refusal("too-long", f"The path of {path.name[:60]!r} is longer than a disk takes.")
    return None


def _check_state_folder(snapshot: Snapshot, real: Path) -> Refusal | None:
    """Refuse what Stet keeps for itself: proposals, chats, the trash."""
    try:
        state_folder = snapshot.system.real_path(snapshot.system.state_folder())
    except OSError:
        return None  # it can't be made, so there is nothing in it
    if state_folder == real or state_folder in real.parents:
        return Refusal("own", f"{real.name!r} lies in Stet's own state folder.")
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
    """Refuse what is no file: to open a pipe or a device may wait for ever or do things."""
    if target is None and above is not None and above.kind is not FileKind.FOLDER:
        return Refusal("special", f"{name!r} lies below what is no folder.")
    if target is None or target.kind is FileKind.FILE:
        return None
    what = {
        FileKind.FOLDER: "a folder",
        FileKind.LINK: "a link that leads nowhere",
        FileKind.OTHER: "a device, a pipe or a socket",
    }[target.kind]
    return Refusal("special", f"{name!r} is {what}, not a file.")


def _missing_parts(system: System, path: Path) -> tuple[list[Path], FileStat | None]:
    """Return the missing parts of `path`, from the end up, and the status of what is above."""
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
    """Return why no file may be made where `stat` lies now, and what is `missing` would have to be
    made.
    """
    if stat is not None:
        return Refusal("exists", f"{name!r} exists already.")
    for place in missing:
        twins = (Path(normalize_unicode(form, str(place))) for form in ("NFC", "NFD"))
        if any(twin != place and system.stat(twin) is not None for twin in twins):
            return Refusal("exists", f"{name!r} exists already, in another Unicode form.")
    faults = (alias_fault(place.name) for place in missing)
    fault = next(filter(None, faults), None)
    return Refusal("alias", f"{name!r} is no name for a new file: {fault}.") if fault else None
