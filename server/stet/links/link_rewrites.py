"""The effects of a file move on the links of the workspace: which links are rewritten, and how.

Every link is resolved twice: before the move, to find its target, and after the move, to check that
the target is still the same. So links to the file, links of the file, and links that the new name
would capture are one case. A link that still has the right target is not changed.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stet.links.file_table import FileTable
from stet.links.link import Link, LinkKind, ResolvedLink
from stet.links.link_resolver import FROM_ABOVE, PATH_ENDINGS, Exists, existing_target, resolve_link
from stet.links.link_writer import write_link, write_module_name, write_url
from stet.links.module_resolver import resolve_module
from stet.text.edit import Replacement
from stet.text.unicode_normal import fold_name


@dataclass(frozen=True, slots=True)
class LinkRewrites:
    """The links that a move breaks.

    Attributes:
        edits: The replacements in each file, by the path of the file before the move.
        left: Links that lose their target and can't be rewritten, each with the path of its file.
    """

    edits: Mapping[str, tuple[Replacement, ...]]
    left: tuple[tuple[str, Link], ...]


@dataclass(frozen=True, slots=True)
class FileMove:
    """The move of one file to another path.

    Attributes:
        old: The old path.
        new: The new path.
        before: The files before the move.
        after: The files after the move.
        exists: Whether a file exists at a path that is not among these files.
    """

    old: str
    new: str
    before: FileTable
    after: FileTable
    exists: Exists

    def moved(self, path: str) -> str:
        """Return where the file `path` is after the move."""
        return self.new if path == self.old else path


def rewrite_links(
    links: Mapping[str, Sequence[Link]], files: FileTable, old: str, new: str, exists: Exists
) -> LinkRewrites:
    """Return the edits of links for the move of the file `old` to `new`.

    Args:
        links: The links of every file, by path, in order of position.
        files: All files, before the move.
        old: The file's path before the move.
        new: The file's path after the move.
        exists: As in `FileMove`.
    """
    move = FileMove(old, new, files, files.moved(old, new), exists)
    edits: dict[str, tuple[Replacement, ...]] = {}
    left: list[tuple[str, Link]] = []
    for source, found in links.items():
        mine: list[Replacement] = []
        for part in _statements(found):
            if len(part) > 1:
                targets = _rewrite_from_import(part, source, move)
            else:
                targets = _rewrite_link(part[0], source, move)
            if targets is None:
                left.append((source, part[0]))
            else:
                mine += targets
        if mine:
            edits[source] = tuple(mine)
    return LinkRewrites(edits, tuple(left))


def _statements(links: Iterable[Link]) -> Iterator[list[Link]]:
    """Yield each link as a list of one, but a `from ... import` together with its names."""
    part: list[Link] = []
    for link in links:
        if part and link.kind is not LinkKind.PYTHON_NAME:
            yield part
            part = []
        part.append(link)
    if part:
        yield part


def _rewrite_link(link: Link, source: str, move: FileMove) -> list[Replacement] | None:
    """Return the edits of one link: none if it stays right, None if it can't be rewritten."""
    place = move.moved(source)
    before = resolve_link(link, source, move.before)
    if before is None:
        return _rewrite_relative_targets(link, source, move)
    targets = tuple(move.moved(target) for target in before.targets)
    after = resolve_link(link, place, move.after)
    if (
        _still_means(link, before, after, targets)
        and not _is_detour(link, before, source, move)
        and not _is_misspelt(link, before, source, move)
    ):
        return []
    if link.kind is LinkKind.GO or len(targets) > 1:
        # A package is a folder: it stays where it is unless it has lost its last file.
        return [] if after is not None else None
    new = write_link(link, before, place, targets[0], move.after)
    if new is None or not _leads_to(replace(link, written=new), place, targets[0], move.after):
        return None
    return [] if new == link.written else [Replacement(link.start, link.end, new)]


def _still_means(
    link: Link, before: ResolvedLink, after: ResolvedLink | None, targets: tuple[str, ...]
) -> bool:
    """Return whether an unchanged link still has the same target.

    A path must be relative to the same folder as before: other programs may not find the target
    from another folder.
    """
    if after is None or set(after.targets) != set(targets):
        return False
    if link.kind not in PATH_ENDINGS or before.base == after.base:
        return True
    return before.base is not None and after.base is None and link.kind not in FROM_ABOVE


def _is_detour(link: Link, before: ResolvedLink, source: str, move: FileMove) -> bool:
    """Return whether a relative path, shortest before, now leads out of its folder and back in.

    The path still means the right file, but moving the file back would not restore the old text.
    """
    if source != move.old or link.kind not in PATH_ENDINGS or before.base is not None:
        return False
    return write_link(link, before, source, before.targets[0], move.before) == link.written


def _is_misspelt(link: Link, before: ResolvedLink, source: str, move: FileMove) -> bool:
    """Return whether a path is right only by the old case or Unicode form of a name that changed:
    the name of its target, or of the folder of the moved file.

    Such a path works on this disk, but not on other disks and on the web.
    """
    if fold_name(move.old) != fold_name(move.new) or link.kind not in PATH_ENDINGS:
        return False
    is_other_folder = posixpath.dirname(move.old) != posixpath.dirname(move.new)
    is_in_moved_file = source == move.old and before.base is None and is_other_folder
    return is_in_moved_file or move.old in before.targets


def _leads_to(link: Link, source: str, target: str, files: FileTable) -> bool:
    found = resolve_link(link, source, files)
    return found is not None and found.targets == (target,)


def _rewrite_relative_targets(link: Link, source: str, move: FileMove) -> list[Replacement]:
    """Rewrite the moved file's relative links to targets outside the file table, such as images."""
    if source != move.old:
        return []
    target = existing_target(link, source, move.before, move.exists)
    if target is None:
        return []
    new = write_url(link, move.new, target)
    return [] if new == link.written else [Replacement(link.start, link.end, new)]


def _rewrite_from_import(part: list[Link], source: str, move: FileMove) -> list[Replacement] | None:
    """Rewrite `from module import names`, like `_rewrite_link`; all names need the same module.

    A name that is not a module belongs to the module's file.
    """
    module, *names = part
    resolved = ((name, resolve_module(name, source, move.before)) for name in names)
    targets = [
        _ImportTarget(name, move.moved(found.targets[0]), found.base)
        for name, found in resolved
        if found
    ]
    was = resolve_module(module, source, move.before)
    if was is not None and len(targets) < len(names):
        targets.append(_ImportTarget(module, move.moved(was.targets[0]), was.base))
    place = move.moved(source)
    if all(_leads_to(each.link, place, each.target, move.after) for each in targets):
        return []
    prefixes: set[str | None] = set()
    edits: list[Replacement] = []
    for each in targets:
        full = write_module_name(module.written, each.base, place, each.target)
        prefix, last = (full, "") if each.link is module else _split(full)
        prefixes.add(prefix)
        if last and last != each.link.written:
            new = last if each.link.renamed else f"{last} as {each.link.written}"
            edits.append(Replacement(each.link.start, each.link.end, new))
    (prefix, *others) = prefixes
    if prefix is None or others:
        return None
    if prefix != module.written:
        edits.append(Replacement(module.start, module.end, prefix))
    return edits


@dataclass(frozen=True, slots=True)
class _ImportTarget:
    """The required target and the base folder of a part of a `from ... import` after the move."""

    link: Link
    target: str
    base: str | None


def _split(module: str | None) -> tuple[str | None, str]:
    """Split `..a.b` into `..a` and `b`. The package is None if the module has no package."""
    if module is None:
        return None, ""
    lead = module[: len(module) - len(module.lstrip("."))]
    prefix, _, last = module[len(lead) :].rpartition(".")
    return (lead + prefix or None) if last else None, last
