"""Rewrite a link so that it means another file: in its own style, or not at all.

A relative path stays relative, a path from a folder stays one, a bare name stays bare where that is
enough, an ending that was left out stays out, and the last part keeps its spelling while the file
keeps its name.
"""

import posixpath
import re
from urllib.parse import quote

from stet.links.file_table import FileTable, is_below
from stet.links.link import Link, LinkKind, ResolvedLink
from stet.links.link_resolver import (
    PATH_ENDINGS,
    WIKI_ENDINGS,
    link_path,
    main_script,
    resolve_link,
)
from stet.links.module_resolver import (
    RUST_KEYWORDS,
    rust_crate_folder,
    rust_module_folders,
    rust_module_path,
)
from stet.notes.yaml_text import is_item, quote_name

_IN_URL = re.compile(r"[\s%()<>#?\\\"'&\[\]\x00-\x1f]")
_IN_ANGLE = re.compile(r"[%<>#?\\\r\n&\x00-\x1f]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_NAME = re.compile(r"[^\W\d]\w*\Z")
_NOT_IN_WIKI = re.compile(r"[\[\]|#^\\\r\n]")
_NOT_IN_STRING = re.compile(r"[\"'\\\r\n{}]")


def write_link(
    link: Link, old: ResolvedLink, source: str, target: str, files: FileTable
) -> str | None:
    """Return the text that replaces `link.written` in the file `source` and means `target`.

    Args:
        link: The link as written.
        old: Its target before the move.
        source: The current path of the file with the link.
        target: The current path of the target.
        files: The current files.

    Returns:
        None if the style of the link can't express the target.
    """
    if link.kind in (LinkKind.WIKI, LinkKind.EMBED):
        return _wiki(link, source, target, files)
    if link.kind in PATH_ENDINGS:
        return _path(link, old, source, target, files)
    if link.kind is LinkKind.PYTHON:
        return write_module_name(link.written, old.base, source, target)
    if link.kind is LinkKind.JVM:
        return _jvm(link.written, old, target)
    if link.kind in (LinkKind.RUST_MOD, LinkKind.RUST_USE):
        return _rust(link, old, source, target, files)
    return None


def write_url(link: Link, source: str, target: str) -> str:
    """Return a relative URL in the style of `link` for a target that is not in the file table."""
    path = relative(posixpath.dirname(source), target, link.written)
    return _encoded(link, path + "/" * link_path(link).endswith("/"))


def relative(folder: str, target: str, written: str) -> str:
    """Return the path from `folder` to `target`, with `./` in front if `written` has `./`."""
    path = posixpath.relpath(target, folder)
    return f"./{path}" if written.startswith("./") and not path.startswith("../") else path


def _wiki(link: Link, source: str, target: str, files: FileTable) -> str | None:
    written = link_path(link)
    ending = next((end for end in WIKI_ENDINGS if target.lower().endswith(end)), "")
    if written.lower().endswith(ending):
        ending = ""
    short = target[: len(target) - len(ending)]
    if written.startswith(("./", "../")):
        choices = [relative(posixpath.dirname(source), short, written)]
    else:
        choices = [posixpath.basename(short)] if "/" not in written else []
        if (root := files.root_of(target)) is not None and is_below(target, root):
            path = posixpath.relpath(short, root)
            choices += [f"/{path}"] if written.startswith("/") else [path, f"/{path}"]
    for choice in choices:
        if _NOT_IN_WIKI.search(choice) or (link.context == "[" and not is_item(choice)):
            continue
        found = resolve_link(Link(link.kind, choice, link.start), source, files)
        if found is not None and found.targets == (target,):
            return quote_name(choice, link.context)
    return None


def _path(link: Link, old: ResolvedLink, source: str, target: str, files: FileTable) -> str | None:
    written = link_path(link)
    folder = posixpath.dirname(source)
    target = _package(written, old.targets[0], target, files) or target
    if old.base is not None and is_below(target, old.base):
        path = posixpath.relpath(target, old.base)
    else:
        path = posixpath.relpath(target, folder)
    path = _without_ending(path, written, old.targets[0], link.kind)
    if link.kind is LinkKind.JAVASCRIPT and not written.startswith((".", "/")):
        if old.base is not None and is_below(target, old.base):
            return None if _NOT_IN_STRING.search(path) else old.lead + path
        # An alias of one file does not show whether the ending is written.
        path = path if old.base is not None else posixpath.splitext(path)[0]
    return _like_written(link, written, path)


def _package(written: str, old: str, target: str, files: FileTable) -> str | None:
    """Return the package folder that means the script `target`.

    The result is None unless `written` named `old` by a folder.
    """
    name = posixpath.basename(posixpath.normpath(written))
    if name not in (".", "..") and (f"/{name}/" not in old or _parted(old)[0] == name):
        return None
    folders = files.ancestors(target)
    return next((folder for folder in folders if main_script(folder, files) == target), None)


def _parted(path: str) -> tuple[str, str]:
    """Return the name of a file and its ending. Declarations of TypeScript have an ending of two
    parts.
    """
    stem, ending = posixpath.splitext(posixpath.basename(path))
    return (stem[:-2], f".d{ending}") if stem.endswith(".d") else (stem, ending)


def _like_written(link: Link, written: str, path: str) -> str | None:
    """Return `path` with the prefix of `written`, such as `./`."""
    if written.startswith("/"):
        if path.startswith("../"):
            return None
        path = f"/{path}"
    elif not path.startswith("../") and (
        written.startswith("./") or link.kind is LinkKind.JAVASCRIPT
    ):
        path = f"./{path}" if path != "." else "./"
    if link.kind in (LinkKind.MARKDOWN, LinkKind.ANGLE):
        return _encoded(link, path)
    return None if _NOT_IN_STRING.search(path) else path


def _without_ending(path: str, written: str, old: str, kind: LinkKind) -> str:
    """Return `path` without the ending that `written` left out or changed when it meant `old`."""
    for left_out in PATH_ENDINGS[kind]:
        if left_out and _is_written(written, old, left_out):
            ending = posixpath.splitext(left_out)[1]
            return _cut(path, left_out) if f"/{path}".endswith(left_out) else _cut(path, ending)
    old_stem, old_ending = _parted(old)
    stem, ending = posixpath.splitext(posixpath.basename(written))
    folder, name = posixpath.split(path)
    if f"_{stem}" == old_stem and name.startswith("_"):  # a partial of Sass
        name = name.removeprefix("_").removesuffix("" if ending else old_ending)
    elif stem == old_stem and ending and ending != old_ending and name.endswith(old_ending):
        name = name.removesuffix(old_ending) + ending  # a script, by its compiled output
    return posixpath.join(folder, name)


def _cut(path: str, ending: str) -> str:
    """Return `path` without `ending`, which may be a whole index file (`/index.ts`)."""
    return f"./{path}".removesuffix(ending).removeprefix("./")


def _is_written(written: str, old: str, left_out: str) -> bool:
    name = posixpath.basename(posixpath.normpath(written))
    if left_out.startswith("/"):
        # `./` and `..` name a folder too.
        folder = old.removesuffix(left_out)
        return folder != old and (name in (".", "..") or folder.endswith(f"/{name}"))
    return posixpath.basename(old) == name + left_out


def _encoded(link: Link, path: str) -> str:
    """Return `path` as a URL. Keep the spelling of its last part while the part is the same."""
    reserved = _IN_ANGLE if link.kind is LinkKind.ANGLE and "%" not in link.written else _IN_URL
    encoded = reserved.sub(lambda found: quote(found[0], safe=""), path)
    if re.search(r"%[89a-fA-F]", link.written):
        encoded = _NOT_ASCII.sub(lambda found: quote(found[0]), encoded)
    written_folder, _, written_name = link.written.rpartition("/")
    folder, slash, name = path.rpartition("/")
    if written_name and posixpath.basename(link_path(link)) == name:
        n_same = len(encoded.rpartition("/")[0]) + len(slash)
        same = link_path(link).rpartition("/")[0] == folder and written_folder
        return link.written if same else encoded[:n_same] + written_name
    return encoded


def write_module_name(written: str, base: str | None, source: str, target: str) -> str | None:
    """Return the name of the Python module `target`. The name is relative if `written` is, else
    from the folder `base`.
    """
    if base is not None and not is_below(target, base):
        return None
    stem = re.sub(r"(?:/__init__)?\.pyi?\Z", "", target)
    if base is not None:
        name = posixpath.relpath(stem, base).replace("/", ".")
        return name if _are_names(name) else None
    if not written.startswith("."):
        return None
    path = posixpath.relpath(stem, posixpath.dirname(source))
    parts = [part for part in path.split("/") if part != "."]
    n_up = parts.count("..")
    name = ".".join(parts[n_up:])
    return "." * (n_up + 1) + name if not name or _are_names(name) else None


def _are_names(name: str) -> bool:
    return all(_NAME.match(part) for part in name.split("."))


def _jvm(written: str, old: ResolvedLink, target: str) -> str | None:
    if old.base is None or not is_below(target, old.base):
        return None
    was = posixpath.splitext(posixpath.relpath(old.targets[0], old.base))[0].replace("/", ".")
    name = posixpath.splitext(posixpath.relpath(target, old.base))[0].replace("/", ".")
    return name + written.removeprefix(was) if _are_names(name) else None


def _rust(link: Link, old: ResolvedLink, source: str, target: str, files: FileTable) -> str | None:
    if link.kind is LinkKind.RUST_MOD:
        folder, name = posixpath.split(re.sub(r"(?:/mod)?\.rs\Z", "", target))
        is_there = folder in rust_module_folders(link, source, files)
        return name if is_there and _NAME.match(name) else None
    lead = link.context.split("::") if link.context else []
    parts = [*lead, *link.written.split("::")]
    crates = files.crates.get(parts[0], ())
    is_named = old.base in [posixpath.dirname(files.crate_root(crate)) for crate in crates]
    base, names = old.base, parts[:1] if is_named else []
    if parts[0] in RUST_KEYWORDS or base is None or rust_module_path(target, base) is None:
        base, names = rust_crate_folder(source, files), ["crate"]
    if old.base is None or base is None:
        return None
    was, now = rust_module_path(old.targets[0], old.base), rust_module_path(target, base)
    if was is None or now is None:
        return None
    n_parts = sum(part in RUST_KEYWORDS for part in parts) + is_named + len(was)
    full = [*names, *now, *parts[n_parts:]]
    # The other members of the group share the path before the group.
    same, name = full[: len(lead)], "::".join(full[len(lead) :])
    return name if name and same == lead else None
