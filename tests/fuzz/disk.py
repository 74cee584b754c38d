"""A disk that becomes full and has room again during a life.

A limit on the file size (`RLIMIT_FSIZE`) simulates a full disk: the system refuses to extend a
file, in the middle of a write too, and the limit needs no privileges. When there is room, the disk
has what a killed server would leave, so it is compared with what the server has reported.
"""

import random
from typing import Any

from tests.fuzz.editor import Editor
from tests.fuzz.reference import Violation

ROOM = -1
LIMITS = (ROOM, ROOM, ROOM, 1, 4_000, 40_000, 400_000)
"""Sizes of the longest file, in bytes."""
EVERY = 150
"""The approximate number of words between two changes of the disk."""


def disk(editor: Editor, dice: random.Random) -> None:
    """Make the disk full, or give it room again."""
    editor.command("test.fillDisk", dice.choice(LIMITS))


def with_disk(ops: tuple[tuple[str, int], ...], seed: int) -> tuple[tuple[str, int], ...]:
    """Insert words of the disk into a life, with separate dice: the other words stay equal."""
    dice = random.Random(f"disk {seed}")
    found: list[tuple[str, int]] = []
    for op in ops:
        if dice.random() < 1 / EVERY:
            found.append(("disk", dice.randrange(1 << 30)))
        found.append(op)
    return tuple(found)


async def check_persisted(editor: Editor) -> None:
    """Check, on a disk with room, that everything reported is on the disk soon.

    Raises:
        Violation: If something is missing or different on the disk.
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
