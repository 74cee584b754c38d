"""Resolve a link in a file to the file of the workspace that it means.

Wikilinks follow Obsidian: a path from the root, else the note of that name, first below the linking
file's folder, then with the shortest path; the ending may be left out. URLs and includes are paths
from the file's own folder. `stet.links.module_resolver` resolves the names of modules.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from stet.links.file_table import FileTable, join_path, nearest_file, nearest_note
from stet.links.link import Link, LinkKind, ResolvedLink
from stet.links.module_resolver import resolve_module, script_locations
from stet.notes.yaml_text import unquote_name
from stet.text.bounded_input import unescape_entities
from stet.text.document import ending_of
from stet.text.unicode_normal import fold_name

WIKI_ENDINGS = (".md", ".markdown", ".mdx", ".qmd", ".rmd")
_SCRIPTS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_SCRIPT_NAMES = ("", *_SCRIPTS, ".json", ".vue", ".svelte", ".css", ".scss")
_SCRIPT_INDEXES = tuple(f"/index{ending}" for ending in _SCRIPTS)
_STYLES = ("", ".css", ".scss", ".sass", ".less")
_STYLE_INDEXES = ("/_index.scss", "/_index.sass", "/index.scss", "/index.sass")
PATH_ENDINGS: Mapping[LinkKind, tuple[str, ...]] = {
    LinkKind.MARKDOWN: ("", *WIKI_ENDINGS),
    LinkKind.ANGLE: ("", *WIKI_ENDINGS),
    LinkKind.JAVASCRIPT: (*_SCRIPT_NAMES, *_SCRIPT_INDEXES),
    LinkKind.REFERENCE: ("", ".ts", ".d.ts"),
    LinkKind.C_INCLUDE: ("",),
    LinkKind.C_SYSTEM: ("",),
    LinkKind.RUST_PATH: ("",),
    LinkKind.RUBY: (".rb", ""),
    LinkKind.PHP: ("",),
    LinkKind.CSS: (*_STYLES, *_STYLE_INDEXES),
    LinkKind.LATEX: ("", ".tex", ".ltx", ".bib"),
    LinkKind.LATEX_IMAGE: ("", ".pdf", ".png", ".jpg", ".jpeg", ".eps", ".svg"),
}
"""Endings that a path may leave out, by kind, in the order in which they are tried."""
FROM_ABOVE = frozenset({LinkKind.LATEX, LinkKind.LATEX_IMAGE})
"""Kinds whose paths may be relative to a folder above: the folder of the main file."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_COMPILED = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}


def resolve_link(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    """Return the target of `link` in the file `source`, or None if there is no target."""
    if link.kind in (LinkKind.WIKI, LinkKind.EMBED):
        return _wiki(link_path(link), source, files)
    if link.kind in PATH_ENDINGS:
        return _path(link, source, files)
    return resolve_module(link, source, files)


def link_path(link: Link) -> str:
    """Return the path that a link spells, without the escapes of its language."""
    if link.kind in (LinkKind.WIKI, LinkKind.EMBED):
        return unquote_name(link.written, link.context)
    if link.kind not in (LinkKind.MARKDOWN, LinkKind.ANGLE):
        return link.written
    return unquote(unescape_entities(_ESCAPE.sub(r"\1", link.written)))


def _wiki(name: str, source: str, files: FileTable) -> ResolvedLink | None:
    if name.startswith(("./", "../")):
        path = join_path(posixpath.dirname(source), name)
        return _found(_at(path, ("", *WIKI_ENDINGS), files))
    tail = name.strip("/")
    has_ending = "." in posixpath.basename(tail)
    endings = ("", *WIKI_ENDINGS) if has_ending else (*WIKI_ENDINGS, "")
    root = files.root_of(source)
    if root is not None and (target := _at(join_path(root, tail), endings, files)):
        return ResolvedLink((target,), root)
    if name.startswith("/"):
        return None  # only a path from the root
    for ending in endings:
        target = nearest_note(files.ending_like(tail + ending), source, tail + ending)
        if target is not None:
            return ResolvedLink((target,), target.rsplit("/", tail.count("/") + 1)[0])
    return _found(nearest_note(files.aliases.get(fold_name(name), ()), source))


def _found(target: str | None) -> ResolvedLink | None:
    return None if target is None else ResolvedLink((target,))


def _path(link: Link, source: str, files: FileTable) -> ResolvedLink | None:
    path = link_path(link)
    if not path:
        return None
    if link.kind is LinkKind.C_SYSTEM:
        return _header(path, source, files)
    if link.kind is LinkKind.JAVASCRIPT and not path.startswith((".", "/")):
        return _bare_script(path, source, files)
    for base, within in _bases(link, path, source, files):
        target = _named(link.kind, join_path(base or posixpath.dirname(source), within), files)
        if target is not None:
            return ResolvedLink((target,), base)
    if link.kind is LinkKind.C_INCLUDE and not path.startswith("."):
        found = files.ending_with(path)
        if len(found) == 1:  # some folder of the include path
            return ResolvedLink(found, found[0][: -len(path) - 1])
    return None


def _header(path: str, source: str, files: FileTable) -> ResolvedLink | None:
    """Return a header of the workspace by its include path, which may begin in any folder.

    A bare name is usually the name of a system header. A header of the workspace with this name is
    meant only if it lies in a folder for public headers.
    """
    found = files.ending_with(path)
    if "/" not in path and (len(found) != 1 or not found[0].endswith(f"/include/{path}")):
        return None
    best = nearest_file(found, source)
    return None if best is None else ResolvedLink((best,), best[: -len(path) - 1])


def _bare_script(name: str, source: str, files: FileTable) -> ResolvedLink | None:
    """Return the script that a bare name means by a folder alias or by the build files."""
    for location in script_locations(name, source, files):
        target = _named(LinkKind.JAVASCRIPT, join_path(location.folder, location.within), files)
        if target is not None:
            return ResolvedLink(
                (target,), None if location.is_whole else location.folder, location.lead
            )
    return None


def _bases(
    link: Link, path: str, source: str, files: FileTable
) -> Iterator[tuple[str | None, str]]:
    """Yield each folder to which `path` may be relative (None: the file's own), and the path."""
    kind, root = link.kind, files.root_of(source)
    if path.startswith("/") and kind is not LinkKind.PHP:
        if root is not None:
            yield root, path.lstrip("/")
        return
    yield None, path.lstrip("/")
    if path.startswith("."):
        return
    if kind in FROM_ABOVE:  # relative to the main file, which may be in a folder above
        above = files.ancestors(source)
        if link.context:  # the folders of pictures
            yield from ((join_path(a, b), path) for a in above for b in link.context.split("\n"))
        yield from ((folder, path) for folder in above[1:])
    elif kind in (LinkKind.MARKDOWN, LinkKind.ANGLE) and root is not None:
        yield root, path


def _at(path: str, endings: tuple[str, ...], files: FileTable) -> str | None:
    return next((found for ending in endings if (found := files.at(path + ending))), None)


def _named(kind: LinkKind, path: str, files: FileTable) -> str | None:
    """Return the file that the absolute `path` means."""
    if kind is LinkKind.JAVASCRIPT:
        target = _at(path, _SCRIPT_NAMES, files) or main_script(path, files)
        target = target or _at(path, _SCRIPT_INDEXES, files)
    else:
        target = _at(path, PATH_ENDINGS[kind], files)
    return target or _other_name(kind, path, files)


def main_script(folder: str, files: FileTable) -> str | None:
    """Return the script that the folder of a package means, if its `package.json` names a
    script.
    """
    build = files.builds.get(f"{folder}/package.json")
    mains = () if build is None else build.main
    endings = PATH_ENDINGS[LinkKind.JAVASCRIPT]
    found = (_at(join_path(folder, each), endings, files) for each in mains)
    return next(filter(None, found), None)


def _other_name(kind: LinkKind, path: str, files: FileTable) -> str | None:
    """Return a file by the name of its compiled output, or by its name without an underscore."""
    if kind is LinkKind.JAVASCRIPT:
        ending = ending_of(path)
        return _at(path.removesuffix(ending), _COMPILED.get(ending, ()), files)
    if kind is LinkKind.CSS:
        folder, name = posixpath.split(path)
        return _at(f"{folder}/_{name}", PATH_ENDINGS[kind], files)
    return None


Exists = Callable[[str], bool]
"""A test whether something exists at a path that is not in the file table: an image, a folder."""


def existing_target(link: Link, source: str, files: FileTable, exists: Exists) -> str | None:
    """Return the path of a relative URL that means no file of `files`, or None if nothing is there.

    A path outside the roots is not checked: it counts as existing.
    """
    path = link_path(link)
    if link.kind not in (LinkKind.MARKDOWN, LinkKind.ANGLE) or not path or path.startswith("/"):
        return None
    place = join_path(posixpath.dirname(source), path)
    if any(place == root or place.startswith(f"{root}/") for root in files.roots):
        return place if exists(place) else None
    return place
