"""From the bare name of a script to where it may lie: aliases of the build, packages of the workspace.

`npm`, `yarn` and `pnpm` link the packages of a workspace to each other under their names, and `exports`
says what of one may be asked. What is built is rarely there to be found: then its source is meant.
"""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from stet.links.build_files import PACKAGE, BuildFile, Patterns
from stet.links.file_table import FileTable, nearest_file

MAX_CONFIGS = 16
"""Build files that are asked about one name."""
_SCRIPTS = ("tsconfig.json", "jsconfig.json")


@dataclass(frozen=True, slots=True)
class ScriptLocation:
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


def script_locations(name: str, source: str, files: FileTable) -> Iterator[ScriptLocation]:
    """Where the bare `name` that stands in the file `source` may lead, as TypeScript and Node look."""
    folders = files.ancestors(source)
    yield from _by_builds(name, folders, files.builds)
    yield from _by_package(name, source, files)


def _by_builds(
    name: str, folders: list[str], builds: Mapping[str, BuildFile]
) -> Iterator[ScriptLocation]:
    """Yield what the build files in `folders`, the nearest first, make of a name."""
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
    first = (
        path for folder in folders for each in _SCRIPTS if (path := f"{folder}/{each}") in builds
    )
    left = list(islice(first, 1))
    seen: set[str] = set()
    while left and len(seen) < MAX_CONFIGS:
        config = left.pop(0)
        if config in seen or config not in builds:
            continue
        seen.add(config)
        yield config
        build, home = builds[config], posixpath.dirname(config)
        left[:0] = [
            posixpath.normpath(f"{home}/{each}{'' if each.endswith('.json') else '.json'}")
            for each in build.extends
            if each.startswith(".")
        ]
        for reference in build.references:
            place = posixpath.normpath(f"{home}/{reference}")
            left += (
                [place] if reference.endswith(".json") else [f"{place}/{one}" for one in _SCRIPTS]
            )


def _by_pattern(name: str, base: str, patterns: Patterns) -> Iterator[ScriptLocation]:
    """Yield what the pattern with the longest beginning makes of `name`. A pattern without `*` goes
    first.
    """
    fitting = []
    for pattern, meant in patterns:
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
            yield ScriptLocation(posixpath.dirname(place), posixpath.basename(place), is_whole=True)
        else:
            yield ScriptLocation(posixpath.normpath(f"{base}/{each[:-2]}"), inner, lead)


def _by_package(name: str, source: str, files: FileTable) -> Iterator[ScriptLocation]:
    """Yield what a name means that begins with the name of a package of the workspace."""
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
