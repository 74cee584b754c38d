"""Cancels, exits, crashes and sleep: E38 to E45 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place.
"""

import asyncio
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.fault_scene import (
    NEW,
    OLD,
    TEXT,
    FaultScene,
    at_fault,
    check_unharmed,
    checksum,
    command_result,
    isolated_home,
)
from tests.support.live_turns import end_of, wait_for_states
from tests.support.paused_turns import paused_model, start_paused_turn
from tests.support.proposals import PROPOSING_SERVER
from tests.support.raw_peer import Message, command, connected, notification, opened, request
from tests.support.restarts import ready


async def test_e38_cancels_that_come_early_late_twice_or_for_nobody(root: Path) -> None:
    async with at_fault(root) as scene:
        asked = command("later", "stet.showContext", {"prompt": "x", "uri": scene.uri})
        names: Sequence[object] = ("early", "now", "later", "later", "nobody", 7, 0, None, [])
        cancels = [notification("$/cancelRequest", {"id": name}) for name in names]
        scene.send(
            cancels[0],
            command("early", "stet.status"),
            command("now", "stet.search", {"query": "three"}),
            asked,
            *cancels,
        )
        await scene.holds()
        scene.send(*cancels)
        await scene.survives()


async def test_e38_a_cancel_after_an_accept_does_not_halve_it(root: Path) -> None:
    async with at_fault(root) as scene:
        scene.send(
            command("accept", "stet.accept", {"hunk": scene.hunk}),
            *[notification("$/cancelRequest", {"id": "accept"})] * 2,
        )
        await wait_for_states(scene.editor, **{scene.hunk: "accepted"})
        assert scene.editor.text(scene.uri) == TEXT.replace(OLD, NEW)
        await check_unharmed(scene.editor, {scene.hunk: "accepted"})


END = {
    "E39 shutdown": ([request("s", "shutdown"), notification("exit")], 0),
    "E40 exit without shutdown": ([notification("exit")], 1),
    "E41 the end of its input": ([], 1),
}


@pytest.mark.parametrize(("messages", "code"), END.values(), ids=END)
async def test_an_end_in_the_middle_of_a_run_loses_no_proposal(
    root: Path, tmp_path: Path, messages: Sequence[Message], code: int
) -> None:
    script, _ = paused_model(tmp_path)
    env = {**script, **isolated_home(tmp_path / "home")}
    async with left_alone(root, env) as (scene, server):
        await start_paused_turn(scene)
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        scene.send(*messages)
        if not messages:
            assert server.stdin is not None
            server.stdin.close()
        async with asyncio.timeout(60):
            assert await server.wait() == code
    await survived(root, env, "typed\n" + TEXT)


class _Left(Exception):
    """An exception to leave the editor's block without a shutdown."""


@asynccontextmanager
async def left_alone(root: Path, env: dict[str, str]) -> AsyncIterator[tuple[FaultScene, Process]]:
    """Yield a scene whose editor does not shut down, and its server."""
    try:
        async with at_fault(root, env=env) as scene:
            assert scene.editor._server is not None
            yield scene, scene.editor._server
            raise _Left  # noqa: TRY301 - the way out of the editor's own block
    except _Left:
        return


async def survived(root: Path, env: dict[str, str], text: str, hunk: str = "h1") -> None:
    """Check that the next server has the proposal, at its place in this unsaved text."""
    async with FakeEditor.start(root, client="vscode", env=env, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt", text)
        await ready(editor)
        await FaultScene(editor, uri, hunk).survives()


async def test_e42_the_server_ends_when_its_parent_is_dead(root: Path, tmp_path: Path) -> None:
    env = isolated_home(tmp_path)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE
    )
    async with connected(PROPOSING_SERVER, initialized=False, env=env) as peer:
        capabilities: Message = {}
        params = {"processId": parent.pid, "rootUri": root.as_uri(), "capabilities": capabilities}
        await peer.ask("initialize", params)
        peer.send(notification("initialized", {}), opened((root / "a.txt").as_uri(), TEXT))
        while not (await command_result(peer, "stet.status"))["ready"]:
            pass  # each request is a round trip
        await command_result(peer, "test.propose", {"edit": "a.txt", "changes": [[OLD, NEW]]})
        await parent.communicate(b"\n")
        await command_result(peer, "test.jump", 4)  # the server checks every three seconds
        assert await peer.ended() == 1
    await survived(root, env, TEXT)


async def test_e43_an_editor_that_reads_nothing_for_a_minute_loses_nothing(
    root: Path, tmp_path: Path
) -> None:
    env = isolated_home(tmp_path)
    async with connected(PROPOSING_SERVER, env=env) as peer:
        uri, n = "untitled:a", 3_000
        peer.send(opened(uri, TEXT), *(command(m, "stet.status") for m in range(n)))
        peer.send(*(notification("textDocument/didSave", {"textDocument": {"uri": uri}}),) * 10)
        await peer.drain()  # the server continues to read although nobody reads its output
        peer.send(command("j", "test.jump", 60))
        answers = [await peer.answer(m) for m in range(n)]
        assert all("result" in one for one in answers)
        assert await command_result(peer, "test.checksums", uri) == [checksum(TEXT)]


async def test_e44_after_a_crash_unsaved_text_and_its_hunks_are_there(
    root: Path, tmp_path: Path
) -> None:
    env = isolated_home(tmp_path)
    async with left_alone(root, env) as (scene, server):
        scene.editor.type(scene.uri, 0, 0, "typed and never saved\n")
        await scene.holds()
        server.kill()
        await server.wait()
    await survived(root, env, "typed and never saved\n" + TEXT)


async def test_e45_a_laptop_that_sleeps_for_a_night(root: Path, tmp_path: Path) -> None:
    env, go = paused_model(tmp_path)
    async with at_fault(root, env=env) as scene:
        turn = await start_paused_turn(scene)
        for hours in (8, 24 * 40, -24 * 50):
            await scene.editor.command("test.jump", hours * 3600.0)
            scene.editor.type(scene.uri, 0, 0, "typed\n")
            await scene.holds()
        go.touch()
        ended = await end_of(scene.editor, turn)
        assert ended["state"] in ("completed", "limited", "failed")
        await scene.survives(**dict.fromkeys(ended["hunks"], "pending"))
