"""From the name of a Rust module to its file, and where modules lie.

A module's own modules lie in a folder that has its name; those of a crate's root lie beside it.
"""

import posixpath

from stet.links.file_table import FileTable, is_below, join_path, nearest_file
from stet.links.link import Link

KEYWORDS = ("crate", "self", "super")
"""What a path counts from that begins with no name."""
_ROOTS = ("lib.rs", "main.rs")
_TARGETS = ("tests", "benches", "examples")
"""Folders beside a `Cargo.toml` in which each file is the root of a crate."""


def find_module(link: Link, source: str, files: FileTable) -> tuple[str, str] | None:
    """Return the file that `mod name;` declares, and the folder in which the file was looked for."""
    for folder in module_folders(link, source, files):
        found = _file(f"{folder}/{link.written}", files)
        if found is not None:
            return found, folder
    return None


def find_use(link: Link, source: str, files: FileTable) -> tuple[str, str] | None:
    """Return the file with the last module of a path, and the folder from which the path counts."""
    lead = link.context.split("::") if link.context else []
    first, *parts = (*lead, *link.written.split("::"))
    if first not in KEYWORDS:
        return _find_by_name(link, source, files)
    crate = crate_folder(source, files)
    base = crate if first == "crate" else join_path(_inner_folder(source, files), link.inside)
    n_up = next((n for n, part in enumerate(parts) if part != "super"), len(parts))
    for _ in range(n_up + (first == "super")):
        base = base and posixpath.dirname(base)
    if base is None or (crate is not None and base != crate and not is_below(base, crate)):
        return None
    parts = parts[n_up:]
    # What a member of a group shares with the others is a link of its own, but for `crate`.
    n_least = max(1, len(lead) - n_up) if lead and lead != ["crate"] else 0
    if lead and parts and files.in_folder(join_path(base, parts[0])):
        n_least = max(1, n_least)  # a module whose file is not there
    for n_parts in range(len(parts), n_least - 1, -1):
        place = join_path(base, "/".join(parts[:n_parts]))
        found = _root(crate, source, files) if place == crate else _file(place, files)
        if found is not None and found != source:
            return found, base
    return None


def _find_by_name(link: Link, source: str, files: FileTable) -> tuple[str, str] | None:
    """Resolve a path that begins with a neighbouring module or with a crate of the workspace."""
    lead = link.context.split("::") if link.context else []
    first, *parts = (*lead, *link.written.split("::"))
    # What a member of a group shares with the others is a link of its own.
    n_least = len(lead)
    module_folder = join_path(_inner_folder(source, files), link.inside)
    if _file(f"{module_folder}/{first}", files) is not None:
        found = _deepest(module_folder, [first, *parts], max(n_least + bool(lead), 1), files)
        return (found, module_folder) if found is not None and found != source else None
    manifest = nearest_file(files.crates.get(first, ()), source)
    if manifest is None:
        return None
    root = files.crate_root(manifest)
    base = posixpath.dirname(root)
    found = _deepest(base, parts, max(n_least, 1), files) or (None if lead else root)
    return (found, base) if found is not None and found != source else None


def _deepest(base: str, parts: list[str], n_least: int, files: FileTable) -> str | None:
    """Return the file of the longest path of modules from `base`, with at least `n_least` parts."""
    places = ("/".join((base, *parts[:n])) for n in range(len(parts), n_least - 1, -1))
    return next((found for place in places if (found := _file(place, files))), None)


def module_folders(link: Link, source: str, files: FileTable) -> tuple[str, ...]:
    """Return the folders in which the file `source` has the modules that `link` may declare."""
    folder = _inner_folder(source, files)
    # What is a crate's root by its place alone may be a module of the other roots beside it.
    named = folder if _is_named_root(source) else source.removesuffix(".rs")
    return tuple(dict.fromkeys(join_path(each, link.inside) for each in (folder, named)))


def module_path(file: str, folder: str) -> list[str] | None:
    """Return the names from the module of `folder` to the module of `file`. Return None if no names
    lead there.
    """
    above, name = posixpath.split(file)
    place = above if _is_named_root(file) else f"{above}/{name.removesuffix('.rs')}"
    if place == folder:
        return []
    return posixpath.relpath(place, folder).split("/") if is_below(place, folder) else None


def crate_folder(source: str, files: FileTable) -> str | None:
    """Return the folder of the crate that holds `source`, or None if there is no crate above."""
    if _is_script(source, files):
        return posixpath.dirname(source)
    return next(
        (
            folder
            for folder in files.ancestors(source)
            if _has(folder, _ROOTS, files) or _holds_roots(folder, files)
        ),
        None,
    )


def _inner_folder(source: str, files: FileTable) -> str:
    """Return the folder of the modules inside the module `source`."""
    folder = posixpath.dirname(source)
    if _is_named_root(source) or _is_script(source, files) or _holds_roots(folder, files):
        return folder
    return source.removesuffix(".rs")


def _is_named_root(file: str) -> bool:
    return posixpath.basename(file) in ("mod.rs", *_ROOTS)


def _is_script(file: str, files: FileTable) -> bool:
    folder, name = posixpath.split(file)
    return name == "build.rs" and _has(folder, ("Cargo.toml",), files)


def _holds_roots(folder: str, files: FileTable) -> bool:
    """Whether each file in `folder` is the root of a crate: a test, say, or a program."""
    above, name = posixpath.split(folder)
    if name in _TARGETS:
        if _has(above, ("Cargo.toml",), files):
            return True
        is_inner = _has(above, _ROOTS, files)
    else:
        is_inner = name != "bin" or posixpath.basename(above) != "src"
    return not is_inner and _file(folder, files) is None


def _root(crate: str, source: str, files: FileTable) -> str | None:
    """Return the root of a crate, where the meant root is known."""
    if _inner_folder(source, files) == crate:
        return source
    return next((path for name in _ROOTS if (path := f"{crate}/{name}") in files.paths), None)


def _has(folder: str, names: tuple[str, ...], files: FileTable) -> bool:
    return any(f"{folder}/{name}" in files.paths for name in names)


def _file(path: str, files: FileTable) -> str | None:
    endings = (".rs", "/mod.rs")
    return next((path + ending for ending in endings if path + ending in files.paths), None)
