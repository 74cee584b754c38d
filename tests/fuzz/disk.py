"""A disk that is full and has room again while everything else goes on.

A limit on the size of files (`RLIMIT_FSIZE`) stands for it: the system refuses to make a file longer, in
the middle of a write too, and anybody may set it. What is on the disk when there is room is what a server
that is killed would leave, so it is compared with what the server has told.
"""

import random
from typing import Any

from tests.fuzz.editor import Editor
from tests.fuzz.reference import Violation

ROOM = -1
LIMITS = (ROOM, ROOM, ROOM, 1, 4_000, 40_000, 400_000)
"""Bytes of the longest file."""
EVERY = 150
"""Words, about, between two changes of the disk."""


def disk(editor: Editor, dice: random.Random) -> None:
    """The disk is full, or has room again."""
    editor.command("test.fillDisk", dice.choice(LIMITS))


def with_disk(ops: tuple[tuple[str, int], ...], seed: int) -> tuple[tuple[str, int], ...]:
    """The words of a life with those of the disk between them, by dice of their own: the others stay."""
    dice = random.Random(f"disk {seed}")
    found: list[tuple[str, int]] = []
    for op in ops:
        if dice.random() < 1 / EVERY:
            found.append(("disk", dice.randrange(1 << 30)))
        found.append(op)
    return tuple(found)


async def check_persisted(editor: Editor) -> None:
    """There is room: everything that was reported is on the disk soon.

    Raises:
        Violation: If something is missing there, or is otherwise.
    """
    editor.command("test.fillDisk", ROOM)
    answers: list[Any] = [None]

    def asked() -> bool:
        if editor.answers.n_owed():
            return False
        if answers[-1] is None:
            editor.command("test.kept", then=answers.append)
            return False
        return True

    await editor.connection.until(asked, "everything on the disk that has room")
    if answers[-1]:
        raise Violation(f"on the disk is not what was told: {answers[-1]}")
