"""What is reported as a move: another document, another selection; never a bare cursor or
typing.
"""

from collections.abc import Callable

import pytest

from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource
from stet.workspace.workspace import Workspace
from tests.support.workspaces import (
    change,
    close_document,
    insertion,
    make_workspace,
    open_document,
)

A, B = "file:///ws/a.py", "file:///ws/b.py"


def span(start: int, end: int) -> Range:
    return Range(Position(0, start), Position(0, end))


def type_in_a(world: Workspace) -> None:
    world.apply(change(insertion(0, 0, "x"), uri=A))


MOVES: dict[str, tuple[int, Callable[[Workspace], None]]] = {
    "another focus": (1, lambda world: world.activity.focus(B)),
    "no focus": (1, lambda world: world.activity.focus(None)),
    "the same focus": (0, lambda world: world.activity.focus(A)),
    "a selection": (
        1,
        lambda world: world.activity.select(A, [span(0, 3)], ActivitySource.NOTIFIED),
    ),
    "a cursor": (0, lambda world: world.activity.select(A, [span(2, 2)], ActivitySource.NOTIFIED)),
    "an inferred cursor": (0, lambda world: world.activity.touched(A, span(1, 1))),
    "an inferred selection": (1, lambda world: world.activity.touched(A, span(0, 3))),
    "typing": (0, type_in_a),
    "a document that opens": (1, lambda world: open_document(world, "file:///ws/c.py", "")),
    "a document that closes": (1, lambda world: close_document(world, B)),
}


@pytest.mark.parametrize("name", MOVES)
def test_event_is_reported_if_it_moves_the_user(name: str) -> None:
    world = make_workspace(opened={"/ws/b.py": "one\n", "/ws/a.py": "one\n"})
    world.activity.focus(A)
    reported: list[str] = []
    world.activity.moved = lambda: reported.append(name)
    expected, event = MOVES[name]
    event(world)
    assert bool(reported) == bool(expected)


def test_typing_over_a_selection_is_reported_once() -> None:
    world = make_workspace(opened={"/ws/a.py": "one\n"})
    world.activity.select(A, [span(0, 3)], ActivitySource.NOTIFIED)
    reported: list[str] = []
    world.activity.moved = lambda: reported.append("moved")
    world.apply(change(insertion(0, 1, "x"), uri=A))
    world.apply(change(insertion(0, 2, "x"), uri=A))
    assert reported == ["moved"]
