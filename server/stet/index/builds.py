"""What build files say of names: the module of a `go.mod`, the `paths` of a `tsconfig.json`,
the main file of a `package.json`.

Only what is needed to lead an import to a file, and only what stands in the file as plain text: no
build is run. A build file that can't be read says nothing.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

MAX_CHARACTERS = 200_000
"""A longer build file is not read: no person wrote it."""
MAX_PATTERNS = 200
"""Patterns of `paths` that are kept of one file."""

_GO = "go.mod"
_PACKAGE = "package.json"
_MAIN = ("main", "module", "types", "typings")
_SCRIPTS = ("tsconfig.json", "jsconfig.json")
_FOR_SCRIPTS = re.compile(r"[tj]sconfig(?:\.[\w-]{1,50})?\.json")
_MODULE = re.compile(r"^[ \t]*module[ \t]+\"?(?P<name>[^\s\"]+)", re.MULTILINE)
# What is not closed is taken whole, else each quote in it would be tried anew.
_STRING = r'(?P<string>"(?:[^"\\\r\n]|\\.)*+"?)'
_COMMENT = re.compile(_STRING + r"|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")


@dataclass(frozen=True, slots=True)
class Build:
    """What one build file says.

    Attributes:
        module: How Go calls the folder of the file; empty for other build files.
        base_url: The folder from which bare names of scripts count, relative to the build file's
            own; None if it is not set.
        paths: Patterns of such names, at most one `*` in each, with what they stand for.
        extends: The build file that it adds to, as it is written; empty if there is none.
        main: What the folder means as a script, relative to it, in the order in which it is tried.
    """

    module: str = ""
    base_url: str | None = None
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    extends: str = ""
    main: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meant:
    """What a bare name of a script may mean.

    Attributes:
        folder: Where it counts from.
        within: The path from there, without an ending.
        lead: What stands in the name before that path.
        is_whole: Whether the name is one for this place alone, not a path from a folder.
    """

    folder: str
    within: str
    lead: str = ""
    is_whole: bool = False


def is_build(name: str) -> bool:
    """Whether a file of this name (with or without folders) is a build file that is read."""
    last = posixpath.basename(name)
    return last in (_GO, _PACKAGE) or _FOR_SCRIPTS.fullmatch(last) is not None


def read_build(text: str, name: str) -> Build:
    """What the build file called `name` says."""
    if len(text) > MAX_CHARACTERS:
        return Build()
    if posixpath.basename(name) == _GO:
        found = _MODULE.search(text)
        return Build() if found is None else Build(module=found["name"])
    try:
        said = json.loads(_LAST_COMMA.sub(_kept, _COMMENT.sub(_kept, text)))
    except (ValueError, RecursionError):  # not JSON, or nested without end
        return Build()
    if posixpath.basename(name) == _PACKAGE:
        named = (_mapping(said).get(key) for key in _MAIN)
        return Build(main=tuple(each for each in named if each and isinstance(each, str)))
    options = _mapping(_mapping(said).get("compilerOptions"))
    base, extends = options.get("baseUrl"), _mapping(said).get("extends")
    patterns = tuple(
        (pattern, tuple(each for each in meant if isinstance(each, str)))
        for pattern, meant in _mapping(options.get("paths")).items()
        if isinstance(meant, list) and pattern.count("*") <= 1
    )
    return Build(
        base_url=base if isinstance(base, str) else None,
        paths=patterns[:MAX_PATTERNS],
        extends=extends if isinstance(extends, str) else "",
    )


def go_folder(package: str, modules: Iterable[tuple[str, str]]) -> str | None:
    """The folder of a Go package; None if it is of no module here.

    Args:
        package: As it is imported.
        modules: Names of modules with their folders, longer names first.
    """
    for module, folder in modules:
        if f"{package}/".startswith(f"{module}/"):
            return posixpath.normpath(f"{folder}/{package[len(module) :]}")
    return None


def script_places(name: str, folders: list[str], builds: Mapping[str, Build]) -> Iterator[Meant]:
    """Where the bare `name` of a script may lead, as TypeScript looks for it.

    Args:
        name: As it is written behind `from`.
        folders: Of the file with the name, and those above, the nearest first.
        builds: The build files, by path.
    """
    config = next(
        (path for folder in folders for each in _SCRIPTS if (path := f"{folder}/{each}") in builds),
        None,
    )
    for _ in range(8):  # a build file may add to one that adds to it
        if config is None:
            return
        build, home = builds[config], posixpath.dirname(config)
        base = posixpath.normpath(f"{home}/{build.base_url or '.'}")
        yield from _by_pattern(name, base, build)
        if build.base_url is not None:
            yield Meant(base, name)
        extends = build.extends if build.extends.endswith(".json") else f"{build.extends}.json"
        above = posixpath.normpath(f"{home}/{extends}")
        config = above if build.extends.startswith(".") and above in builds else None


def _by_pattern(name: str, base: str, build: Build) -> Iterator[Meant]:
    """What the pattern with the longest beginning makes of `name`; one without `*` goes first."""
    fitting = []
    for pattern, meant in build.paths:
        lead, star, rest = pattern.partition("*")
        if name == pattern if not star else name.startswith(lead) and name.endswith(rest):
            fitting.append((not star, len(lead), lead, rest, meant))
    if not fitting:
        return
    is_whole, _, lead, rest, meant = max(fitting)
    inner = name[len(lead) : len(name) - len(rest)]
    for each in meant:
        place = posixpath.normpath(f"{base}/{each.replace('*', inner, 1)}")
        if is_whole or rest or not each.endswith("/*"):
            yield Meant(posixpath.dirname(place), posixpath.basename(place), is_whole=True)
        else:
            yield Meant(posixpath.normpath(f"{base}/{each[:-2]}"), inner, lead)


def _kept(found: re.Match[str]) -> str:
    return found[0] if found["string"] is not None else " "


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
