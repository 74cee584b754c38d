"""From the name of a module to its file: Python, Go, Java and Kotlin, PHP's namespaces.

Rust's modules are in `stet.links.rust_crates`.

Where a language looks for modules is said in build files that a scan does not read. So a name means
the file that its parts lead to from a folder above, or from wherever exactly they are found.
"""

import posixpath
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from stet.links import rust_crates as crates
from stet.links.build_files import go_folder
from stet.links.file_table import FileTable, join_path, nearest_file
from stet.links.link import Link, LinkKind

_Resolution = tuple[tuple[str, ...], str | None]
"""The files, and the folder from which the name counts."""
_PYTHON = (".py", ".pyi", "/__init__.py", "/__init__.pyi")
_JVM = (".java", ".kt", ".kts", ".scala", ".groovy")


def resolve_module(link: Link, source: str, files: FileTable) -> _Resolution | None:
    """Return what the name in `link` means in the file `source`."""
    return _RESOLVERS[link.kind](link, source, files)


def _python(link: Link, source: str, files: FileTable) -> _Resolution | None:
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
        return None if found is None else ((found,), None)
    for base in _python_bases(source, files):
        found = _python_file(f"{base}/{path}", files)
        if found is not None and found != source:
            return (found,), base
    return _python_anywhere(path, source, files)


def _python_bases(source: str, files: FileTable) -> Iterator[str]:
    """Yield the folders above that hold packages and are no packages."""
    for folder in files.ancestors(source):
        if f"{folder}/__init__.py" not in files.paths:
            yield folder


def _python_anywhere(path: str, source: str, files: FileTable) -> _Resolution | None:
    """Return a top-level package of that name, in any source folder of the workspace."""
    tails = [path + ending for ending in (_PYTHON if "/" in path else _PYTHON[2:])]
    bases = {
        found: found[: -len(tail)].rstrip("/")
        for tail in tails
        for found in files.ending_with(tail)
    }
    best = nearest_file(
        tuple(sorted(f for f, base in bases.items() if f"{base}/__init__.py" not in files.paths)),
        source,
    )
    return None if best is None else ((best,), bases[best])


def _python_file(path: str, files: FileTable) -> str | None:
    # Python's names are exact whatever the disk folds.
    return next((path + ending for ending in _PYTHON if path + ending in files.paths), None)


def _rust(link: Link, source: str, files: FileTable) -> _Resolution | None:
    find = crates.find_module if link.kind is LinkKind.RUST_MOD else crates.find_use
    found = find(link, source, files)
    return None if found is None else ((found[0],), found[1])


def _go(link: Link, source: str, files: FileTable) -> _Resolution | None:
    """Return the files of a package in a module of the workspace. If no module is known, return the
    files of a matching folder.

    In that case the first part of its path, if it is ours, is a host's name. What is copied into a
    `vendor` folder above is taken from there.
    """
    if files.go_modules:
        module_folder = go_folder(link.written, files.go_modules)
        copies = (f"{ancestor}/vendor/{link.written}" for ancestor in files.ancestors(source))
        for folder in (*([module_folder] if module_folder is not None else []), *copies):
            found = _go_files(folder, source, files)
            if found:
                return found, folder
        return None
    parts = link.written.split("/")
    if "." not in parts[0]:
        return None
    for first in range(1, len(parts)):
        for base in files.ancestors(source):
            found = _go_files(f"{base}/{'/'.join(parts[first:])}", source, files)
            if found:
                return found, base
    return None


def _go_files(folder: str, source: str, files: FileTable) -> tuple[str, ...]:
    return tuple(
        path
        for path in files.in_folder(folder)
        if path.endswith(".go") and not path.endswith("_test.go") and path != source
    )


def _jvm(link: Link, source: str, files: FileTable) -> _Resolution | None:
    parts = link.written.split(".")
    if parts[-1] == "*":
        package = "/".join(parts[:-1])
        folders = files.folders_ending_with(package)
        found = tuple(
            path
            for folder in folders
            for path in files.in_folder(folder)
            if path.endswith(_JVM) and path != source
        )
        if found:
            return found, None
        del parts[-1]  # the members of a class
    for n_parts in range(len(parts), 1, -1):  # behind the class may stand one of its members
        path = "/".join(parts[:n_parts])
        candidates = (each for ending in _JVM for each in files.ending_with(path + ending))
        best = nearest_file(tuple(sorted(candidates)), source)
        if best is not None:
            return (best,), posixpath.splitext(best)[0][: -len(path) - 1]
    return None


def _php(link: Link, source: str, files: FileTable) -> _Resolution | None:
    parts = link.written.split("\\")
    for first in range(len(parts) - 1):  # what stands before may be no folder
        path = "/".join(parts[first:])
        best = nearest_file(files.ending_with(f"{path}.php"), source)
        if best is not None:
            return (best,), best[: -len(path) - 5]
    return None


_RESOLVERS: Mapping[LinkKind, Callable[[Link, str, FileTable], _Resolution | None]] = (
    MappingProxyType(
        {
            LinkKind.PYTHON: _python,
            LinkKind.PYTHON_FROM: _python,
            LinkKind.PYTHON_NAME: _python,
            LinkKind.RUST_MOD: _rust,
            LinkKind.RUST_USE: _rust,
            LinkKind.GO: _go,
            LinkKind.JVM: _jvm,
            LinkKind.PHP_USE: _php,
        }
    )
)
