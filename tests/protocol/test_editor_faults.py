"""What happens around the texts, E27 to E31 and E37 to E48 of the list that the project keeps.

Behind each the server answers, holds every text as the editor does, to the byte, and the hunk that waits
in `a.txt` can be accepted where it belongs. The others are in `test_editor_faults_in_texts.py` and
`test_editor_faults_in_clients.py`.
"""

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import (
    ask,
    calls,
    done,
    edit,
    end_of,
    scripted,
    states,
    wait_for_states,
)
from tests.support.proposing import PROPOSING_SERVER
from tests.support.raw import Message, command, connected, notification, opened, request
from tests.support.restarts import ready
from tests.support.unharmed import (
    NEW,
    OLD,
    TEXT,
    Scene,
    at_fault,
    carried_out,
    check_unharmed,
    checksum,
    own_home,
    proposed,
    three_files,
    until_read,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of three files."""
    return three_files(tmp_path / "ws")


def held_back(folder: Path) -> tuple[dict[str, str], Path]:
    """A model whose second answer, an edit of `b.txt`, waits for a file; its environment, the file."""
    go = folder / "go"
    reply = {**calls(edit("b.txt", "two\n", "2\n")), "hold": str(go)}
    return scripted(folder, calls(("read_file", {"file": "b.txt"})), reply, done()), go


async def at_work(scene: Scene) -> str:
    """A turn that waits for its second answer."""
    turn = await ask(scene.editor, "Digits", uri=scene.uri)
    await until_read(scene.editor, turn)
    return turn


# --- the workspace ----------------------------------------------------------------------------------


async def test_e27_a_folder_that_goes_in_a_run_takes_nothing_with_it(
    root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text(TEXT)
    (root / "b.txt").unlink()
    env, go = held_back(tmp_path)
    async with at_fault([root, other], env=env) as scene:
        turn = await at_work(scene)
        folder = lsp.WorkspaceFolder(other.as_uri(), "other")
        new = lsp.WorkspaceFolder((tmp_path / "ws" / "new").as_uri(), "new")
        for event in (
            lsp.WorkspaceFoldersChangeEvent(added=[new, folder], removed=[]),
            lsp.WorkspaceFoldersChangeEvent(added=[], removed=[folder, folder, new]),
        ):
            scene.editor.workspace_did_change_workspace_folders(
                lsp.DidChangeWorkspaceFoldersParams(event=event)
            )
        await scene.holds()
        go.touch()
        ended = await end_of(scene.editor, turn)
        assert ended["toolCalls"][1]["state"] == "error"
        assert ended["hunks"] == []
        await scene.survives()


async def test_e28_without_any_root_open_files_are_worked_on(root: Path) -> None:
    async with FakeEditor.start(None, client="vscode", command=PROPOSING_SERVER) as editor:
        uri = editor.open((root / "a.txt").as_uri(), TEXT)
        [hunk] = await proposed(editor, "a.txt")
        await Scene(editor, uri, hunk).survives()


@pytest.mark.parametrize("fault", ["renamed", "deleted", "changed"])
async def test_e29_the_disk_changes_under_an_open_file(root: Path, fault: str) -> None:
    path = root / "a.txt"
    async with at_fault(root) as scene:
        if fault == "changed":
            path.write_text("nothing of the kind\n")
        elif fault == "deleted":
            path.unlink()
        else:
            path.rename(root / "moved.txt")
        tell_all(scene)
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.survives()
        scene.editor.from_server("a.txt", "moved.txt")


@pytest.mark.parametrize("fault", ["a folder", "a link"])
async def test_e29_what_is_no_file_any_more_is_not_written_to(root: Path, fault: str) -> None:
    path = root / "a.txt"
    async with at_fault(root) as scene:
        path.rename(root / "moved.txt")
        if fault == "a folder":
            path.mkdir()
        else:
            path.symlink_to("/etc/hostname")
        tell_all(scene)
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.holds()
        await scene.editor.command("stet.accept", {"hunk": scene.hunk})
        await scene.editor.wait_for_message("not applied")
        await scene.holds()
        if fault == "a folder":
            path.rmdir()
        else:
            path.unlink()
        (root / "moved.txt").rename(path)
        await scene.survives()


def tell_all(scene: Scene) -> None:
    """The editor tells everything that can have happened to its file."""
    kinds = (lsp.FileChangeType.Deleted, lsp.FileChangeType.Created, lsp.FileChangeType.Changed)
    tell(scene.editor, [lsp.FileEvent(scene.uri, kind) for kind in kinds])


def tell(editor: FakeEditor, events: Sequence[lsp.FileEvent]) -> None:
    """The editor tells what it has watched."""
    editor.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))


async def test_e30_a_save_without_its_text_changes_nothing(root: Path) -> None:
    async with at_fault(root) as scene:
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        identifier = {"textDocument": {"uri": scene.uri}}
        scene.send(
            notification("textDocument/didSave", identifier),
            notification("textDocument/didSave", {**identifier, "text": None}),
            notification("textDocument/didSave", {"textDocument": {"uri": "file:///never"}}),
        )
        await scene.survives()


async def test_e31_a_storm_of_fifty_thousand_events(root: Path) -> None:
    async with at_fault(root) as scene:
        [other] = await proposed(scene.editor, "b.txt")
        (root / "b.txt").write_text("zero\n" + TEXT)
        changes = [
            {"uri": f"{root.as_uri()}/f{n % 5_000}/g{n}.txt", "type": n % 3 + 1}
            for n in range(49_990)
        ]
        changes += [{"uri": scene.editor.uri(name), "type": 2} for name in ("a.txt", "b.txt")] * 5
        scene.send(notification("workspace/didChangeWatchedFiles", {"changes": changes}))
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.editor.wait_for_diagnostics(
            "b.txt", lambda shown: [one.range.start.line for one in shown] == [3]
        )
        scene.editor.from_server("b.txt")
        await scene.survives(**{other: "pending"})


async def test_e37_two_editors_on_one_workspace_each_keep_their_own(
    root: Path, tmp_path: Path
) -> None:
    env = own_home(tmp_path / "home")
    async with at_fault(root, env=env) as one, at_fault(root, client="neovim", env=env) as other:
        assert one.hunk != other.hunk
        one.editor.type(one.uri, 0, 0, "typed here\n")
        other.editor.change(other.uri, "two", "typed there")
        await one.holds()
        await other.survives()
        await one.survives()


# --- cancels and ends ---------------------------------------------------------------------------------


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


async def test_e38_a_cancel_behind_an_accept_does_not_halve_it(root: Path) -> None:
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
    script, _ = held_back(tmp_path)
    env = {**script, **own_home(tmp_path / "home")}
    async with left_alone(root, env) as (scene, server):
        await at_work(scene)
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        scene.send(*messages)
        if not messages:
            assert server.stdin is not None
            server.stdin.close()
        async with asyncio.timeout(60):
            assert await server.wait() == code
    await survived(root, env, "typed\n" + TEXT)


class _Left(Exception):
    """Leaves the editor's block without its goodbye."""


@asynccontextmanager
async def left_alone(root: Path, env: dict[str, str]) -> AsyncIterator[tuple[Scene, Process]]:
    """A scene whose editor says no goodbye, and its server."""
    try:
        async with at_fault(root, env=env) as scene:
            assert scene.editor._server is not None
            yield scene, scene.editor._server
            raise _Left  # noqa: TRY301 - the way out of the editor's own block
    except _Left:
        return


async def survived(root: Path, env: dict[str, str], text: str, hunk: str = "h1") -> None:
    """The next server has the proposal, and knows its place in this text, which is not saved."""
    async with FakeEditor.start(root, client="vscode", env=env, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt", text)
        await ready(editor)
        await Scene(editor, uri, hunk).survives()


async def test_e42_the_server_ends_when_its_parent_is_dead(root: Path, tmp_path: Path) -> None:
    env = own_home(tmp_path)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE
    )
    async with connected(PROPOSING_SERVER, initialized=False, env=env) as peer:
        capabilities: Message = {}
        params = {"processId": parent.pid, "rootUri": root.as_uri(), "capabilities": capabilities}
        await peer.ask("initialize", params)
        peer.send(notification("initialized", {}), opened((root / "a.txt").as_uri(), TEXT))
        while not (await carried_out(peer, "stet.status"))["ready"]:
            pass  # each question is a round trip
        await carried_out(peer, "test.propose", {"edit": "a.txt", "changes": [[OLD, NEW]]})
        await parent.communicate(b"\n")
        await carried_out(peer, "test.jump", 4)  # it looks every three seconds
        assert await peer.ended() == 1
    await survived(root, env, TEXT)


async def test_e43_an_editor_that_reads_nothing_for_a_minute_loses_nothing(
    root: Path, tmp_path: Path
) -> None:
    env = own_home(tmp_path)
    async with connected(PROPOSING_SERVER, env=env) as peer:
        uri, n = "untitled:a", 3_000
        peer.send(opened(uri, TEXT), *(command(m, "stet.status") for m in range(n)))
        peer.send(*(notification("textDocument/didSave", {"textDocument": {"uri": uri}}),) * 10)
        await peer.drain()  # the server reads on although nobody reads what it writes
        peer.send(command("j", "test.jump", 60))
        answers = [await peer.answer(m) for m in range(n)]
        assert all("result" in one for one in answers)
        assert await carried_out(peer, "test.checksums", uri) == [checksum(TEXT)]


async def test_e44_after_a_crash_unsaved_text_and_its_hunks_are_there(
    root: Path, tmp_path: Path
) -> None:
    env = own_home(tmp_path)
    async with left_alone(root, env) as (scene, server):
        scene.editor.type(scene.uri, 0, 0, "typed and never saved\n")
        await scene.holds()
        server.kill()
        await server.wait()
    await survived(root, env, "typed and never saved\n" + TEXT)


async def test_e45_a_laptop_that_sleeps_for_a_night(root: Path, tmp_path: Path) -> None:
    env, go = held_back(tmp_path)
    async with at_fault(root, env=env) as scene:
        turn = await at_work(scene)
        for hours in (8, 24 * 40, -24 * 50):
            await scene.editor.command("test.jump", hours * 3600.0)
            scene.editor.type(scene.uri, 0, 0, "typed\n")
            await scene.holds()
        go.touch()
        ended = await end_of(scene.editor, turn)
        assert ended["state"] in ("completed", "limited", "failed")
        await scene.survives(**dict.fromkeys(ended["hunks"], "pending"))


# --- the machine --------------------------------------------------------------------------------------


async def test_e46_a_full_disk_is_told_once_and_nothing_stops(root: Path, tmp_path: Path) -> None:
    env = own_home(tmp_path)
    async with at_fault(root, env=env) as scene:
        await scene.editor.command("test.fillDisk", 100)
        more = await proposed(scene.editor, "b.txt", "c.txt")
        said = await scene.editor.wait_for_message("disk")
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.holds(**dict.fromkeys(more, "pending"))
        assert [one.message for one in scene.editor.messages].count(said) == 1
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
    async with at_fault(root, env=own_home(home)) as scene:
        await scene.editor.wait_for_message("can't keep its proposals")
        await scene.survives()


@pytest.mark.parametrize("can_rotate", [True, False], ids=["rotated", "can't be rotated"])
async def test_e48_the_log_is_rotated_in_the_middle_of_a_session(
    root: Path, tmp_path: Path, can_rotate: bool
) -> None:
    env = own_home(tmp_path)
    folder = full_log(tmp_path, can_rotate=can_rotate)
    async with at_fault(root, env=env) as scene:
        # Each is refused, which is logged.
        scene.send(*(notification("textDocument/didClose", {"n": n}) for n in range(1_000)))
        await scene.survives()
    assert (folder / "stet.log.1").is_file() == can_rotate


def full_log(home: Path, *, can_rotate: bool) -> Path:
    """A log that is due to be rotated; gives its folder."""
    folder = home / "state" / "stet" / "log"
    folder.mkdir(parents=True)
    (folder / "stet.log").write_bytes(b"x" * 999_900)
    if not can_rotate:
        (folder / "stet.log.2").touch()
        (folder / "stet.log.3").mkdir()
    return folder


async def test_e48_a_log_that_can_not_be_rotated_stops_no_server_whose_stderr_nobody_reads(
    tmp_path: Path,
) -> None:
    env = own_home(tmp_path)
    full_log(tmp_path, can_rotate=False)
    unread, stderr = os.pipe()
    try:
        async with connected(PROPOSING_SERVER, env=env, stderr=stderr) as peer:
            peer.send(opened("untitled:a", TEXT))
            peer.send(*(notification("textDocument/didClose", {"n": n}) for n in range(500)))
            assert await carried_out(peer, "test.checksums", "untitled:a") == [checksum(TEXT)]
    finally:
        os.close(unread)
        os.close(stderr)
