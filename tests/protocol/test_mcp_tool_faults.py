"""MCP servers that fail, hang, or send what is not of the protocol: the turn goes on."""

import os
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider, question_of, run, run_answering
from tests.support.mcp_scripts import INITIALIZE, McpScript, Step, calling, offered, results, says
from tests.support.openai_server import OpenAIServer
from tests.support.openai_server import call as reply
from tests.support.restarts import ready

ECHO = ("robot__echo", {"text": "hi"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        (
            [{"stderr": "boom\n\x1b[1mout of memory\n"}, {"exit": 3}],
            "The MCP server 'robot' has ended with exit code 3: boom \\x1b[1mout of memory.",
        ),
        (
            [{"error": {"code": -32000, "message": "quota\nexceeded\x1b[8m"}}],
            "The MCP server 'robot' reports an error: quota exceeded\\x1b[8m.",
        ),
        ([{"error": 7}], "The MCP server 'robot' answered 'tools/call' with what is not of the"),
        (
            [{"result": [1]}],
            "The MCP server 'robot' answered 'tools/call' with what is not of the protocol.",
        ),
        (
            [{"result": {"resultType": "input_required"}}],
            "The MCP server 'robot' asks for input, which Stet does not give.",
        ),
        (
            [{"write": "x" * 1000, "times": 9_000}],
            "The MCP server 'robot' sent a line that is too long, and was stopped.",
        ),
        (
            [{"write": "banner\n" * 11_000}],
            "The MCP server 'robot' sent text that is no message of the protocol, and was stopped.",
        ),
    ],
)
async def test_failed_call_is_an_error_for_the_model_and_the_server_starts_again(
    tmp_path: Path, root: Path, steps: list[Step], error: str
) -> None:
    script = McpScript(tmp_path / "mcp", calls=[steps])
    good = McpScript(tmp_path / "good")
    settings = {"mcpServers": {"robot": script.server(), "good": good.server()}}
    async with (
        calling(ECHO, ("good__echo", {"text": "hi"})) as model,
        FakeEditor.start(root, settings=settings, env=provider(model)) as editor,
    ):
        turn = await run_answering(editor, "Say hi.", "Allow once", "Allow once")
    assert turn["state"] == "completed"
    assert results(model)[0].startswith(f"Error: {error}")
    assert "Hello." in results(model)[1]
    assert turn["toolCalls"][0]["error"].startswith(error)


async def test_server_that_died_is_started_again_at_the_next_call(
    tmp_path: Path, root: Path
) -> None:
    script = McpScript(tmp_path / "mcp", calls=[[{"exit": 0}]])
    async with (
        calling(ECHO, ECHO) as model,
        FakeEditor.start(root, settings=script.settings(), env=provider(model)) as editor,
    ):
        await run_answering(editor, "Say hi.", "Allow once", "Allow once")
    assert len(script.recorded("pid")) == 2
    assert len(script.received("tools/call")) == 2


@pytest.mark.parametrize(
    ("more", "note"),
    [
        (
            {"more": {"command": ["no-such-program"]}},
            "The MCP server 'robot' can't be started: 'no-such-program': No such file or "
            "directory. Set mcpServers.robot.command.",
        ),
        ({"more": {"command": []}}, "The MCP server 'robot' has no program"),
        (
            {"start": [{"stderr": "no key\n"}, {"exit": 1}]},
            "The MCP server 'robot' has ended with exit code 1: no key.",
        ),
        (
            {"initialize": {**INITIALIZE, "protocolVersion": "1999-01-01"}},
            "The MCP server 'robot' speaks a version of the protocol that Stet does not know: 1999-01-01.",
        ),
        (
            {"initialize": {}},
            "The MCP server 'robot' speaks a version of the protocol that Stet does not know: unknown.",
        ),
        ({"lists": ["none"]}, "The MCP server 'robot' sent a list of tools that is not of the"),
        (
            {"errors": {"tools/list": {"code": 1, "message": "no tools"}}},
            "The MCP server 'robot' reports an error: no tools.",
        ),
    ],
)
async def test_server_that_can_not_be_used_is_a_note_of_the_turn(
    tmp_path: Path, root: Path, more: dict[str, Any], note: str
) -> None:
    script = McpScript(tmp_path / "mcp", **more)
    async with (
        calling() as model,
        FakeEditor.start(root, settings=script.settings(), env=provider(model)) as editor,
    ):
        turn = await run(editor, "Hello.")
        status = await ready(editor)
    assert turn["state"] == "completed"
    assert turn["notes"][0].startswith(note)
    assert offered(model) == {}
    assert status["mcpServers"] == [{"name": "robot", "state": "failed", "tools": 0}]


async def test_noise_requests_and_late_answers_are_left_out(tmp_path: Path, root: Path) -> None:
    noise: list[Step] = [
        *({"write": line} for line in ("no json", "[]", "17", "[" * 100_000, '{"id": NaN}')),
        {"send": {"id": 999, "result": {}}},
        {"send": {"id": [], "result": {}}},
        {"send": {"id": 3, "method": "ping"}},
        {"send": {"id": "s", "method": "sampling/createMessage", "params": {}}},
        {"send": {"method": "notifications/message", "params": {"data": "x" * 300_000}}},
        {"send": {"method": 5}},
        says("Still here."),
    ]
    script = McpScript(tmp_path / "mcp", calls=[noise], start=[{"write": "Welcome!"}])
    async with (
        calling(ECHO) as model,
        FakeEditor.start(root, settings=script.settings(), env=provider(model)) as editor,
    ):
        await run_answering(editor, "Say hi.", "Allow once")
        await editor.wait_until(lambda: len(answers(script)) == 2, every=0.05)
    assert "Still here." in results(model)[0]
    assert answers(script) == {
        3: {"result": {}}, "s": {"error": {"code": -32601, "message": "Method not found"}}
    }  # fmt: skip


def answers(script: McpScript) -> dict[Any, Any]:
    """Return the client's answers by the id of the request."""
    found = [one for one in script.log() if "id" in one and "method" not in one]
    return {one["id"]: {k: one[k] for k in ("result", "error") if k in one} for one in found}


async def test_cancelled_turn_cancels_the_call(tmp_path: Path, root: Path) -> None:
    cancelled = "notifications/cancelled"
    script = McpScript(tmp_path / "mcp", calls=[[{"wait": cancelled}, says("Too late.")]])
    async with (
        OpenAIServer([reply("robot__echo", text="hi")]) as model,
        FakeEditor.start(root, settings=script.settings(), env=provider(model)) as editor,
    ):
        turn = await ask(editor, "Say hi.")
        asked = await question_of(editor, turn)
        await editor.command("stet.answer", {"question": asked, "text": "Allow once"})
        await editor.wait_until(lambda: script.received("tools/call"), every=0.05)
        await editor.command("stet.cancel", {"turn": turn})
        ended = await end_of(editor, turn)
        await editor.wait_until(lambda: script.received(cancelled), every=0.05)
    assert ended["state"] == "cancelled"
    [params] = script.received(cancelled)
    call = next(one for one in script.log() if one.get("method") == "tools/call")
    assert params["requestId"] == call["id"]


async def test_server_without_initialize_is_asked_without_a_session(
    tmp_path: Path, root: Path
) -> None:
    unknown = {"initialize": {"code": -32601, "message": "Method not found"}}
    script = McpScript(
        tmp_path / "mcp", errors=unknown, calls=[[says("Hi.", resultType="complete")]]
    )
    async with (
        calling(ECHO) as model,
        FakeEditor.start(root, settings=script.settings(), env=provider(model)) as editor,
    ):
        await run_answering(editor, "Say hi.", "Allow once")
    assert "Hi.\n" in results(model)[0]
    meta = script.received("tools/call")[0]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert script.received("notifications/initialized") == []


async def test_processes_end_with_the_editor_and_with_their_setting(
    tmp_path: Path, root: Path
) -> None:
    script = McpScript(tmp_path / "mcp", calls=[[{"child": True}, says("Started.")]])
    done = reply("done", summary="Done.")
    async with (
        OpenAIServer([reply("robot__echo", text="hi"), done, done, done]) as model,
        FakeEditor.start(root, settings=script.settings(), env=provider(model)) as editor,
    ):
        await run_answering(editor, "Say hi.", "Allow once")
        first = processes(script)
        assert len(first) == 2
        script.more = {"tools": ["e*"]}
        changed = {"stet": script.settings()}
        editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(changed))
        await run(editor, "And now?")
        assert len(processes(script)) == 1
        assert not set(first) & set(processes(script))
    assert processes(script) == []


def processes(script: McpScript) -> list[int]:
    """Return the ids of the processes of a server that run."""
    return [pid for pid in (*script.recorded("pid"), *script.recorded("child")) if runs(pid)]


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
