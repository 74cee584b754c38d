"""Find the file of a module by the module's name, for each language.

The search folders of a language are set in build files, of which only plain text is read
(`stet.links.build_files`). So a name means the file to which its parts lead from a folder above, or
from the only folder in which exactly these parts exist.

- Rust: the modules of a module are in a folder of its name; those of a crate's root are next to it.
- Scripts: `npm`, `yarn` and `pnpm` link the packages of a workspace to each other under their
  names, and `exports` lists the files that may be imported. Built files rarely exist, so a name
  means their source. Aliases in build files go first.
- Python, Go, Java and Kotlin, namespaces of PHP.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from stet.links.build_files import PACKAGE, BuildFile, Patterns, go_folder
from stet.links.file_table import FileTable, is_below, join_path, nearest_file
from stet.links.link import Link, LinkKind, ResolvedLink

RUST_KEYWORDS = ("crate", "self", "super")
"""First parts of a path that are not names of modules or crates."""
_CRATE_ROOTS = ("lib.rs", "main.rs")
_CRATE_TARGETS = ("tests", "benches", "examples")
"""Folders beside a `Cargo.toml` in which each file is the root of a crate."""


def _rust_module(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    """Return the file that `mod name;` declares, and the folder in which it was searched for."""
    for folder in rust_module_folders(link, source, files):
        found = _rust_file(f"{folder}/{link.written}", files)
        if found is not None:
            return ResolvedLink((found,), folder)
    return None


def _rust_use(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    """Return the file of the last module of a path, and the base folder of the path."""
    lead = link.context.split("::") if link.context else []
    first, *parts = (*lead, *link.written.split("::"))
    module_folder = join_path(_inner_folder(source, files), link.inside)
    if first not in RUST_KEYWORDS:
        return _find_by_name([first, *parts], len(lead), module_folder, source, files)
    crate = rust_crate_folder(source, files)
    base = crate if first == "crate" else module_folder
    n_up = next((n for n, part in enumerate(parts) if part != "super"), len(parts))
    for _ in range(n_up + (first == "super")):
        base = base and posixpath.dirname(base)
    if base is None or (crate is not None and base != crate and not is_below(base, crate)):
        return None
    parts = parts[n_up:]
    # The path that the members of a group share is a separate link, except for `crate`.
    n_least = max(1, len(lead) - n_up) if lead and lead != ["crate"] else 0
    if lead and parts and files.in_folder(join_path(base, parts[0])):
        n_least = max(1, n_least)  # a module whose file does not exist
    for n_parts in range(len(parts), n_least - 1, -1):
        place = join_path(base, "/".join(parts[:n_parts]))
        found = _crate_root(crate, source, files) if place == crate else _rust_file(place, files)
        if found is not None and found != source:
            return ResolvedLink((found,), base)
    return None


def _find_by_name(
    parts: list[str], n_lead: int, module_folder: str, source: str, files: FileTable
) -> ResolvedLink | None:
    """Resolve a path that begins with a neighbouring module or with a crate of the workspace.

    The path that the members of a group share, the first `n_lead` parts, is a separate link.
    """
    if _rust_file(f"{module_folder}/{parts[0]}", files) is not None:
        base, found = module_folder, _deepest(module_folder, parts, n_lead + 1, files)
    elif (manifest := nearest_file(files.crates.get(parts[0], ()), source)) is not None:
        root = files.crate_root(manifest)
        base = posixpath.dirname(root)
        found = _deepest(base, parts[1:], max(n_lead, 1), files) or (None if n_lead else root)
    else:
        return None
    return None if found in (None, source) else ResolvedLink((found,), base)


def _deepest(base: str, parts: list[str], n_least: int, files: FileTable) -> str | None:
    """Return the file of the longest path of modules from `base`, with at least `n_least` parts."""
    places = ("/".join((base, *parts[:n])) for n in range(len(parts), n_least - 1, -1))
    return next((found for place in places if (found := _rust_file(place, files))), None)


def rust_module_folders(link: Link, source: str, files: FileTable) -> tuple[str, ...]:
    """Return the folders in which the file `source` has the modules that `link` may declare."""
    folder = _inner_folder(source, files)
    # A file that is a crate's root only by its place may be a module of other roots beside it.
    named = folder if _is_named_root(source) else source.removesuffix(".rs")
    return tuple(dict.fromkeys(join_path(each, link.inside) for each in (folder, named)))


def rust_module_path(file: str, folder: str) -> list[str] | None:
    """Return the names from the module of `folder` to the module of `file`. Return None if no names
    lead there.
    """
    above, name = posixpath.split(file)
    place = above if _is_named_root(file) else f"{above}/{name.removesuffix('.rs')}"
    if place == folder:
        return []
    return posixpath.relpath(place, folder).split("/") if is_below(place, folder) else None


def rust_crate_folder(source: str, files: FileTable) -> str | None:
    """Return the folder of the crate that holds `source`, or None if there is no crate above."""
    if _is_script(source, files):
        return posixpath.dirname(source)
    for folder in files.ancestors(source):
        if _has_file(folder, _CRATE_ROOTS, files) or _holds_roots(folder, files):
            return folder
    return None


def _inner_folder(source: str, files: FileTable) -> str:
    """Return the folder of the modules inside the module `source`."""
    folder = posixpath.dirname(source)
    if _is_named_root(source) or _is_script(source, files) or _holds_roots(folder, files):
        return folder
    return source.removesuffix(".rs")


def _is_named_root(file: str) -> bool:
    return posixpath.basename(file) in ("mod.rs", *_CRATE_ROOTS)


def _is_script(file: str, files: FileTable) -> bool:
    folder, name = posixpath.split(file)
    return name == "build.rs" and _has_file(folder, ("Cargo.toml",), files)


def _holds_roots(folder: str, files: FileTable) -> bool:
    """Return whether each file in `folder` is the root of a crate: a test, say, or a program."""
    above, name = posixpath.split(folder)
    if name in _CRATE_TARGETS:
        if _has_file(above, ("Cargo.toml",), files):
            return True
        is_inner = _has_file(above, _CRATE_ROOTS, files)
    else:
        is_inner = name != "bin" or posixpath.basename(above) != "src"
    return not is_inner and _rust_file(folder, files) is None


def _crate_root(crate: str, source: str, files: FileTable) -> str | None:
    """Return the root of a crate if it is certain which root is meant."""
    if _inner_folder(source, files) == crate:
        return source
    return _first_file((f"{crate}/{name}" for name in _CRATE_ROOTS), files)


def _has_file(folder: str, names: tuple[str, ...], files: FileTable) -> bool:
    return any(f"{folder}/{name}" in files.paths for name in names)


def _rust_file(path: str, files: FileTable) -> str | None:
    return _first_file((f"{path}.rs", f"{path}/mod.rs"), files)


def _first_file(paths: Iterable[str], files: FileTable) -> str | None:
    """Return the first of these paths that is a file."""
    return next((path for path in paths if path in files.paths), None)


MAX_CONFIGS = 16
"""The most build files that are read for one name."""
_SCRIPTS = ("tsconfig.json", "jsconfig.json")


@dataclass(frozen=True, slots=True)
class ScriptLocation:
    """A place that the bare name of a script may mean.

    Attributes:
        folder: The folder to which `within` is relative.
        within: The path from that folder, without an ending.
        lead: The part of the name before that path.
        is_whole: Whether the name is an alias of this place alone, not a path below a folder.
    """

    folder: str
    within: str
    lead: str = ""
    is_whole: bool = False


def script_locations(name: str, source: str, files: FileTable) -> Iterator[ScriptLocation]:
    """Yield the places that `name` may mean in the file `source`, as in TypeScript and Node."""
    yield from _by_builds(name, files.ancestors(source), files.builds)
    yield from _by_package(name, source, files)


def _by_builds(
    name: str, folders: list[str], builds: Mapping[str, BuildFile]
) -> Iterator[ScriptLocation]:
    """Yield the places of a name by the build files in `folders`, the nearest folder first."""
    if name.startswith("#"):
        home = next((folder for folder in folders if f"{folder}/{PACKAGE}" in builds), None)
        if home is not None:
            yield from _by_pattern(name, home, builds[f"{home}/{PACKAGE}"].imports)
    for config in _configs(folders, builds):
        build, home = builds[config], posixpath.dirname(config)
        base = posixpath.normpath(f"{home}/{build.base_url or '.'}")
        yield from _by_pattern(name, base, build.paths)
        if build.base_url is not None:
            yield ScriptLocation(base, name)


def _configs(folders: list[str], builds: Mapping[str, BuildFile]) -> Iterator[str]:
    """Yield the build files that define names: the nearest file, its base files, and its parts."""
    first = (f"{folder}/{each}" for folder in folders for each in _SCRIPTS)
    left = list(islice((path for path in first if path in builds), 1))
    seen: set[str] = set()
    while left and len(seen) < MAX_CONFIGS:
        config = left.pop(0)
        if config in seen or config not in builds:
            continue
        seen.add(config)
        yield config
        build, home = builds[config], posixpath.dirname(config)
        bases = (each.removesuffix(".json") for each in build.extends if each.startswith("."))
        left[:0] = [posixpath.normpath(f"{home}/{base}.json") for base in bases]
        for reference in build.references:
            place = posixpath.normpath(f"{home}/{reference}")
            is_file = reference.endswith(".json")
            left += [place] if is_file else [f"{place}/{one}" for one in _SCRIPTS]


def _by_pattern(name: str, base: str, patterns: Patterns) -> Iterator[ScriptLocation]:
    """Yield the places of `name` by the pattern without `*`, else with the longest prefix."""
    fitting = []
    for pattern, targets in patterns:
        lead, star, rest = pattern.partition("*")
        if name == pattern if not star else name.startswith(lead) and name.endswith(rest):
            fitting.append((not star, len(lead), lead, rest, targets))
    if not fitting:
        return
    is_whole, _, lead, rest, targets = max(fitting)
    inner = name[len(lead) : len(name) - len(rest)]
    for each in targets:
        place = posixpath.normpath(f"{base}/{each.replace('*', inner, 1)}")
        if is_whole or rest or not each.endswith("/*"):
            yield ScriptLocation(posixpath.dirname(place), posixpath.basename(place), is_whole=True)
        else:
            yield ScriptLocation(posixpath.normpath(f"{base}/{each[:-2]}"), inner, lead)


def _by_package(name: str, source: str, files: FileTable) -> Iterator[ScriptLocation]:
    """Yield the places of a name that begins with the name of a package of the workspace."""
    n_parts = 2 if name.startswith("@") else 1
    parts = name.split("/")
    package, within = "/".join(parts[:n_parts]), "/".join(parts[n_parts:])
    here = nearest_file(files.packages.get(package, ()), source)
    if here is None:
        return
    folder = here.rpartition("/")[0]
    for each in _by_pattern(f"./{within}" if within else ".", folder, files.builds[here].exports):
        yield each if each.is_whole else replace(each, lead=package + each.lead[1:])
    if within:
        yield ScriptLocation(folder, within, f"{package}/")
        yield ScriptLocation(f"{folder}/src", within, f"{package}/")
    else:
        yield ScriptLocation(*folder.rpartition("/")[::2], is_whole=True)
        yield ScriptLocation(folder, "src", is_whole=True)


_PYTHON = (".py", ".pyi", "/__init__.py", "/__init__.pyi")
_JVM = (".java", ".kt", ".kts", ".scala", ".groovy")


def resolve_module(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    """Return the target of the module name in `link`, in the file `source`."""
    return _RESOLVERS[link.kind](link, source, files)


def _python(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    module = link.written.replace(" ", "").replace("\t", "")
    if link.kind is LinkKind.PYTHON_NAME:
        module = f"{link.context}{'' if link.context.endswith('.') else '.'}{link.written}"
    name = module.lstrip(".")
    n_dots = len(module) - len(name)
    if name and not files.python_names.issuperset(name.split(".")):
        return None
    path = name.replace(".", "/")
    if n_dots:
        folder = posixpath.dirname(source)
        for _ in range(n_dots - 1):
            folder = posixpath.dirname(folder)
        found = _python_file(join_path(folder, path), files)
        return None if found is None else ResolvedLink((found,))
    for base in files.ancestors(source):
        if f"{base}/__init__.py" in files.paths:
            continue  # a package; the source folder is above it
        found = _python_file(f"{base}/{path}", files)
        if found is not None and found != source:
            return ResolvedLink((found,), base)
    return _python_anywhere(path, source, files)


def _python_anywhere(path: str, source: str, files: FileTable) -> ResolvedLink | None:
    """Return a top-level package of that name, in any source folder of the workspace."""
    tails = [path + ending for ending in (_PYTHON if "/" in path else _PYTHON[2:])]
    found = (
        (path, path[: -len(tail)].rstrip("/")) for tail in tails for path in files.ending_with(tail)
    )
    bases = {path: base for path, base in found if f"{base}/__init__.py" not in files.paths}
    best = nearest_file(tuple(sorted(bases)), source)
    return None if best is None else ResolvedLink((best,), bases[best])


def _python_file(path: str, files: FileTable) -> str | None:
    # Python's names are case-sensitive, even if the disk folds case.
    return _first_file((path + ending for ending in _PYTHON), files)


def _go(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    """Return the files of a package in a module of the workspace. If no module is known, return the
    files of a matching folder.

    In that case the first part of the import path must be a host name. A copy in a `vendor` folder
    above `source` counts as a package of the workspace.
    """
    if files.go_modules:
        module_folder = go_folder(link.written, files.go_modules)
        copies = (f"{ancestor}/vendor/{link.written}" for ancestor in files.ancestors(source))
        for folder in (*filter(None, [module_folder]), *copies):
            if found := _go_files(folder, source, files):
                return ResolvedLink(found, folder)
        return None
    parts = link.written.split("/")
    if "." not in parts[0]:
        return None
    for first in range(1, len(parts)):
        for base in files.ancestors(source):
            if found := _go_files(f"{base}/{'/'.join(parts[first:])}", source, files):
                return ResolvedLink(found, base)
    return None


def _go_files(folder: str, source: str, files: FileTable) -> tuple[str, ...]:
    found = (path for path in files.in_folder(folder) if path.endswith(".go"))
    return tuple(path for path in found if not path.endswith("_test.go") and path != source)


def _jvm(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    parts = link.written.split(".")
    if parts[-1] == "*":
        folders = files.folders_ending_with("/".join(parts[:-1]))
        inside = (path for folder in folders for path in files.in_folder(folder))
        if found := tuple(path for path in inside if path.endswith(_JVM) and path != source):
            return ResolvedLink(found)
        del parts[-1]  # the members of a class
    for n_parts in range(len(parts), 1, -1):  # the name of a member may follow the class
        path = "/".join(parts[:n_parts])
        candidates = (each for ending in _JVM for each in files.ending_with(path + ending))
        best = nearest_file(tuple(sorted(candidates)), source)
        if best is not None:
            return ResolvedLink((best,), posixpath.splitext(best)[0][: -len(path) - 1])
    return None


def _php(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    parts = link.written.split("\\")
    for first in range(len(parts) - 1):  # the first parts may have no folder
        path = "/".join(parts[first:])
        best = nearest_file(files.ending_with(f"{path}.php"), source)
        if best is not None:
            return ResolvedLink((best,), best[: -len(path) - 5])
    return None


_RESOLVERS: Mapping[LinkKind, Callable[[Link, str, FileTable], ResolvedLink | None]] = {
    LinkKind.PYTHON: _python,
    LinkKind.PYTHON_FROM: _python,
    LinkKind.PYTHON_NAME: _python,
    LinkKind.RUST_MOD: _rust_module,
    LinkKind.RUST_USE: _rust_use,
    LinkKind.GO: _go,
    LinkKind.JVM: _jvm,
    LinkKind.PHP_USE: _php,
}
