"""The link graph of a workspace by a plain scan."""

import pytest

from stet.index.scan import LinkCache, ScannedLinks, scan_links
from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.system.memory_system import MemorySystem
from stet.workspace.workspace import Workspace
from tests.support.world import make_world, open_document


def scan(world: Workspace, cache: LinkCache | None = None) -> ScannedLinks:
    return scan_links(world.snapshot(), cache)


def names(uris: tuple[str, ...]) -> list[str]:
    return [uri.removeprefix("file:///ws/") for uri in uris]


NOTES = {
    "/ws/a.md": "[[b]] [[nothing]]",
    "/ws/b.md": "[c](sub/c.md)",
    "/ws/sub/c.md": "[d](../d.md)",
    "/ws/d.md": "",
    "/ws/e.md": "[[a]] [[a]]",
}


def test_links_are_answered_in_both_directions() -> None:
    graph = scan(make_world(NOTES))
    assert [(e.link.written, names(e.targets)) for e in graph.outgoing("file:///ws/a.md")] == [
        ("b", ["b.md"]),
        ("nothing", []),
    ]
    assert [(e.source, e.link.start) for e in graph.backlinks("file:///ws/%61.md")] == [
        ("file:///ws/e.md", 2),
        ("file:///ws/e.md", 8),
    ]
    assert graph.outgoing("file:///ws/none.md") == graph.backlinks("file:///ws/none.md") == ()


@pytest.mark.parametrize(
    ("depth", "found"),
    [(0, []), (1, ["b.md", "e.md"]), (2, ["b.md", "e.md", "sub/c.md"]),
     (3, ["b.md", "e.md", "sub/c.md", "d.md"])],
)  # fmt: skip
def test_a_neighbourhood_grows_by_steps_and_the_nearest_come_first(
    depth: int, found: list[str]
) -> None:
    assert names(scan(make_world(NOTES)).neighbours("file:///ws/a.md", depth)) == found


@pytest.mark.parametrize(
    "settings",
    [
        Settings(context=ContextSettings(excluded_folders=("sub",))),
        Settings(privacy=PrivacySettings(deny=("c.md",))),
    ],
)
def test_what_is_not_shown_is_a_wall(settings: Settings) -> None:
    graph = scan(make_world(NOTES, settings=settings))
    assert [names(edge.targets) for edge in graph.outgoing("file:///ws/b.md")] == [[]]
    assert names(graph.neighbours("file:///ws/a.md", 3)) == ["b.md", "e.md"]
    assert graph.outgoing("file:///ws/sub/c.md") == ()
    assert graph.backlinks("file:///ws/d.md") == ()


def test_ignored_files_are_walls_too() -> None:
    graph = scan(make_world({**NOTES, "/ws/.gitignore": "sub/\n"}))
    assert names(graph.neighbours("file:///ws/a.md", 3)) == ["b.md", "e.md"]


def test_the_text_in_the_editor_counts() -> None:
    world = make_world(NOTES, opened={"/ws/d.md": "[[e]]"})
    assert names(scan(world).neighbours("file:///ws/d.md", 1)) == ["e.md", "sub/c.md"]


def test_aliases_of_front_matter_are_names() -> None:
    graph = scan(
        make_world(
            {
                "/ws/a.md": "[[One]] [[two]] [[3]]",
                "/ws/b.md": "---\naliases: [One, 'two']\n---\n",
                "/ws/c.md": "---\nx: 1\nalias:\n  - '3'\n---\n",
            }
        )
    )
    assert [names(edge.targets) for edge in graph.outgoing("file:///ws/a.md")] == [
        ["b.md"],
        ["b.md"],
        ["c.md"],
    ]


def test_a_file_is_read_again_only_when_it_changed() -> None:
    read: list[str] = []

    class Watched(MemorySystem):
        def read_bytes(self, path: object, limit: int) -> bytes:
            read.append(str(path))
            return super().read_bytes(path, limit)  # type: ignore[arg-type]  # a path all the same

    system = Watched(NOTES)
    world = Workspace(system)
    world.add_root("file:///ws")
    cache = LinkCache()
    before = scan(world, cache)
    whole = read.count("/ws/a.md")
    read.clear()
    assert scan(world, cache).links == before.links
    assert read.count("/ws/a.md") < whole
    system.time += 1
    system.put("/ws/a.md", "[[d]]")
    assert names(scan(world, cache).neighbours("file:///ws/a.md", 1)) == ["d.md", "e.md"]
    open_document(world, "file:///ws/a.md", "[[sub/c]]")
    assert names(scan(world, cache).neighbours("file:///ws/a.md", 1)) == ["e.md", "sub/c.md"]


def test_a_cache_forgets_what_is_too_much() -> None:
    cache = LinkCache(size=2)
    scan(make_world(NOTES), cache)
    kept = [path for path in NOTES if cache.get(f"file://{path}", (1_700_000_000.0, 0))]
    assert kept == ["/ws/sub/c.md", "/ws/e.md"]


def test_several_roots_are_one_graph() -> None:
    files = {"/one/a.md": "[[b]] [c](../two/c.md)", "/two/b.md": "", "/two/c.md": "[[a]]"}
    graph = scan(make_world(files, roots=("/one", "/two")))
    assert graph.neighbours("file:///one/a.md", 1) == ("file:///two/b.md", "file:///two/c.md")
