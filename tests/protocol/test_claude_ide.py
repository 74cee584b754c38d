"""Claude Code's IDE protocol: a websocket client, and a server with an editor."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.ide_client import IdeClient, IdeRefused, texts
from tests.support.shell import Shell
from tests.support.unsaved_text import saved_editor

TEXT = "one\ntwo\nthree\nfour\n"
ON = {"agents": {"claudeIde": True}}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    async with saved_editor(shell, ON) as editor:
        yield editor


@pytest.fixture
async def claude(shell: Shell, editor: FakeEditor) -> AsyncIterator[IdeClient]:
    async with IdeClient.at(await lock_of(shell, editor)) as client:
        yield client


def ide_folder(shell: Shell) -> Path:
    return Path(shell.env["HOME"], ".claude", "ide")


async def lock_of(shell: Shell, editor: FakeEditor) -> Path:
    """Return the lock file of the server, as soon as it is there."""
    while not (found := sorted(ide_folder(shell).glob("*.lock"))):
        await editor.command("stet.status")
    return found[0]


async def pending(editor: FakeEditor) -> dict[str, str]:
    """Return the id of each pending hunk, by its new text."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    return {item["new"]: item["hunk"] for item in listed}


async def proposed(editor: FakeEditor, n_hunks: int) -> dict[str, str]:
    """Return the pending hunks as soon as there are so many."""
    while len(found := await pending(editor)) != n_hunks:
        pass
    return found


def configure(editor: FakeEditor, settings: dict[str, Any]) -> None:
    params = lsp.DidChangeConfigurationParams({"stet": settings})
    editor.workspace_did_change_configuration(params)


async def decision(waiting: "asyncio.Future[Any]") -> list[str]:
    async with asyncio.timeout(20):
        return texts(await waiting)


async def test_lock_file_is_private_and_names_the_folder(shell: Shell, editor: FakeEditor) -> None:
    lock = await lock_of(shell, editor)
    assert lock.stat().st_mode & 0o777 == 0o600
    values = json.loads(lock.read_text())
    assert len(values.pop("authToken")) >= 32
    assert type(values.pop("pid")) is int
    assert values == {
        "workspaceFolders": [str(shell.folder)],
        "ideName": "Stet",
        "transport": "ws",
    }


async def test_accepted_amended_and_rejected_hunks_are_the_saved_text(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    editor.change("a.txt", "four\n", "four, typed\n")
    editor.flush()
    waiting = await claude.open_diff(shell.folder / "a.txt", "1\ntwo\n3\nfour\nfive\n")
    hunks = await proposed(editor, 3)
    await editor.command("stet.accept", {"hunk": hunks["1\n"]})
    await editor.command("stet.accept", {"hunk": hunks["3\n"], "new": "THREE\n"})
    await editor.wait_until(lambda: "THREE" in editor.text("a.txt"))
    assert not waiting.done()
    await editor.command("stet.reject", {"hunk": hunks["five\n"], "reason": "four are enough"})
    merged = "1\ntwo\nTHREE\nfour, typed\n"
    assert await decision(waiting) == ["FILE_SAVED", merged]
    assert editor.text("a.txt") == merged
    assert (shell.folder / "a.txt").read_text() == TEXT
    assert await claude.values("getDiagnostics", uri=(shell.folder / "a.txt").as_uri()) == []
    [file] = await claude.values("getDiagnostics")
    assert file["uri"] == editor.uri("a.txt")
    [note] = [item["message"] for item in file["diagnostics"]]
    hunk = hunks["five\n"]
    assert note == f"The user rejected this part of your change ({hunk}): four are enough"
    assert await claude.values("getDiagnostics") == []


async def test_hunks_have_the_agent_as_author(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    waiting = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("two", "2"))
    await proposed(editor, 1)
    assert not waiting.done()
    [item] = await editor.command("stet.proposals")
    assert (item["author"], item["summary"]) == ("claude", "claude: edit a.txt")
    await editor.wait_until(lambda: "claude proposed 1 hunk to review" in str(editor.messages))


async def test_rejected_diff_writes_nothing(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    waiting = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("two", "2"))
    hunks = await proposed(editor, 1)
    await editor.command("stet.reject", {"hunk": hunks["2\n"]})
    assert await decision(waiting) == ["DIFF_REJECTED", "tab"]


async def test_new_file_is_a_hunk(shell: Shell, editor: FakeEditor, claude: IdeClient) -> None:
    waiting = await claude.open_diff(shell.folder / "deep" / "new.txt", "new\n")
    hunks = await proposed(editor, 1)
    assert not (shell.folder / "deep").exists()
    await editor.command("stet.accept", {"hunk": hunks["new\n"]})
    assert await decision(waiting) == ["FILE_SAVED", "new\n"]


async def test_line_ends_and_byte_order_mark_come_back_as_claude_sends_them(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    path = shell.folder / "crlf.txt"
    editor.write(path, "\ufeffone\r\ntwo\r\n")
    waiting = await claude.open_diff(path, "\ufeffone\n2\n")
    hunks = await proposed(editor, 1)
    assert list(hunks) == ["2\r\n"]
    await editor.command("stet.accept", {"hunk": hunks["2\r\n"]})
    assert await decision(waiting) == ["FILE_SAVED", "\ufeffone\n2\n"]


@pytest.mark.parametrize("closing", ["close_tab", "closeAllDiffTabs"])
async def test_closed_diff_is_withdrawn(
    closing: str, shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    waiting = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("two", "2"))
    await proposed(editor, 1)
    answers = {"close_tab": "TAB_CLOSED", "closeAllDiffTabs": "CLOSED_1_DIFF_TABS"}
    assert await claude.call(closing, tab_name="tab") == [answers[closing]]
    with pytest.raises(IdeRefused, match="The diff was closed"):
        await decision(waiting)
    assert await pending(editor) == {}
    assert await claude.call(closing, tab_name="tab") == [answers[closing].replace("1", "0")]


async def test_hunks_go_with_their_session(shell: Shell, editor: FakeEditor) -> None:
    async with IdeClient.at(await lock_of(shell, editor)) as claude:
        waiting = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("two", "2"))
        await proposed(editor, 1)
        assert not waiting.done()
    await proposed(editor, 0)


async def test_two_sessions_do_not_see_each_others_pending_text(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    async with IdeClient.at(await lock_of(shell, editor)) as other:
        first = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("one", "1"))
        await proposed(editor, 1)
        second = await other.open_diff(shell.folder / "a.txt", TEXT.replace("four", "4"))
        hunks = await proposed(editor, 2)
        await editor.command("stet.accept", {"hunk": hunks["4\n"]})
        assert await decision(second) == ["FILE_SAVED", "one\ntwo\nthree\n4\n"]
        assert not first.done()
        await editor.command("stet.accept", {"hunk": hunks["1\n"]})
        assert await decision(first) == ["FILE_SAVED", "1\ntwo\nthree\n4\n"]


async def test_lines_that_the_user_has_changed_wait_as_a_conflict(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    editor.change("a.txt", "two\n", "zwei\n")
    editor.flush()
    await editor.command("stet.proposals")
    waiting = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("two", "2"))
    await editor.wait_until(lambda: "proposed 1 hunk to review" in str(editor.messages))
    [item] = await editor.command("stet.proposals")
    assert (item["state"], item["old"], item["new"]) == ("conflict", "zwei\n", "2\n")
    assert not waiting.done()
    await editor.command("stet.resolve", {"hunk": item["hunk"], "how": "theirs"})
    assert await decision(waiting) == ["FILE_SAVED", TEXT.replace("two", "2")]


async def test_change_that_the_editor_has_already_is_saved_only_alone(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    new = TEXT.replace("two", "2")
    editor.change("a.txt", "two\n", "2\n")
    editor.flush()
    await editor.command("stet.proposals")
    waiting = await claude.open_diff(shell.folder / "a.txt", new)
    assert await decision(waiting) == ["FILE_SAVED", new]
    editor.change("a.txt", "four\n", "4\n")
    editor.flush()
    await editor.command("stet.proposals")
    waiting = await claude.open_diff(shell.folder / "a.txt", new)
    with pytest.raises(IdeRefused, match="others that are not saved"):
        await decision(waiting)


async def test_end_of_the_server_answers_and_removes_the_lock_file(shell: Shell) -> None:
    async with AsyncExitStack() as stack:
        async with FakeEditor.start(shell.folder, env=shell.env, settings=ON) as editor:
            editor.open("a.txt")
            lock = await lock_of(shell, editor)
            claude = await stack.enter_async_context(IdeClient.at(lock))
            waiting = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("two", "2"))
            await proposed(editor, 1)
        assert not lock.exists()
        with pytest.raises(IdeRefused, match="Stet is ending"):
            await decision(waiting)


async def test_setting_opens_and_closes_the_server(shell: Shell) -> None:
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await editor.command("stet.proposals")
        assert not ide_folder(shell).exists()
        configure(editor, ON)
        lock = await lock_of(shell, editor)
        configure(editor, {"agents": {"claudeIde": False}})
        while lock.exists():
            await editor.command("stet.status")


async def test_project_can_not_open_the_server(shell: Shell) -> None:
    shell.write(".stet.toml", "[agents]\nclaudeIde = true\n")
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await editor.command("stet.proposals")
        await editor.wait_until(lambda: "agents" in str(editor.messages))
        assert not ide_folder(shell).exists()


async def test_lock_files_of_dead_servers_are_removed_and_others_stay(shell: Shell) -> None:
    folder = ide_folder(shell)
    folder.mkdir(parents=True)
    dead = 2**22 + 1  # above the largest process id of Linux
    contents = {
        "1.lock": json.dumps({"pid": dead, "ideName": "Stet"}),
        "2.lock": json.dumps({"pid": dead, "ideName": "Visual Studio Code"}),
        "3.lock": "{",
        "4.lock": json.dumps({"pid": 1, "ideName": "Stet"}),
    }
    for name, content in contents.items():
        (folder / name).write_text(content)
    async with FakeEditor.start(shell.folder, env=shell.env, settings=ON) as editor:
        names: set[str] = set()
        while not names - contents.keys():
            await editor.command("stet.status")
            names = {path.name for path in folder.glob("*.lock")}
        assert names & contents.keys() == {"2.lock", "3.lock", "4.lock"}
