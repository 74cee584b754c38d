"""Full disks, homes and unwritable logs: E46 to E48 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place.
"""

import os
from asyncio.subprocess import Process
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.fault_scene import (
    TEXT,
    at_fault,
    checksum,
    command_result,
    isolated_home,
    proposed,
)
from tests.support.live_turns import states
from tests.support.proposals import PROPOSING_SERVER
from tests.support.raw_peer import connected, notification, opened
from tests.support.restarts import ready


async def test_e46_a_full_disk_is_reported_once_and_nothing_stops(
    root: Path, tmp_path: Path
) -> None:
    env = isolated_home(tmp_path)
    async with at_fault(root, env=env) as scene:
        await scene.editor.command("test.fillDisk", 100)
        more = await proposed(scene.editor, "b.txt", "c.txt")
        shown_text = await scene.editor.wait_for_message("disk")
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.holds(**dict.fromkeys(more, "pending"))
        assert [one.message for one in scene.editor.messages].count(shown_text) == 1
        await scene.editor.command("test.fillDisk", -1)
        await scene.editor.command("test.jump", 600)
        await scene.survives(**dict.fromkeys(more, "pending"))
        scene.editor.save(scene.uri)
    async with FakeEditor.start(root, env=env, command=PROPOSING_SERVER) as editor:
        await ready(editor)
        wanted = {scene.hunk: "accepted", **dict.fromkeys(more, "pending")}
        assert await states(editor) == wanted


@pytest.mark.parametrize("home", ["/dev/null/home", "/proc/1/home"])
async def test_e47_without_a_home_to_write_to_everything_works_until_the_end(
    root: Path, home: str
) -> None:
    async with at_fault(root, env=isolated_home(home)) as scene:
        await scene.editor.wait_for_message("can't save its proposals")
        await scene.survives()


@pytest.mark.parametrize("can_rotate", [True, False], ids=["rotated", "can't be rotated"])
async def test_e48_the_log_is_rotated_in_the_middle_of_a_session(
    root: Path, tmp_path: Path, can_rotate: bool
) -> None:
    env = isolated_home(tmp_path)
    async with at_fault(root, env=env) as scene:
        log = full_log(tmp_path, scene.editor._server, can_rotate=can_rotate)
        # Each notification is refused, which is logged.
        scene.send(*(notification("textDocument/didClose", {"n": n}) for n in range(1_000)))
        await scene.survives()
    assert log.with_name(f"{log.name}.1").is_file() == can_rotate


def full_log(home: Path, server: Process | None, *, can_rotate: bool) -> Path:
    """Make the log of a server large enough for rotation; return its path."""
    assert server is not None
    log = home / "state" / "stet" / "log" / f"stet-{server.pid}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        file.write(b"x" * 999_900)
    if not can_rotate:
        log.with_name(f"{log.name}.2").touch()
        log.with_name(f"{log.name}.3").mkdir()
    return log


async def test_e48_a_log_that_can_not_be_rotated_stops_no_server_whose_stderr_nobody_reads(
    tmp_path: Path,
) -> None:
    env = isolated_home(tmp_path)
    unread, stderr = os.pipe()
    try:
        async with connected(PROPOSING_SERVER, env=env, stderr=stderr) as peer:
            full_log(tmp_path, peer.process, can_rotate=False)
            peer.send(opened("untitled:a", TEXT))
            peer.send(*(notification("textDocument/didClose", {"n": n}) for n in range(500)))
            assert await command_result(peer, "test.checksums", "untitled:a") == [checksum(TEXT)]
    finally:
        os.close(unread)
        os.close(stderr)
