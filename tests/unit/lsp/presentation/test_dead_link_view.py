"""Marks of dead links: where they are put, and how they follow a text."""

from dataclasses import replace

from stet.links.link_scan import LinkCache
from stet.lsp.presentation.dead_link_view import (
    MAX_MARKS,
    DeadLinkMark,
    DeadLinkScope,
    find_marks,
    rebase_marks,
    relocate_marks,
)
from stet.text.edit import TextChange
from stet.text.encoding import Encoding
from stet.text.position import Position, Range
from tests.support.workspaces import make_workspace

FILES: dict[str, str | bytes] = {
    "/ws/a.md": "x\n\U0001f600 [[Guid]]\n",
    "/ws/docs/guide.md": "[[a]]\n[gone](none.md)\n",
    "/ws/docs/in/b.md": "[[zzz]]\n",
}
ALL = frozenset({DeadLinkScope()})


def found(*scopes: DeadLinkScope) -> dict[str, list[str]]:
    """The messages of each document, and under "" why something was not looked through."""
    snapshot = make_workspace(FILES).snapshot()
    marked, missing = find_marks(snapshot, LinkCache(), scopes, Encoding.UTF16)
    texts = {snapshot.name_of(each.uri): [mark.message for mark in each.marks] for each in marked}
    return texts | ({"": missing} if missing else {})


GUID = ["'Guid' does not exist. Similar: docs/guide.md."]
NONE, ZZZ = ["'none.md' does not exist."], ["'zzz' does not exist."]


def test_dead_links_are_searched_in_the_given_scope() -> None:
    world = make_workspace(FILES)
    docs = DeadLinkScope(folder=world.snapshot().locate("docs").path)
    everything = {"a.md": GUID, "docs/guide.md": NONE, "docs/in/b.md": ZZZ}
    assert found(DeadLinkScope()) == everything
    assert found(docs) == {"docs/guide.md": NONE, "docs/in/b.md": ZZZ}
    assert found(docs, DeadLinkScope("file:///ws/a.md")) == everything
    assert found(DeadLinkScope("file:///ws/a.md"), DeadLinkScope("file:///ws/no.md")) == {
        "a.md": GUID,
        "": ["There is no file 'no.md'."],
    }


def test_diagnostic_counts_columns_as_the_editor_does() -> None:
    world = make_workspace(FILES, opened={"/ws/a.md": "\U0001f600 [[Guid]]"})
    (marked,), _ = find_marks(
        world.snapshot(), LinkCache(), [DeadLinkScope("file:///ws/a.md")], Encoding.UTF16
    )
    (mark,) = marked.marks
    assert (mark.line, mark.start, mark.end) == (0, 5, 9)
    assert marked.revision == world.revision("file:///ws/a.md")


def test_dead_links_are_limited() -> None:
    world = make_workspace({"/ws/a.md": "[[gone]]\n" * (MAX_MARKS + 10)})
    (marked,), _ = find_marks(world.snapshot(), LinkCache(), ALL, Encoding.UTF16)
    assert len(marked.marks) == MAX_MARKS


MARK = DeadLinkMark(line=3, text="[[x]]\n", start=2, end=3, message="", written="x")


def test_diagnostic_follows_its_line_until_it_changes() -> None:
    def after(first: Position, last: Position, text: str) -> list[int]:
        return [mark.line for mark in rebase_marks((MARK,), [TextChange(Range(first, last), text)])]

    assert after(Position(0, 0), Position(0, 0), "a\nb\n") == [5]
    assert after(Position(1, 0), Position(2, 0), "") == [2]
    assert after(Position(4, 0), Position(4, 1), "z") == [3]
    assert after(Position(3, 2), Position(3, 3), "y") == []
    assert after(Position(2, 0), Position(4, 0), "") == []


def test_diagnostic_moves_to_the_nearest_equal_line() -> None:
    lines = ["[[x]]\n", "a\n", "[[x]]\n", "b\n", "c\n", "[[x]]\n"]
    assert [mark.line for mark in relocate_marks([MARK, replace(MARK, line=9)], lines)] == [2, 5]
    assert list(relocate_marks([MARK], ["a\n"])) == []
