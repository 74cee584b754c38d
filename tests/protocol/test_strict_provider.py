"""Providers that validate names, ids and arguments: no call of a model breaks its chat."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer, Reply
from tests.support.restarts import ready, until_killed
from tests.support.shell import Shell
from tests.support.state_stores import query
from tests.support.strict_provider import StrictProvider

DONE = api.call("done", summary="Done.")
SLIPS = [
    "functions.read_file",
    "default_api:read_file",
    "read_file<|channel|>commentary",
    "ReadFile",
    '"read_file"',
    "functions.read_file:3",
]
NO_TOOLS = [" ", "x" * 65, "\u00e9", "make.coffee", "\x00", "a b", "\U0001f600" * 40, "1", "-"]
LONG_ID = "call_" + "0123456789" * 7


def calling(name: str, call_id: str = "call_0", arguments: str = '{"file": "a.txt"}') -> Reply:
    """Make an answer that calls one tool, with unchanged arguments."""
    return api.of(Completion("", (ToolCall(call_id, name, arguments),)))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


async def test_a_usual_slip_is_carried_out_as_the_tool_it_means(root: Path) -> None:
    lines = [json.dumps({"file": "a.txt", "end_line": n}) for n in range(2, 2 + len(SLIPS))]
    calls = [calling(name, arguments=given) for name, given in zip(SLIPS, lines, strict=True)]
    strict = StrictProvider(*calls, DONE)
    async with (
        OpenAIServer([strict] * 20) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        turn = await run(editor, "Read it")
    assert (turn["state"], strict.refusals) == ("completed", [])
    [*reads, _] = turn["toolCalls"]
    assert [(one["tool"], one["state"]) for one in reads] == [("read_file", "completed")] * len(
        SLIPS
    )
    reported = [one for one in server.requests[-1].body["messages"] if one["role"] == "tool"]
    assert all("two" in one["content"] for one in reported)


async def test_no_name_id_or_argument_breaks_a_chat_or_its_continuation(
    root: Path, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    odd = [
        *map(calling, NO_TOOLS),
        *(
            calling("read_file", call_id, f'{{"file": "{n}.txt"}}')
            for n, call_id in enumerate(("", LONG_ID, LONG_ID, "\u00e9", "a.b:1"))
        ),
        calling("read_file", arguments='{"file": "\\ud83d"}'),
        calling("read_file", arguments='{"file": "' + "x" * 400_000 + '"}'),
        calling("read_file", arguments='{"file": ' + "[" * 900 + "]" * 900 + "}"),
    ]
    first, second = StrictProvider(*odd, DONE, DONE), StrictProvider(DONE)
    settings = {
        "agent": {"maxIterations": 20, "maxTokens": 10_000_000},
        "context": {"warnTokens": 10_000_000},
    }
    async with OpenAIServer([first] * 40) as server:
        env = {**provider(server), **state}
        async with FakeEditor.start(root, env=env, settings=settings) as editor:
            editor.open("a.txt")
            turn = await run(editor, "Do odd things")
            assert turn["state"] == "completed", turn["error"]
            assert (await run(editor, "And now?"))["state"] == "completed"
        assert first.refusals == []
    async with OpenAIServer([second] * 3) as server:
        env = {**provider(server), **state}
        async with FakeEditor.start(root, env=env, settings=settings) as editor:
            await ready(editor)
            turn = await run(editor, "Still there?")
        assert (turn["state"], second.refusals) == ("completed", [])
        [asked] = server.requests
    assert "Do odd things" in json.dumps(asked.body)
    sent = [call for one in asked.body["messages"] for call in one.get("tool_calls", [])]
    assert len(sent) == len(odd) + 2


def broken(fields: str) -> str:
    """Return a stored conversation as an earlier version may have left it."""
    kept = json.loads(fields)
    for exchange in kept["history"]:
        for message in exchange["messages"]:
            for call in message["tool_calls"]:
                call |= {"id": LONG_ID, "name": "functions.\u00e9 ", "arguments": '{"a": NaN}'}
            if message["role"] == "tool":
                message["tool_call_id"] = LONG_ID
        exchange["messages"].append(
            {"role": "tool", "content": "?", "tool_calls": [], "tool_call_id": "of nobody"}
        )
    return json.dumps(kept)


async def test_a_chat_that_is_already_broken_goes_on(root: Path, tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with (
        OpenAIServer([*map(calling, SLIPS), DONE]) as server,
        until_killed(root, {**provider(server), **env}) as editor,
    ):
        editor.open("a.txt")
        await run(editor, "The first question")
        [database] = (tmp_path / "state").rglob("state.db")
        while not (rows := query(database, "SELECT nth, fields FROM chat")):
            await editor.command("stet.status")  # a chat is stored after its turn
    for nth, fields in rows:
        query(database, "UPDATE chat SET fields = ? WHERE nth = ?", broken(str(fields)), nth)
    strict = StrictProvider(DONE)
    async with (
        OpenAIServer([strict] * 2) as server,
        FakeEditor.start(root, env={**provider(server), **env}) as editor,
    ):
        await ready(editor)
        turn = await run(editor, "The second question")
    assert (turn["state"], strict.refusals) == ("completed", [])
    assert "The first question" in json.dumps(server.requests[0].body)


async def test_a_shell_s_question_survives_odd_calls(tmp_path: Path) -> None:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", "one\ntwo\n")
    edit = json.dumps({"file": "a.txt", "old_text": "two", "new_text": "2"})
    replies = [calling(name, LONG_ID) for name in NO_TOOLS[:4]]
    strict = StrictProvider(*replies, calling("functions.edit_file", LONG_ID, edit), DONE)
    async with OpenAIServer([strict] * 20) as server:
        done = await asyncio.to_thread(
            shell.run, "ask", "Go", "--file", "a.txt", "--accept", "all", env=provider(server)
        )
    assert (done.returncode, strict.refusals) == (0, []), done.stderr
    assert (shell.folder / "a.txt").read_text() == "one\n2\n"
    reported: list[Any] = [
        one for one in server.requests[-1].body["messages"] if one["role"] == "tool"
    ]
    assert "There is no tool" in reported[0]["content"]
