"""The websocket for Claude Code, and what it is sent about the editor.

Who may not come in, and what may not be changed, is class 39 of `tests/attacks`.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException
from websockets.exceptions import ConnectionClosed

from tests.support.editor import FakeEditor
from tests.support.ide_client import IdeClient, IdeRefused, connection, locks_in, texts, token_of
from tests.support.live_turns import states
from tests.support.shell import Shell
from tests.support.unsaved_text import saved_editor

TEXT = "one\ntwo\nthree\n"
ON = {"agents": {"claudeIde": True}}
KEY = "AKIA" + "QWERTYUIOPASDFGH"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    shell.write(".env", "SECRET=1\n")
    shell.write("conf.py", f"aws = '{KEY}'\nother\n")
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    async with saved_editor(shell, ON) as editor:
        yield editor


@pytest.fixture
async def lock(shell: Shell, editor: FakeEditor) -> Path:
    """Return the lock file of the server, as soon as it is there."""
    while not (found := locks_in(shell.env["HOME"])):
        await editor.command("stet.status")
    return found[0]


@pytest.fixture
async def claude(lock: Path) -> AsyncIterator[IdeClient]:
    async with IdeClient.at(lock) as client:
        yield client


def listeners_of(port: int) -> set[str]:
    """Return the addresses at which the system has listeners of a port, in hexadecimal."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return {line.split()[1] for line in lines if line.split()[1].endswith(f":{port:04X}")}


async def test_port_is_on_loopback_only_and_echoes_the_subprotocol(lock: Path) -> None:
    async with connection(lock, token_of(lock)) as connected:
        assert connected.subprotocol == "mcp"
        assert connected.remote_address[0] == "127.0.0.1"
        assert listeners_of(int(lock.stem)) >= {f"0100007F:{int(lock.stem):04X}"}
        assert {one[:8] for one in listeners_of(int(lock.stem))} == {"0100007F"}


@pytest.mark.parametrize(
    "message",
    [
        "{",
        "[]",
        '[{"jsonrpc":"2.0","id":9,"method":"ping"}]',
        "[" * 200_000,
        '"x"',
        "\0",
        b"\xff\xfe",
        '{"id":{},"method":"ping"}',
        '{"id":true,"method":"tools/call","params":[]}',
        '{"id":"a","method":"tools/call","params":{"name":1}}',
        '{"id":"a","method":"tools/call","params":{"name":"executeCode","arguments":{"code":"1"}}}',
        '{"id":"a","method":"tools/call","params":{"name":"openDiff","arguments":{"tab_name":[]}}}',
        '{"id":"a","method":"no/such"}',
    ],
)
async def test_invalid_message_is_answered_with_an_error(message: str | bytes, lock: Path) -> None:
    async with connection(lock, token_of(lock)) as connected:
        await connected.send(message)
        async with asyncio.timeout(20):
            assert "error" in json.loads(await connected.recv())
            await connected.send('{"jsonrpc":"2.0","id":7,"method":"ping"}')
            assert json.loads(await connected.recv())["result"] == {}


async def test_message_that_is_too_large_ends_its_session_only(
    lock: Path, claude: IdeClient
) -> None:
    connected = await connection(lock, token_of(lock))
    with suppress(ConnectionClosed):
        await connected.send(" " * (16 * 2**20 + 1))
    with pytest.raises(ConnectionClosed):
        await connected.recv()
    assert await claude.ask("ping") == {}


async def test_text_with_half_a_character_is_refused(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    with pytest.raises(IdeRefused, match="valid Unicode"):
        async with asyncio.timeout(20):
            await (await claude.open_diff(shell.folder / "a.txt", "\ud800"))
    assert await states(editor) == {}


async def test_too_many_requests_are_refused(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    # Each is for a file of its own: a diff answers those of the same lines before it.
    waiting = [
        await claude.open_diff(shell.folder / f"{n}.txt", "new\n", f"tab {n}") for n in range(70)
    ]
    for refused in waiting[64:]:
        with pytest.raises(IdeRefused, match="Too many"):
            await refused
    while len(await states(editor)) < 64:
        pass
    assert not any(one.done() for one in waiting[:64])


async def test_selection_is_sent_without_secrets(editor: FakeEditor, claude: IdeClient) -> None:
    editor.select("a.txt", "two")
    sent = await claude.notified("selection_changed", text="two")
    place = {
        "start": {"line": 1, "character": 0},
        "end": {"line": 1, "character": 3},
        "isEmpty": False,
    }
    uri = editor.uri("a.txt")
    assert sent["selection"] == place
    assert (sent["fileUrl"], sent["filePath"]) == (uri, uri.removeprefix("file://"))
    editor.open("conf.py")
    editor.select("conf.py", f"aws = '{KEY}'")
    sent = await claude.notified("selection_changed", fileUrl=editor.uri("conf.py"))
    await editor.command("stet.proposals")
    found = await claude.values("getCurrentSelection")
    assert found["text"] == "aws = '[redacted: AWS key #1]'"
    assert KEY not in str(claude.notifications)


async def test_hidden_file_is_not_sent(editor: FakeEditor, claude: IdeClient) -> None:
    editor.open(".env")
    editor.focus(".env")
    editor.select(".env", "SECRET=1")
    await editor.command("stet.proposals")
    assert (await claude.values("getLatestSelection"))["success"] is False
    tabs = (await claude.values("getOpenEditors"))["tabs"]
    assert [tab["label"] for tab in tabs] == ["a.txt"]
    for tool in ("openFile", "checkDocumentDirty"):
        with pytest.raises(IdeRefused, match="looks like a secret"):
            await claude.call(tool, filePath=editor.uri(".env").removeprefix("file://"))
    with pytest.raises(JsonRpcException, match="looks like a secret"):
        await editor.command("stet.sendSelection", {"uri": editor.uri(".env")})
    editor.select("a.txt", "two")
    await claude.notified("selection_changed", text="two")
    assert "SECRET" not in str(claude.notifications)


async def test_editor_tools(shell: Shell, editor: FakeEditor, claude: IdeClient) -> None:
    path = str(shell.folder / "a.txt")
    folders = await claude.values("getWorkspaceFolders")
    assert [one["path"] for one in folders["folders"]] == [str(shell.folder)]
    assert (await claude.values("checkDocumentDirty", filePath=path))["isDirty"] is False
    editor.change("a.txt", "two\n", "zwei\n")
    editor.flush()
    await editor.command("stet.proposals")
    assert (await claude.values("checkDocumentDirty", filePath=path))["isDirty"] is True
    assert (await claude.values("saveDocument", filePath=path))["success"] is False
    assert await claude.call("openFile", filePath=path) == [f"Opened file: {path}"]
    listed = await claude.ask("tools/list")
    assert {"openDiff", "getDiagnostics"} < {tool["name"] for tool in listed["tools"]}


async def test_selection_is_sent_to_the_prompt(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    path = str(shell.folder / "a.txt")
    sent = await editor.command("stet.sendSelection", {"file": "a.txt", "from": 2, "to": 3})
    assert sent == {"sessions": 1}
    assert await claude.notified("at_mentioned") == {
        "filePath": path,
        "lineStart": 1,
        "lineEnd": 2,
    }
    editor.select("a.txt", "one")
    await editor.command("stet.sendSelection")
    assert (await claude.notified("at_mentioned", lineStart=0))["lineEnd"] == 0
    editor.change("a.txt", "two\n", "zwei\n")
    await editor.command("stet.sendSelection")
    warning = "Claude does not see the unsaved text of a.txt"
    await editor.wait_until(lambda: warning in str(editor.messages))


@pytest.mark.parametrize(
    ("settings", "advice"),
    [(ON, "run `claude --ide` in this folder"), ({}, "set `agents.claudeIde` to true")],
)
async def test_selection_without_claude_is_an_error_with_advice(
    settings: dict[str, Any], advice: str, shell: Shell
) -> None:
    async with FakeEditor.start(shell.folder, env=shell.env, settings=settings) as editor:
        editor.open("a.txt")
        if settings:
            while not locks_in(shell.env["HOME"]):
                await editor.command("stet.status")
        with pytest.raises(JsonRpcException, match=advice):
            await editor.command("stet.sendSelection", {"file": "a.txt", "line": 1})


async def test_two_decisions_of_one_session_wait_beside_each_other(
    shell: Shell, editor: FakeEditor, claude: IdeClient
) -> None:
    first = await claude.open_diff(shell.folder / "a.txt", TEXT.replace("two", "2"), "a")
    while len(await states(editor)) != 1:
        pass
    second = await claude.open_diff(shell.folder / "b.txt", "new\n", "b")
    while len(await states(editor)) != 2:
        pass
    await editor.command("stet.reject", {"file": "a.txt"})
    assert texts(await first) == ["DIFF_REJECTED", "a"]
    assert not second.done()
