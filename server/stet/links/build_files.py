"""The names that build files define.

These are the modules of a `go.mod`, the `paths` of a `tsconfig.json`, the name, the main file, the
`exports` and `imports` of a `package.json`, the crate of a `Cargo.toml`. Only the facts that are
needed to resolve an import are read, and only from plain text: no build is run. A build file that
can't be read defines nothing.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from stet.text.lines import split_lines

MAX_CHARACTERS = 200_000
"""A longer build file, in code points, is not read: it is generated."""
MAX_PATTERNS = 200
"""The most patterns of `paths`, `exports` or `imports` that are kept of one file."""
MAX_TARGETS = 12
"""The most targets that are kept of one pattern."""
MAX_DEPTH = 8
"""The deepest nesting of conditions that is read."""
MAX_PARTS = 16
"""The most entries of `extends`, and of `references`, that are kept of one build file."""

PACKAGE = "package.json"
CARGO = "Cargo.toml"
_GO = "go.mod"
_MAIN = ("main", "module", "types", "typings")
_FOR_SCRIPTS = re.compile(r"[tj]sconfig(?:\.[\w-]{1,50})?\.json")
_MODULE = re.compile(r"^[ \t]*module[ \t]+\"?(?P<name>[^\s\"]+)", re.MULTILINE)
_REPLACED = re.compile(
    r"^[ \t]*(?:replace[ \t]+)?\"?(?P<name>[^\s\"()]+)\"?(?:[ \t]+v\S+)?[ \t]*=>[ \t]*\"?(?P<to>\.{1,2}(?:/[^\s\"]*)?)",
    re.MULTILINE,
)
# An unclosed string matches to its end, so that no quote in it is tried again.
_STRING = r'(?P<string>"(?:[^"\\\r\n]|\\.)*+"?)'
_TOML = re.compile(
    r"[ \t]*+(?:\[(?P<table>[^\]\r\n]*+)"
    r"|(?P<key>name|path)[ \t]*+=[ \t]*+(?P<mark>[\"'])(?P<value>[^\"'\\\r\n]{1,500}+)(?P=mark))"
)
_MADE = re.compile(r"\./(?:(?:dist|build|lib|out|output|es|esm|cjs|types)/)+")
_COMMENT = re.compile(_STRING + r"|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")


Patterns = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class BuildFile:
    """The definitions of one build file.

    Attributes:
        module: The module path of a `go.mod`; "" for other build files.
        replaced: The `replace` directives of a `go.mod`: module path and folder, relative to the
            file.
        base_url: `baseUrl`, relative to the folder of the build file; None if it is not set.
        paths: The patterns of `paths`, at most one `*` in each, with their targets.
        extends: The entries of `extends` as written, the last one first.
        references: The paths of `references` as written.
        name: The name of an npm package, or of a crate.
        main: The entry files of a package, relative to its folder, in the order in which they are
            tried; for a crate its root file.
        exports: The patterns of `exports`, each beginning with `.`, with their targets.
        imports: The patterns of `imports`, each beginning with `#`, with their targets.
    """

    module: str = ""
    replaced: tuple[tuple[str, str], ...] = ()
    base_url: str | None = None
    paths: Patterns = ()
    extends: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    name: str = ""
    main: tuple[str, ...] = ()
    exports: Patterns = ()
    imports: Patterns = ()


def is_build(name: str) -> bool:
    """Return whether a file of this name (with or without folders) is a build file that is read."""
    last = posixpath.basename(name)
    return last in (_GO, PACKAGE, CARGO) or _FOR_SCRIPTS.fullmatch(last) is not None


def read_build(text: str, name: str) -> BuildFile:
    """Return the definitions in the build file called `name`."""
    if len(text) > MAX_CHARACTERS:
        return BuildFile()
    last = posixpath.basename(name)
    if last in (_GO, CARGO):
        return _go(text) if last == _GO else _cargo(text)
    try:
        fields = _mapping(
            json.loads(_LAST_COMMA.sub(_keep_string, _COMMENT.sub(_keep_string, text)))
        )
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return BuildFile()
    return _package(fields) if last == PACKAGE else _config(fields)


def _go(text: str) -> BuildFile:
    found = _MODULE.search(text)
    replaced = tuple((each["name"], each["to"]) for each in _REPLACED.finditer(text))
    return BuildFile(found["name"] if found else "", replaced[:MAX_PATTERNS])


def _cargo(text: str) -> BuildFile:
    """Read a `Cargo.toml` line by line: a TOML parser may take minutes for a key of many parts."""
    table, values = "", dict[tuple[str, str], str]()
    for line in split_lines(text):
        found = _TOML.match(line)
        if found is not None and found["table"] is not None:
            table = found["table"].strip()
        elif found is not None:
            values.setdefault((table, found["key"]), found["value"])
    name = values.get(("lib", "name")) or values.get(("package", "name"), "").replace("-", "_")
    return BuildFile(name=name, main=(values.get(("lib", "path"), "src/lib.rs"),) if name else ())


def _package(fields: Mapping[str, object]) -> BuildFile:
    mains = _texts(map(fields.get, _MAIN))
    exports = fields.get("exports")
    if not any(key.startswith(".") for key in _mapping(exports)):
        exports = {".": exports}  # the whole value is the target of the package itself
    return BuildFile(
        name=_text(fields.get("name")),
        main=mains + tuple(filter(None, map(guess_source, mains))),
        exports=_patterns(exports, "."),
        imports=_patterns(fields.get("imports"), "#"),
    )


def _patterns(fields: object, beginning: str) -> Patterns:
    """Return the names in `fields` with their targets under any condition, in order."""
    found = []
    for name, target in _mapping(fields).items():
        if name.startswith(beginning) and name.count("*") <= 1:
            targets = tuple(dict.fromkeys(islice(_targets(target), MAX_TARGETS)))
            sources = tuple(filter(None, map(guess_source, targets)))
            found.append((name, tuple(dict.fromkeys(targets + sources))))
    return tuple(found[:MAX_PATTERNS])


def _targets(target: object, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Yield the paths in a target, which may be nested conditions."""
    if isinstance(target, str):
        yield from (target,) if target.startswith("./") else ()
    elif isinstance(target, dict | list) and depth:
        for each in target.values() if isinstance(target, dict) else target:
            yield from _targets(each, depth - 1)


def guess_source(place: str) -> str:
    """Return the likely source of a built file, or "": `./src/a.js` for `./dist/esm/a.js`."""
    made = _MADE.match(place)
    return "" if made is None else f"./src/{place[made.end() :]}"


def _config(fields: Mapping[str, object]) -> BuildFile:
    options = _mapping(fields.get("compilerOptions"))
    base, extends = options.get("baseUrl"), fields.get("extends")
    references = fields.get("references")
    patterns = []
    for pattern, target in _mapping(options.get("paths")).items():
        if isinstance(target, list) and pattern.count("*") <= 1:
            patterns.append((pattern, tuple(each for each in target if isinstance(each, str))))
    above = extends if isinstance(extends, list) else [extends]
    parts = references if isinstance(references, list) else []
    return BuildFile(
        base_url=base if isinstance(base, str) else None,
        paths=tuple(patterns[:MAX_PATTERNS]),
        extends=_texts(reversed(above))[:MAX_PARTS],
        references=_texts(_mapping(each).get("path") for each in parts)[:MAX_PARTS],
    )


def go_folder(package: str, modules: Iterable[tuple[str, str]]) -> str | None:
    """Return the folder of a Go package, or None if the package is in no module of the workspace.

    Args:
        package: The import path.
        modules: Names of modules with their folders, longer names first.
    """
    for module, folder in modules:
        if f"{package}/".startswith(f"{module}/"):
            return posixpath.normpath(f"{folder}/{package[len(module) :]}")
    return None


def _keep_string(match: re.Match[str]) -> str:
    return match[0] if match["string"] is not None else " "


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    """Return the texts among some values, without empty ones."""
    return tuple(filter(None, map(_text, values)))
