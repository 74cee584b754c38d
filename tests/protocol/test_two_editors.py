"""Two editors on one folder: hunks wait in one of them, and the other one sees them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from stet.control.control_client import ControlClient, choose_server, find_servers
from stet.control.descriptor import read_descriptors
from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, states
from tests.support.shell import Shell

TEXT = "one\ntwo\nthree\nfour\n"
THREE = edit("a.txt", "three\n", "THREE\n")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Make a folder, a home, and a model that proposes a hunk."""
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    shell.write("b.txt", TEXT)
    shell.script(calls(THREE), done("Louder."))
    return shell


@asynccontextmanager
async def two_editors(shell: Shell) -> AsyncIterator[tuple[FakeEditor, FakeEditor]]:
    """Start Neovim and Helix, which has the newer server, and wait until they know each other."""
    async with (
        FakeEditor.start(shell.folder, env=shell.env, client="neovim") as first,
        FakeEditor.start(shell.folder, env=shell.env, client="helix") as second,
    ):
        for editor in (first, second):
            await wait_for_status(editor, lambda status: len(status["otherEditors"]) == 1)
        yield first, second


async def wait_for_status(editor: FakeEditor, condition: Any) -> dict[str, Any]:
    """Wait until `stet.status` has this form; return it."""
    async with asyncio.timeout(30):
        while True:
            status: dict[str, Any] = await editor.command("stet.status")
            if condition(status):
                return status
            await asyncio.sleep(0.02)


def runtime_of(shell: Shell) -> Path:
    """Return the folder of the sockets."""
    return Path(shell.env["XDG_CACHE_HOME"], "stet", "run")


async def propose_by_agent(shell: Shell, pid: int, file: str) -> Any:
    """Propose a hunk as an MCP client of a server."""
    [server] = [one for one in read_descriptors(runtime_of(shell)) if one.pid == pid]
    tool = {
        "session": "1" * 32,
        "client": "robot",
        "tool": "propose_edit",
        "arguments": {"path": file, "old_text": "two\n", "new_text": "TWO\n"},
    }

    def call() -> Any:
        with ControlClient(server, 30) as client:
            return client.request("control.tool", tool)

    return await asyncio.to_thread(call)


async def test_other_editor_shows_where_the_hunks_of_its_file_wait(shell: Shell) -> None:
    async with two_editors(shell) as (first, second):
        uri = second.open("a.txt")
        await run(first, "Louder.", uri=first.open("a.txt"))
        [found] = await second.wait_for_diagnostics(uri, lambda found: len(found) == 1)
        pid = first.process_id
        assert (found.code, found.range.start.line, found.severity) == ("other-editor", 2, 4)
        assert found.message == (
            f"Edit a.txt: replace text. This hunk waits in Neovim (process {pid}): decide there."
        )
        status = await second.command("stet.status")
        assert (status["pending"], status["otherEditors"]) == (
            0,
            [{"process": pid, "editor": "Neovim", "pending": 1}],
        )
        [hunk] = await states(first)
        _ = await first.command("stet.reject", {"hunk": hunk})
        _ = await second.wait_for_diagnostics(uri, lambda found: not found)


async def test_file_that_is_opened_later_shows_the_hunks_of_the_other_editor(
    shell: Shell,
) -> None:
    async with two_editors(shell) as (first, second):
        await run(first, "Louder.", uri=first.open("a.txt"))
        await wait_for_status(second, lambda one: one["otherEditors"][0]["pending"] == 1)
        found = await second.wait_for_diagnostics(second.open("a.txt"), bool)
        assert [one.code for one in found] == ["other-editor"]


async def test_other_editor_has_a_message_about_the_hunks_of_an_agent(shell: Shell) -> None:
    async with two_editors(shell) as (first, second):
        _ = first.open("b.txt")
        _ = await propose_by_agent(shell, first.process_id, "b.txt")
        text = (
            f"1 hunk of robot waits for your review in Neovim (process {first.process_id}): b.txt"
        )
        assert await second.wait_for_message("robot") == text
        assert not [one for one in first.messages if "waits" in one.message]


async def test_hunks_go_to_the_editor_that_has_the_file_open_else_to_the_newest(
    shell: Shell,
) -> None:
    async with two_editors(shell) as (first, second):
        _ = first.open("b.txt")
        _ = await first.command("stet.proposals")  # the file is open now
        servers = await asyncio.to_thread(find_servers, runtime_of(shell), str(shell.folder))
        for file, editor in (("b.txt", first), ("a.txt", second)):
            path = str(shell.folder / file)
            chosen = await asyncio.to_thread(choose_server, servers, path)
            assert (file, chosen.pid) == (file, editor.process_id)


async def test_hunks_of_an_editor_that_ends_wait_in_the_other_one(shell: Shell) -> None:
    async with two_editors(shell) as (first, second):
        await run(first, "Louder.", uri=first.open("a.txt"))
        uri, pid = second.open("a.txt"), first.process_id
        _ = await second.wait_for_diagnostics(uri, bool)
        await first.kill()
        found = await second.wait_for_diagnostics(
            uri, lambda found: [one.code for one in found] == ["proposal"]
        )
        assert found[0].range.start.line == 2
        text = f"Neovim (process {pid}) has ended: its 1 pending hunk waits here now"
        assert await second.wait_for_message("has ended") == text
        [hunk] = await states(second)
        ended = await asyncio.to_thread(shell.run, "accept", hunk)
        assert (ended.returncode, ended.stderr) == (
            0,
            "Accepted 1 hunk in the editor, which has not saved the text yet\n",
        )
        assert second.text("a.txt") == TEXT.replace("three", "THREE")


async def test_hunks_of_this_editor_stay_when_those_of_another_one_come(shell: Shell) -> None:
    async with two_editors(shell) as (first, second):
        await run(first, "Louder.", uri=first.open("a.txt"))
        _ = second.open("a.txt")
        _ = await propose_by_agent(shell, second.process_id, "a.txt")
        second.change("a.txt", "one\n", "one\ntyped\n")
        second.flush()
        await first.kill()
        await wait_for_status(second, lambda status: status["pending"] == 2)
        shown = await second.command("stet.proposals")
        assert [(one["range"]["start"]["line"], one["author"]) for one in shown] == [
            (2, "robot"),
            (3, "stet"),
        ]
