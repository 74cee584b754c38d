"""The link graph of a workspace by a plain scan."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.links.link_scan import LinkCache, LinkGraph, scan_links
from stet.notes.note_content import aliases_in
from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.workspace.workspace import Workspace
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import make_workspace, open_document


def scan(world: Workspace, cache: LinkCache | None = None) -> LinkGraph:
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
    graph = scan(make_workspace(NOTES))
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
    assert names(scan(make_workspace(NOTES)).neighbours("file:///ws/a.md", depth)) == found


@pytest.mark.parametrize(
    "settings",
    [
        Settings(context=ContextSettings(excluded_folders=("sub",))),
        Settings(privacy=PrivacySettings(deny=("c.md",))),
    ],
)
def test_hidden_files_are_not_traversed(settings: Settings) -> None:
    graph = scan(make_workspace(NOTES, settings=settings))
    assert [names(edge.targets) for edge in graph.outgoing("file:///ws/b.md")] == [[]]
    assert names(graph.neighbours("file:///ws/a.md", 3)) == ["b.md", "e.md"]
    assert graph.outgoing("file:///ws/sub/c.md") == ()
    assert graph.backlinks("file:///ws/d.md") == ()


def test_ignored_files_are_not_traversed() -> None:
    graph = scan(make_workspace({**NOTES, "/ws/.gitignore": "sub/\n"}))
    assert names(graph.neighbours("file:///ws/a.md", 3)) == ["b.md", "e.md"]


def test_links_are_read_from_unsaved_text() -> None:
    world = make_workspace(NOTES, opened={"/ws/d.md": "[[e]]"})
    assert names(scan(world).neighbours("file:///ws/d.md", 1)) == ["e.md", "sub/c.md"]


def test_aliases_of_front_matter_are_names() -> None:
    graph = scan(
        make_workspace(
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


@pytest.mark.parametrize(
    ("yaml", "names"),
    [
        ("aliases:\n  # the old name\n  - s\n  - t", ["s", "t"]),
        ("aliases: # two\n- s\n\n  # more\n- t # u\nb: v", ["s", "t"]),
        ("aliases:\r\n  - s\r\n\r\n  -\r\n  - t\r\nb: v", ["s", "t"]),
        ("aliases : [s]", ["s"]),
        ("'aliases' :\n  - s", ["s"]),
        ("aliases: [s, # one\n  t]", ["s", "t"]),
        ("aliases: [a long\n  name, a\r\n \tb ,\n  c]", ["a long name", "a b", "c"]),
        ("aliases:\n  [s, t]", ["s", "t"]),
        ("aliases: >-\n  a long\n  name\n\n  s, t\nb: v", ["a long name", "s", "t"]),
        ("alias: | # lines\n    s\n    t: '\n", ["s", "t: '"]),
        ("aliases:\n  - >-\n    a long\n    name\n  - t\n  - a plain\n    name", ["a long name", "t", "a plain name"]),
        ("aliases: a plain\n  name\nb: v", ["a plain name"]),
        ("aliases:\nb:\n- v", []),
        ("aliases:\n  # nothing\n\nb: v", []),
        ("aliases: 's, t'\nb: - v", ["s", "t"]),
        ("aliases: '# s'", ["# s"]),
    ],
)  # fmt: skip
def test_aliases_are_read_as_yaml(yaml: str, names: list[str]) -> None:
    assert aliases_in(f"---\na: b\n{yaml}\n---\n") == tuple(names)


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
    system.add_file("/ws/a.md", "[[d]]")
    assert names(scan(world, cache).neighbours("file:///ws/a.md", 1)) == ["d.md", "e.md"]
    open_document(world, "file:///ws/a.md", "[[sub/c]]")
    assert names(scan(world, cache).neighbours("file:///ws/a.md", 1)) == ["e.md", "sub/c.md"]


def test_graph_reuses_resolved_links_while_no_name_changes() -> None:
    system = MemorySystem(NOTES)
    world = Workspace(system)
    world.add_root("file:///ws")
    cache = LinkCache()
    first = scan(world, cache)
    assert names(first.neighbours("file:///ws/d.md", 1)) == ["sub/c.md"]
    assert scan(world, cache) is first
    system.time += 1
    system.add_file("/ws/a.md", "[[d]] [[d]] [[a]]")
    second = scan(world, cache)
    assert second.resolved["/ws/b.md"] is first.resolved["/ws/b.md"]
    assert [(e.source, e.link.start) for e in second.backlinks("file:///ws/d.md")] == [
        ("file:///ws/a.md", 2),
        ("file:///ws/a.md", 8),
        ("file:///ws/sub/c.md", 4),
    ]
    assert second.backlinks("file:///ws/b.md") == ()
    # The graph before says what it said.
    assert [e.source for e in first.backlinks("file:///ws/b.md")] == ["file:///ws/a.md"]
    assert [e.source for e in first.backlinks("file:///ws/d.md")] == ["file:///ws/sub/c.md"]
    system.add_file("/ws/nothing.md", "")
    system.add_file("/ws/a.md", "[[nothing]]")
    third = scan(world, cache)
    assert names(third.neighbours("file:///ws/nothing.md", 1)) == ["a.md"]


WORDS = st.lists(st.sampled_from(["[[a]]", "[[b]]", "[c](c.md)", "[[x]]", "[d](sub/d.md)"]))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", "sub/d"]), WORDS), max_size=12))
def test_updated_graph_equals_a_new_one(
    steps: list[tuple[str, list[str]]],
) -> None:
    system = MemorySystem({"/ws/a.md": "[[b]]", "/ws/c.md": "[[a]]"})
    world = Workspace(system)
    world.add_root("file:///ws")
    cache = LinkCache()
    uris = [f"file:///ws/{name}.md" for name in ("a", "b", "c", "sub/d")]
    for name, words in steps:
        system.time += 1
        system.add_file(f"/ws/{name}.md", " ".join(words))
        graph, anew = scan(world, cache), scan(world)
        for uri in uris:
            assert graph.outgoing(uri) == anew.outgoing(uri)
            assert graph.backlinks(uri) == anew.backlinks(uri)
            assert graph.neighbours(uri, 3) == anew.neighbours(uri, 3)


def test_build_files_are_read_and_followed() -> None:
    files = {
        "/ws/web/tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
        "/ws/web/src/x.ts": "import '@/y'\nimport '@/none'\n",
        "/ws/web/src/y.ts": "",
        "/ws/go.mod": "module x.org/p\n",
        "/ws/cmd/main.go": 'import (\n\t"x.org/p/in"\n\t"y.org/q/in"\n)\n',
        "/ws/in/a.go": "",
    }
    graph = scan(make_workspace(files))
    assert names(graph.neighbours("file:///ws/web/src/y.ts", 1)) == ["web/src/x.ts"]
    assert [names(e.targets) for e in graph.outgoing("file:///ws/cmd/main.go")] == [["in/a.go"], []]


def test_cache_drops_removed_files() -> None:
    system = MemorySystem(NOTES)
    world = Workspace(system)
    world.add_root("file:///ws")
    cache = LinkCache()
    scan(world, cache)
    assert "file:///ws/a.md" in cache.scanned
    system.remove("/ws/a.md")
    scan(world, cache)
    assert "file:///ws/a.md" not in cache.scanned


def test_several_roots_are_one_graph() -> None:
    files = {"/one/a.md": "[[b]] [c](../two/c.md)", "/two/b.md": "", "/two/c.md": "[[a]]"}
    graph = scan(make_workspace(files, roots=("/one", "/two")))
    assert graph.neighbours("file:///one/a.md", 1) == ("file:///two/b.md", "file:///two/c.md")
