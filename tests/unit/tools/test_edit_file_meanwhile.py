"""Edits of one answer are looked for in a worker thread: what the user does meanwhile counts."""

import asyncio
import dataclasses
from collections.abc import Callable

from stet.tools.desk import Desk
from stet.tools.edit_file import EditFile, run_together
from stet.tools.read_file import READ_FILE
from stet.workspace.ground import Ground
from tests.support.turns import make_desk, type_into, use
from tests.support.world import insertion, make_world

URI = "file:///ws/a.py"
TEXT = "one\ntwo\nthree\nfour\n"
CALLS = (
    EditFile(file="a.py", old_text="two", new_text="2"),
    EditFile(file="a.py", position="replace:4", content="4"),
)


async def typing_desk(n_times: int) -> Desk:
    """A desk whose user puts a line at the top each of the first `n_times` the disk is asked."""
    desk = make_desk(make_world(opened={"/ws/a.py": TEXT}))
    await use(READ_FILE, desk, file="a.py")
    loop, left = asyncio.get_running_loop(), iter(range(n_times))

    async def typed() -> None:
        type_into(desk.workspace, desk.ledger, insertion(0, 0, "typed\n"), "/ws/a.py")

    def bound() -> Callable[[str], Ground]:
        def ground(uri: str) -> Ground:  # in the worker thread
            if next(left, None) is not None:
                asyncio.run_coroutine_threadsafe(typed(), loop).result()
            return Ground()

        return ground

    desk.rules = dataclasses.replace(desk.rules, bound=bound)
    return desk


def result(desk: Desk) -> str:
    """The file with what waits accepted."""
    document = desk.workspace.document(URI)
    assert document is not None
    ids = [hunk.id for hunk in desk.ledger.live(URI)]
    return desk.ledger.edit_of(document, ids).apply(document.text)


async def test_a_text_that_changed_meanwhile_is_looked_through_again() -> None:
    desk = await typing_desk(1)
    outcomes = await run_together(CALLS, desk)
    assert result(desk) == "typed\none\n2\nthree\n4\n"
    assert [str(outcome).partition(" (")[0] for outcome in outcomes] == [
        "Proposed h1 at line 3",
        "Proposed h2 at line 5",
    ]


async def test_a_user_who_never_stops_typing_does_not_keep_edits_from_being_proposed() -> None:
    desk = await typing_desk(100)
    _ = await run_together(CALLS, desk)
    assert result(desk).removeprefix("typed\n" * 3) == "one\n2\nthree\n4\n"


async def test_what_was_decided_meanwhile_is_not_amended() -> None:
    desk = await typing_desk(0)
    (first,) = await run_together(CALLS[:1], desk)
    assert "Proposed h1" in str(first)
    loop = asyncio.get_running_loop()

    async def rejected() -> None:
        desk.ledger.reject("h1")

    def bound() -> Callable[[str], Ground]:
        def ground(uri: str) -> Ground:
            if str(desk.ledger.hunk("h1").state) == "pending":
                asyncio.run_coroutine_threadsafe(rejected(), loop).result()
            return Ground()

        return ground

    desk.rules = dataclasses.replace(desk.rules, bound=bound)
    # What is quoted was pending only, and the user does not want it.
    (outcome,) = await run_together(
        [EditFile(file="a.py", old_text="one\n2\n", new_text="one\n22\n")], desk
    )
    assert str(outcome).startswith("'a.py': The old text is not in the file.")
    assert [str(hunk.state) for hunk in desk.ledger.hunks()] == ["rejected"]
