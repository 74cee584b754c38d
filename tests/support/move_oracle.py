"""Texts of a workspace after a file was moved in it."""

from collections.abc import Collection, Mapping

from stet.links.build_files import is_build, read_build
from stet.links.file_table import FileTable
from stet.links.link_rewrites import rewrite_links
from stet.links.links import find_links
from stet.text.edit import TextEdit

World = dict[str, str]


def move(
    world: Mapping[str, str], old: str, new: str, others: Collection[str] = ()
) -> tuple[World, list[tuple[str, str]]]:
    """Return the texts after a move, and the links left unchanged; `others` exist on the disk too.

    Names are relative to `/ws`.
    """
    builds = {
        f"/ws/{name}": read_build(text, name) for name, text in world.items() if is_build(name)
    }
    files = FileTable(frozenset(f"/ws/{name}" for name in world), ("/ws",), builds=builds)
    links = {f"/ws/{name}": find_links(text, name) for name, text in world.items()}
    there = {f"/ws/{name}" for name in others}
    found = rewrite_links(links, files, f"/ws/{old}", f"/ws/{new}", there.__contains__)
    after = {
        new if name == old else name: TextEdit(found.edits.get(f"/ws/{name}", ())).apply(text)
        for name, text in world.items()
    }
    return after, [(path.removeprefix("/ws/"), link.written) for path, link in found.left]
