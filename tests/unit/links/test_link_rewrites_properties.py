"""Whatever is moved, every link means the same file: workspaces drawn at random."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.links.file_table import FileTable
from stet.links.link_resolver import resolve_link
from stet.links.links import find_links
from tests.support.move_oracle import World, move

# Properties. Links are written as Stet itself writes them: another spelling of a path is not kept.
FOLDERS = st.sampled_from(["", "x/", "x/y/", "z/"])
WORLD_NAMES = ["a.md", "b.md", "c d.md", "\u00e9.md", "(f).md"]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Notes of different names in folders, with links of every style between each other."""
    names = [draw(FOLDERS) + name for name in WORLD_NAMES]
    world: World = {}
    for source in names:
        pieces = []
        for _ in range(draw(st.integers(0, 4))):
            target = draw(st.sampled_from(names))
            pieces.append(
                draw(st.sampled_from(["text \u2028 ", "`[[a]]` ", "\r\n", "\n\n", "[x] "]))
            )
            pieces.append(draw(st.sampled_from([_wiki, _named, _relative, _angle]))(source, target))
        world[source] = "".join(pieces)
    return world


def _wiki(source: str, target: str) -> str:
    return f"[[{target.rpartition('/')[2].removesuffix('.md')}#h|alias]]"


def _named(source: str, target: str) -> str:
    return f"![[{target.removesuffix('.md')}]]" if "/" in target else _wiki(source, target)


def _relative(source: str, target: str) -> str:
    path = _path(source, target).replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return f"[t]({path}#frag 'title')"


def _angle(source: str, target: str) -> str:
    return f"![t](<{_path(source, target)}>)"


def _path(source: str, target: str) -> str:
    ups = source.count("/")
    shared = 0
    one, other = source.split("/")[:-1], target.split("/")[:-1]
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return "../" * (ups - shared) + "/".join(target.split("/")[shared:])


@pytest.mark.slow
@given(worlds(), st.data())
def test_a_move_there_and_back_gives_the_same_bytes(world: World, data: st.DataObject) -> None:
    old = data.draw(st.sampled_from(sorted(world)))
    # Not to the top: `[[x/a]]` is `[[a]]` there, and a bare name it stays.
    folder = data.draw(FOLDERS.filter(bool))
    new = folder + data.draw(st.sampled_from([old.rpartition("/")[2], "new n.md"]))
    if new in world:
        return
    there, left = move(world, old, new)
    assert left == []
    assert move(there, new, old) == (world, [])


@pytest.mark.slow
@given(worlds(), st.data())
def test_a_move_changes_links_only_and_every_link_means_the_same_file(
    world: World, data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(sorted(world)))
    new = data.draw(FOLDERS) + data.draw(st.sampled_from(["b.md", "new n.md"]))
    if new in world:
        return
    after, left = move(world, old, new)
    assert left == []
    for name, text in world.items():
        now = new if name == old else name
        assert _without_links(after[now], now) == _without_links(text, name)
        assert _meanings(after, now) == [
            [new if target == old else target for target in targets]
            for targets in _meanings(world, name)
        ]


def _without_links(text: str, name: str) -> list[str]:
    pieces, done = [], 0
    for link in find_links(text, name):
        pieces.append(text[done : link.start])
        done = link.end
    return [*pieces, text[done:]]


def _meanings(world: World, name: str) -> list[list[str]]:
    files = FileTable(frozenset(f"/ws/{each}" for each in world), ("/ws",))
    found = (resolve_link(link, f"/ws/{name}", files) for link in find_links(world[name], name))
    return [[path.removeprefix("/ws/") for path in each.targets] if each else [] for each in found]
