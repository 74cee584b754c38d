"""Blocks of hunks in a text are not shown to a model."""

from stet.text.position import Position, Range
from stet.workspace.workspace import Workspace
from tests.support.workspaces import make_workspace, open_document, uri_at

BLOCK = "<<<<<<< yours\ntwo\n=======\n2\n>>>>>>> stet h1\n"
TEXT = f"one\n{BLOCK}three\n"
PLAIN = "one\ntwo\nthree\n"


def world(known: frozenset[str]) -> Workspace:
    """A file on the disk and an open one, each with a block in it."""
    workspace = make_workspace({"/ws/closed.py": TEXT})
    open_document(workspace, uri_at("/ws/open.py"), TEXT)
    uris = (uri_at("/ws/closed.py"), uri_at("/ws/open.py"))
    workspace.blocks = lambda: dict.fromkeys(uris, known)
    return workspace


def test_blocks_of_hunks_are_left_out_of_open_and_closed_files() -> None:
    workspace = world(frozenset({"h1"}))
    snapshot = workspace.snapshot()
    shown = [snapshot.show(uri_at(f"/ws/{name}.py")).text for name in ("open", "closed")]
    assert shown == [PLAIN, PLAIN]
    assert snapshot.document_with_blocks(uri_at("/ws/closed.py")).text == TEXT
    open_file = workspace.shown(uri_at("/ws/open.py"))
    assert open_file is not None
    assert open_file.text == PLAIN


def test_conflicts_of_the_users_own_are_shown_as_they_are() -> None:
    workspace = world(frozenset({"h2"}))
    assert workspace.snapshot().show(uri_at("/ws/open.py")).text == TEXT
    assert workspace.shown(uri_at("/ws/open.py")) == workspace.document(uri_at("/ws/open.py"))
    assert workspace.shown(uri_at("/ws/closed.py")) is None


def test_positions_in_the_text_are_mapped_to_the_shown_text() -> None:
    snapshot = world(frozenset({"h1"})).snapshot()
    document = snapshot.document(uri_at("/ws/open.py"))
    assert document is not None
    third = Range(Position(6, 0), Position(6, 5))
    assert snapshot.shown_range(document, third) == Range(Position(2, 0), Position(2, 5))
