"""`stet mcp`, a real process, with the client of the MCP SDK and a server with an editor."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from stet.control.control_client import find_servers
from tests.support.editor import FakeEditor
from tests.support.shell import STET, Shell

SAVED = "one\ntwo\nthree\n"
LIVE = "one, unsaved\ntwo\nthree\n"
both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
KEY = "AKIA" + "IOSFODNN7EXAMPLQ"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", SAVED)
    shell.write(".env", "SECRET=1\n")
    shell.write("keys.py", f'KEY = "{KEY}"\nNAME = 1\n')
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    """Start an editor whose buffer of `a.txt` has an unsaved line."""
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one\n", "one, unsaved\n")
        editor.flush()
        await reachable(shell, editor)
        yield editor


@asynccontextmanager
async def connected(shell: Shell, mode: str = "legacy", *options: str) -> AsyncIterator[Client]:
    """Start `stet mcp` and connect to it."""
    program, *arguments = STET
    server = StdioServerParameters(
        command=program,
        args=[*arguments, "mcp", *options],
        env=shell.env,
        cwd=shell.folder,
    )
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


async def reachable(shell: Shell, editor: FakeEditor) -> None:
    """Wait until other programs find the server of an editor."""
    runtime = Path(shell.env["XDG_CACHE_HOME"], "stet", "run")
    while not find_servers(runtime, str(shell.folder)):
        await editor.command("stet.status")


async def call(client: Client, tool: str, **arguments: object) -> Any:
    """Call a tool; return its structured result, or the text of its error."""
    result = await client.call_tool(tool, dict(arguments))
    [content] = result.content
    assert content.type == "text"
    if result.is_error:
        return content.text
    assert json.loads(content.text) == result.structured_content
    return result.structured_content


async def states(editor: FakeEditor) -> dict[str, str]:
    """Return the state of each hunk by its new text."""
    return {item["new"]: item["state"] for item in await editor.command("stet.proposals")}


@both_eras
async def test_agent_reads_live_text_and_proposes(
    mode: str, shell: Shell, editor: FakeEditor
) -> None:
    async with connected(shell, mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else mode)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == snapshot(
            [
                "editor_state",
                "get_diagnostics",
                "list_proposals",
                "propose_edit",
                "propose_file",
                "read_file",
                "search",
                "wait_for_review",
            ]
        )
        hints = {
            name: tool.annotations.read_only_hint
            for name, tool in tools.items()
            if tool.annotations
        }
        assert [name for name, is_read in hints.items() if not is_read] == [
            "propose_edit",
            "propose_file",
        ]
        assert await call(client, "read_file", path="a.txt") == {
            "path": "a.txt", "text": LIVE, "start_line": 1, "end_line": 3, "total_lines": 3,
            "is_saved_text": False,
        }  # fmt: skip
        made = await call(client, "propose_edit", path="a.txt", old_text="two", new_text="2")
        [hunk] = made["hunks"]
        assert (await call(client, "read_file", path="a.txt", start_line=2, end_line=2))[
            "text"
        ] == "2\n"
        new = await call(client, "propose_file", path="sub/new.py", content="x = (\n")
        assert new["check"] == {
            "state": "problems",
            "problems": [
                {"line": 1, "column": 5, "severity": "error", "message": "'(' was never closed"}
            ],
        }
        [item] = [one for one in await editor.command("stet.proposals") if one["hunk"] == hunk]
        assert (item["new"], item["state"], item["author"]) == ("2\n", "pending", "mcp")
        assert editor.text("a.txt") == LIVE
    assert (shell.folder / "a.txt").read_text() == SAVED
    assert not (shell.folder / "sub").exists()


async def test_sessions_see_their_own_pending_text_only(shell: Shell, editor: FakeEditor) -> None:
    async with connected(shell) as one, connected(shell) as two:
        made = await call(one, "propose_edit", path="a.txt", old_text="two", new_text="2")
        assert (await call(two, "read_file", path="a.txt"))["text"] == LIVE
        assert await call(two, "list_proposals") == {"proposals": []}
        refused = await call(two, "wait_for_review", hunks=made["hunks"])
        assert refused.startswith(f"you have not proposed '{made['hunks'][0]}'")


async def test_file_is_merged_with_what_was_typed_since_it_was_read(
    shell: Shell, editor: FakeEditor
) -> None:
    async with connected(shell) as client:
        read = (await call(client, "read_file", path="a.txt"))["text"]
        assert read == LIVE
        editor.change("a.txt", "three\n", "drei\n")
        editor.flush()
        new = read.replace("one", "1").replace("three", "3")
        made = await call(client, "propose_file", path="a.txt", content=new)
        items = {item["hunk"]: item for item in await editor.command("stet.proposals")}
        assert [items[one]["state"] for one in made["hunks"]] == ["pending", "conflict"]
        assert [items[one]["old"] for one in made["hunks"]] == ["one, unsaved\n", "drei\n"]
        assert made["report"].endswith("The user's lines are now:\ndrei\n")
        again = await call(client, "propose_file", path="a.txt", content=new)
        assert again["hunks"] == []
    assert editor.text("a.txt") == LIVE.replace("three", "drei")


async def test_wait_for_review_reports_progress_and_the_decisions(
    shell: Shell, editor: FakeEditor
) -> None:
    async with connected(shell) as client:
        hunks = []
        for old, new in (("two", "2"), ("three", "3")):
            made = await call(client, "propose_edit", path="a.txt", old_text=old, new_text=new)
            hunks += made["hunks"]
        seen: list[tuple[float, str | None]] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, message))
            if progress == 0:
                await editor.command("stet.reject", {"hunk": hunks[0], "reason": "a word"})
            else:
                await editor.command("stet.accept", {"hunk": hunks[1], "new": "III\n"})

        result = await client.call_tool(
            "wait_for_review", {"hunks": hunks}, progress_callback=on_progress
        )
        assert seen == [(0, "0 of 2 decided"), (1, "1 of 2 decided")]
        assert result.structured_content is not None
        first, second = result.structured_content["proposals"]
        assert (first["state"], first["reason"]) == ("rejected", "a word")
        assert (second["state"], second["new_text"], second["amended"]) == (
            "accepted",
            "III\n",
            True,
        )
        assert [
            one["state"]
            for one in (await call(client, "list_proposals", state="accepted"))["proposals"]
        ] == ["accepted"]


async def test_wait_for_review_ends_in_time_and_can_be_cancelled(
    shell: Shell, editor: FakeEditor
) -> None:
    async with connected(shell) as client:
        made = await call(client, "propose_edit", path="a.txt", old_text="two", new_text="2")
        waited = await call(client, "wait_for_review", hunks=made["hunks"], timeout_seconds=1)
        assert [one["state"] for one in waited["proposals"]] == ["pending"]
        begun = asyncio.Event()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(
                client.call_tool(
                    "wait_for_review", {"hunks": made["hunks"]}, progress_callback=on_progress
                )
            )
            await begun.wait()
            waiting.cancel()
        assert waiting.cancelled()
        assert (await call(client, "read_file", path="a.txt"))["total_lines"] == 3


REFUSED: list[tuple[str, dict[str, object], str]] = [
    ("read_file", {"path": ".env"}, "'.env' looks like a secret"),
    ("read_file", {"path": "../outside.txt"}, "outside"),
    ("read_file", {"path": "/etc/passwd"}, "outside"),
    ("read_file", {"path": "none.txt"}, "there is no file 'none.txt'"),
    ("read_file", {"path": "a.txt", "lines": 3}, "lines: Extra inputs are not permitted"),
    ("propose_edit", {"path": "a.txt", "old_text": "four", "new_text": "4"}, "not in"),
    ("propose_edit", {"path": "a.txt", "old_text": "o", "new_text": "0"}, "o"),
    ("propose_edit", {"path": ".env", "old_text": "1", "new_text": "2"}, "looks like a secret"),
    ("propose_file", {"path": ".git/hooks/x", "content": "x\n"}, "version control"),
    ("propose_file", {"path": "../x.txt", "content": "x\n"}, "contains `..`"),
    ("wait_for_review", {"hunks": []}, "hunks: List should have at least 1 item"),
    ("search", {"query": ""}, "query: String should have at least 1 character"),
    ("delete_file", {"path": "a.txt"}, "there is no tool 'delete_file'"),
]
"""Calls that are refused, and a part of the message."""


async def test_call_is_refused_with_a_sentence(shell: Shell, editor: FakeEditor) -> None:
    (shell.folder.parent / "outside.txt").write_text("x\n")
    async with connected(shell) as client:
        for tool, arguments, error in REFUSED:
            refused = await call(client, tool, **arguments)
            assert isinstance(refused, str), (tool, arguments, refused)
            assert error in refused
    assert await states(editor) == {}


async def test_secret_is_a_mark_that_an_edit_may_keep(shell: Shell, editor: FakeEditor) -> None:
    while (await editor.command("stet.status"))["index"]["state"] != "ready":
        continue  # the search has no result before
    async with connected(shell) as client:
        text = (await call(client, "read_file", path="keys.py"))["text"]
        assert KEY not in text
        first = text.splitlines()[0]
        await call(
            client, "propose_edit", path="keys.py",
            old_text=text, new_text=f"{first}  # the key\nNAME = 2\n",
        )  # fmt: skip
        assert await states(editor) == {f'KEY = "{KEY}"  # the key\nNAME = 2\n': "pending"}
        found = await call(client, "search", query="KEY")
        assert KEY not in found["results"]
        assert "keys.py:1" in found["results"]


async def test_editor_state_has_open_files_cursor_and_selection(
    shell: Shell, editor: FakeEditor
) -> None:
    focus = {"uri": editor.uri("a.txt"), "range": {
        "start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3},
    }}  # fmt: skip
    await editor.command("stet.focus", focus)
    async with connected(shell) as client:
        assert await call(client, "editor_state") == {
            "folders": [str(shell.folder)],
            "open_files": ["a.txt"],
            "active_file": "a.txt",
            "cursor": {"line": 2, "column": 4},
            "selection": {"start_line": 2, "end_line": 2, "text": "two"},
        }


async def test_get_diagnostics_checks_the_pending_text(shell: Shell, editor: FakeEditor) -> None:
    async with connected(shell) as client:
        assert await call(client, "get_diagnostics") == {"files": []}
        await call(client, "propose_edit", path="keys.py", old_text="NAME = 1", new_text="NAME =")
        [found] = (await call(client, "get_diagnostics"))["files"]
        assert (found["path"], found["state"]) == ("keys.py", "problems")
        [text] = (await call(client, "get_diagnostics", path="a.txt"))["files"]
        assert text["state"] == "unchecked"


async def test_server_that_ends_is_an_error_and_the_next_one_is_found(shell: Shell) -> None:
    async with AsyncExitStack() as stack:
        async with FakeEditor.start(shell.folder, env=shell.env) as editor:
            await reachable(shell, editor)
            client = await stack.enter_async_context(connected(shell))
            assert (await call(client, "read_file", path="a.txt"))["text"] == SAVED
        lost = await call(client, "read_file", path="a.txt")
        assert lost.startswith("no editor with Stet has ")
        async with FakeEditor.start(shell.folder, env=shell.env) as editor:
            await reachable(shell, editor)
            assert (await call(client, "read_file", path="a.txt"))["text"] == SAVED


def test_without_an_editor_there_is_a_message(shell: Shell) -> None:
    ended = shell.run("mcp")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"stet: no editor with Stet has {shell.folder} open. Ask the user to open the folder in an "
        "editor with Stet.\n"
    )
    ended = shell.run("mcp", "--server", "1")
    assert (ended.returncode, ended.stderr) == (1, "stet: there is no Stet server with the id 1.\n")


async def test_unknown_methods_are_refused_in_the_session(shell: Shell, editor: FakeEditor) -> None:
    """Clients try `server/discover` first, and take any other answer than -32601 as fatal."""
    program, *arguments = STET
    process = await asyncio.create_subprocess_exec(
        program, *arguments, "mcp",
        cwd=shell.folder, env=shell.env,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "Codex MCP", "version": "1"},
    }
    messages = (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "resources/list"},
        {"id": 3, "method": "craft/unknown"},
    )
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    answers = [json.loads(await process.stdout.readline()) for _ in range(3)]
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert "Don't repeat an edit" in answers[0]["result"]["instructions"]
    assert [one["error"]["code"] for one in answers[1:]] == [-32601, -32601]
    process.stdin.close()
    assert await process.wait() == 0
