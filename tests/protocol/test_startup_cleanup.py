"""Cleanup by a starting server: old files in the trash, and the state of missing folders."""

import asyncio
import os
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.editor_session import WAIT_SECONDS
from tests.support.live_turns import wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose
from tests.support.restarts import ready

DAY = 86_400.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for name in ("kept.txt", "old.txt"):
        (folder / name).write_text("text\n")
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return the environment with a persistent state folder."""
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def put_back_in_time(state: Path, days: float) -> None:
    """Make everything in the trash `days` older."""
    at = time.time() - days * DAY
    for nth, place in enumerate(sorted((state / "trash").iterdir()), 1):
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at + nth))
        os.utime(place.rename(state / "trash" / stamp), (at, at))


def age(paths: Iterable[Path], days: float) -> None:
    for path in paths:
        os.utime(path, (time.time() - days * DAY,) * 2)


async def until_gone(editor: FakeEditor, *places: Path) -> None:
    """Wait until these paths are gone, which happens in the background."""
    async with asyncio.timeout(WAIT_SECONDS):
        while any(map(os.path.lexists, places)):
            await editor.command("stet.status")


def in_trash(state: Path) -> list[str]:
    """Return the names of the files in the trash."""
    return sorted(path.name for path in (state / "trash").rglob("*") if path.is_file())


async def test_old_removals_go_at_the_start_but_what_can_be_undone_stays(
    root: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    state = tmp_path / "state" / "stet"
    async with FakeEditor.start(root, env=env, command=PROPOSING_SERVER) as editor:
        await propose(editor, {"remove": "kept.txt"})
        await editor.command("stet.accept", "h1")
        await wait_for_states(editor, h1="accepted")
    assert in_trash(state) == ["kept.txt"]
    older = state / "trash" / "20010909T014640Z" / "elsewhere"
    older.mkdir(parents=True)
    (older / "old.txt").write_text("old\n")
    put_back_in_time(state, 40)
    [old] = (state / "trash").rglob("old.txt")
    async with FakeEditor.start(root, env=env) as editor:
        await ready(editor)
        await until_gone(editor, old.parent.parent)
        assert in_trash(state) == ["kept.txt"]
        await editor.command("stet.undo", "h1")
        await wait_for_states(editor, h1="undone")
        assert (root / "kept.txt").read_text() == "text\n"
        editor.from_server("kept.txt")


async def test_the_state_of_a_workspace_that_is_gone_goes_when_nobody_asked_for_months(
    root: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    other, away = tmp_path / "other", tmp_path / "away"
    folders = tmp_path / "state" / "stet" / "workspaces"
    for gone in (other, away):
        gone.mkdir()
        async with FakeEditor.start(gone, env=env) as editor:
            await ready(editor)
            before = set(folders.iterdir())
            async with asyncio.timeout(WAIT_SECONDS):
                while not all((folder / "roots.json").exists() for folder in before):
                    await editor.command("stet.status")
        gone.rmdir()
    [of_other] = [one for one in folders.iterdir() if "other" in (one / "roots.json").read_text()]
    [of_away] = set(folders.iterdir()) - {of_other}
    age(of_other.rglob("*"), 91)
    age(of_away.rglob("*"), 89)
    async with FakeEditor.start(root, env=env) as editor:
        await until_gone(editor, of_other)
        assert of_away.exists()
