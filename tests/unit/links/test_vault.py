"""The notes in `vault/`, against tables written by hand. `private/` is a wall."""

from pathlib import Path

import pytest

from stet.links.dead_links import DeadLinkChecker
from stet.links.link_scan import LinkGraph, scan_links
from stet.notes.note_content import tags_in
from stet.settings.values import ContextSettings, Settings
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import uri_of
from tests.support.workspaces import make_workspace

VAULT = Path(__file__).parent / "vault"
CAFE = "Cafe\u0301.md"
HIDDEN = Settings(context=ContextSettings(excluded_folders=("private",)))
DEAD, UNREAD = "dead", "there, but no text that is shown"

LINKS: dict[str, list[tuple[str, str]]] = {
    "Home.md": [
        ("Garden", "Garden.md"),
        ("Garden", "Garden.md"),
        ("garden", "Garden.md"),
        ("Garden", "Garden.md"),
        ("Garden", "Garden.md"),
        ("Garden.md", "Garden.md"),
        ("plants/Rose", "plants/Rose.md"),
        ("ROSE", "plants/Rose.md"),
        ("Note", "Note.md"),
        ("tools/Note", "tools/Note.md"),
        ("/plants/Note", "plants/Note.md"),
        ("../Home", DEAD),
        ("rose.png", UNREAD),
        ("media/rose.png", UNREAD),
        ("plants/", UNREAD),
        ("plants/Rose.md", "plants/Rose.md"),
        ("/plants/Tulip%20red.md", "plants/Tulip red.md"),
        ("plants/Tulip red.md", "plants/Tulip red.md"),
        ("./plants/Rose.md", "plants/Rose.md"),
        ("Missing", DEAD),
        ("plants/none.md", DEAD),
        ("gone.png", DEAD),
        ("private/Diary.md", UNREAD),
        ("Diary", DEAD),
        ("Garden", "Garden.md"),
    ],
    "Garden.md": [
        ("Start", "Home.md"),
        ("front, PAGE", "Home.md"),
        ("Rosa", "plants/Rose.md"),
        ("Queen of the night", "plants/Tulip red.md"),
    ],
    "Note.md": [("Home", "Home.md")],
    "plants/Note.md": [
        ("Note", "Note.md"),
        ("Rose", "plants/Rose.md"),
        ("Tulip red", "plants/Tulip red.md"),
        ("../Home.md", "Home.md"),
        ("Rose", "plants/Rose.md"),
        ("Home.md", "Home.md"),
    ],
    "plants/Rose.md": [
        ("Home", "Home.md"),
        ("./Note", "plants/Note.md"),
        ("../Note", "Note.md"),
        ("Log", "plants/old/Log.md"),
    ],
    "plants/Tulip red.md": [
        ("old/Log", "plants/old/Log.md"),
        ("Bob's", "plants/Tulip red.md"),
        ("Tulip%20red.md", "plants/Tulip red.md"),
    ],
    "plants/old/Log.md": [
        ("Log", "plants/old/Log.md"),
        ("Note", "Note.md"),
        ("../../Garden.md", "Garden.md"),
    ],
    "tools/Log.md": [("Log", "tools/Log.md"), ("Spade", "tools/Spade.md")],
    "tools/Note.md": [
        ("Caf\u00e9", CAFE),
        ("日記", "日記.md"),
        ("%F0%9F%8E%89.md", "tools/🎉.md"),
        ("🎉", "tools/🎉.md"),
    ],
    "tools/Spade.md": [
        ("Note.md", "tools/Note.md"),
        ("../Home.md", "Home.md"),
        ("../Garden.md", "Garden.md"),
        ("../media/rose.png", UNREAD),
    ],
    CAFE: [("Spade", "tools/Spade.md")],
    "日記.md": [("cafe\u0301", CAFE), ("🎉", "tools/🎉.md")],
    "tools/🎉.md": [("Home", "Home.md")],
    "Alone.md": [],
    "private/Diary.md": [],
}
BACKLINKS = {
    "Home.md": [
        *["Garden.md", "Garden.md", "Note.md", "plants/Note.md", "plants/Note.md"],
        *["plants/Rose.md", "tools/Spade.md", "tools/🎉.md"],
    ],
    "Garden.md": [*["Home.md"] * 7, "plants/old/Log.md", "tools/Spade.md"],
    "Note.md": ["Home.md", "plants/Note.md", "plants/Rose.md", "plants/old/Log.md"],
    "plants/Note.md": ["Home.md", "plants/Rose.md"],
    "plants/Rose.md": ["Garden.md", *["Home.md"] * 4, "plants/Note.md", "plants/Note.md"],
    "plants/Tulip red.md": ["Garden.md", "Home.md", "Home.md", "plants/Note.md"],
    "plants/old/Log.md": ["plants/Rose.md", "plants/Tulip red.md"],
    "tools/Log.md": [],
    "tools/Note.md": ["Home.md", "tools/Spade.md"],
    "tools/Spade.md": [CAFE, "tools/Log.md"],
    CAFE: ["tools/Note.md", "日記.md"],
    "日記.md": ["tools/Note.md"],
    "tools/🎉.md": ["tools/Note.md", "tools/Note.md", "日記.md"],
    "Alone.md": [],
    "private/Diary.md": [],
}
TAGS = {
    "Home.md": ("index", "Area/Home"),
    "Garden.md": ("area/garden", "Area/Home"),
    "Note.md": ("area/garden/beds",),
    "plants/Rose.md": ("flower", "y2024"),
    "plants/Tulip red.md": ("flower", "red"),
    CAFE: ("caf\u00e9",),
    "tools/🎉.md": ("🎉",),
}


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    """The vault as it lies on the disk, in memory."""
    files: dict[str, str | bytes] = {
        f"/ws/{path.relative_to(VAULT).as_posix()}": path.read_bytes()
        for path in VAULT.rglob("*")
        if path.is_file()
    }
    return make_workspace(files, settings=HIDDEN).snapshot()


@pytest.fixture(scope="module")
def scan(snapshot: Snapshot) -> LinkGraph:
    """Its links."""
    return scan_links(snapshot)


def uri(name: str) -> str:
    return uri_of(Path("/ws") / name)


@pytest.mark.parametrize("name", LINKS)
def test_links_lead_where_a_reader_would_go(name: str, snapshot: Snapshot, scan: LinkGraph) -> None:
    dead = DeadLinkChecker(snapshot, scan)
    found = [
        (
            edge.link.written,
            *(map(snapshot.name_of, edge.targets)),
            *(() if edge.targets else (DEAD if dead.is_dead(edge) else UNREAD,)),
        )
        for edge in scan.outgoing(uri(name))
    ]
    assert found == LINKS[name]


@pytest.mark.parametrize("name", BACKLINKS)
def test_backlinks_are_the_links_of_the_others(
    name: str, snapshot: Snapshot, scan: LinkGraph
) -> None:
    sources = [snapshot.name_of(edge.source) for edge in scan.backlinks(uri(name))]
    assert sorted(sources) == sorted(BACKLINKS[name])


def test_tags_are_those_of_the_notes_that_are_shown(snapshot: Snapshot) -> None:
    found = {
        located.name: tags
        for located in snapshot.walk()
        if (tags := tags_in(snapshot.show(located.uri).text))
    }
    assert found == TAGS


def test_neighbours_are_reached_step_by_step(snapshot: Snapshot, scan: LinkGraph) -> None:
    def near(name: str, depth: int) -> list[str]:
        return [snapshot.name_of(each) for each in scan.neighbours(uri(name), depth)]

    assert near("tools/Log.md", 1) == ["tools/Spade.md"]
    assert near("tools/Log.md", 2)[1:] == [CAFE, "Garden.md", "Home.md", "tools/Note.md"]
    everything = sorted(LINKS.keys() - {"tools/Log.md", "Alone.md", "private/Diary.md"})
    assert sorted(near("tools/Log.md", 3)) == everything
    assert near("Alone.md", 3) == near("private/Diary.md", 3) == []
