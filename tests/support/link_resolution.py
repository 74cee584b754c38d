"""Resolution of links in a workspace that has build files."""

from stet.links.build_files import read_build
from stet.links.file_table import FileTable
from stet.links.link_resolver import resolve_link
from stet.links.links import find_links


def built(source: str, text: str, *files: str, **builds: str) -> list[str]:
    """Return the files that the first link of `text` means; `a__go_mod="..."` is `a/go.mod`."""
    read = {
        f"/ws/{name}": read_build(message, name)
        for key, message in builds.items()
        for name in [key.replace("__", "/").replace("_", ".")]
    }
    paths = frozenset(f"/ws/{name}" for name in (source, *files)) | read.keys()
    link = find_links(text, source)[0]
    found = resolve_link(link, f"/ws/{source}", FileTable(paths, ("/ws",), builds=read))
    return [] if found is None else [path.removeprefix("/ws/") for path in found.targets]
