"""Excluded folders: what is in one changes no answer, in either direction.

Two worlds are compared, with and without the files in excluded folders. Whatever can be asked of
links must be answered alike in both, so nothing of them shows, not even that they are there.
"""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.links.dead_links import dead_links, files_below
from stet.links.link_scan import LinkCache, scan_links
from stet.notes.note_content import tags_in
from stet.settings.values import ContextSettings, PrivacySettings, Settings
from tests.support.workspaces import make_workspace

SETTINGS = Settings(
    context=ContextSettings(excluded_folders=("wall", "b/wall")),
    privacy=PrivacySettings(deny=("denied*",)),
)
IGNORED = {"/ws/.gitignore": "ignored/\n"}
OPEN = ("one.md", "two.md", "a/one.md", "a/deep/three.md", "b/two.md", "b/code.py", "b/m.py")
WALLED = (
    *("wall/one.md", "wall/only.md", "wall/in/two.md", "b/wall/three.md", "b/wall/m.py"),
    *("ignored/only.md", "a/ignored/four.md", "denied.md", "a/denied too.md", ".env"),
)
NAMES = (*OPEN, *WALLED)


class GraphView(NamedTuple):
    """All answers about the links of a workspace."""

    links: dict[str, list[tuple[str, tuple[str, ...]]]]
    backlinks: dict[str, list[tuple[str, int]]]
    near: dict[str, tuple[str, ...]]
    dead: list[tuple[str, str, tuple[str, ...]]]
    tags: dict[str, tuple[str, ...]]


def view_of(files: dict[str, str | bytes], cache: LinkCache) -> GraphView:
    """Return the answers for a workspace of these files."""
    snapshot = make_workspace({**files, **IGNORED}, settings=SETTINGS).snapshot()
    scan = scan_links(snapshot, cache)
    uris = [f"file:///ws/{name.replace(' ', '%20')}" for name in NAMES]
    return GraphView(
        {uri: [(e.link.written, e.targets) for e in scan.outgoing(uri)] for uri in uris},
        {uri: [(e.source, e.link.start) for e in scan.backlinks(uri)] for uri in uris},
        {uri: scan.neighbours(uri, 3) for uri in uris},
        [
            (found.edge.source, found.edge.link.written, found.near)
            for found in dead_links(snapshot, scan, files_below(scan, ()))
        ],
        {file.name: tags_in(snapshot.show(file.uri).text) for file in snapshot.walk()},
    )


def written(name: str) -> st.SearchStrategy[str]:
    """A link that means `name`, or would from some folder."""
    last = name.rpartition("/")[2]
    ways = [
        f"[[{name}]]",
        f"[[{last.removesuffix('.md')}]]",
        f"![[{last}]]",
        f"[x](/{name})".replace(" ", "%20"),
        f"[x](<{name}>)",
        f"[x](<../{name}>)",
        f"[[{last[:-4]}]]",
        f"[[alias of {name}]]",
    ]
    return st.sampled_from(ways)


LINKS = st.lists(st.sampled_from(NAMES).flatmap(written), max_size=5)


def text_of(name: str, links: list[str]) -> str:
    """Return a note, or a module whose imports lead into an excluded folder."""
    if name.endswith(".py"):
        return "from .wall import m\nimport b.wall.m\nfrom . import code\n"
    front = f"---\naliases: [alias of {name}]\ntags: [front-{len(name)}]\n---\n"
    return f"{front}#tag-{len(name)} {' '.join(links)}\n"


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.fixed_dictionaries(dict.fromkeys(OPEN, LINKS)),
    st.dictionaries(st.sampled_from(WALLED), LINKS, min_size=1),
)
def test_links_in_an_excluded_folder_are_not_reported(
    visible: dict[str, list[str]], hidden: dict[str, list[str]]
) -> None:
    bare: dict[str, str | bytes] = {f"/ws/{n}": text_of(n, links) for n, links in visible.items()}
    full = bare | {f"/ws/{n}": text_of(n, links) for n, links in hidden.items()}
    cache = LinkCache()
    first = view_of(full, cache)
    assert first == view_of(bare, LinkCache())
    assert first == view_of(full, cache)


def test_folder_excluded_between_scans_is_left_out_at_once() -> None:
    files = {"/ws/one.md": "[[only]]", "/ws/wall/only.md": "[[two]]", "/ws/two.md": ""}
    cache = LinkCache()
    without = scan_links(make_workspace(files).snapshot(), cache)
    assert without.neighbours("file:///ws/one.md", 2) == (
        "file:///ws/wall/only.md",
        "file:///ws/two.md",
    )
    excluding = scan_links(make_workspace(files, settings=SETTINGS).snapshot(), cache)
    assert excluding.neighbours("file:///ws/one.md", 3) == ()
    assert excluding.backlinks("file:///ws/two.md") == ()
