"""Agents that fail, hang, or send what is not of the protocol: the turn ends with one sentence."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.acp_scripts import AcpScript, Step, read, say, write
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, run

LOGIN = {"session/new": {"code": -32000, "message": "Authentication required"}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


@pytest.mark.parametrize(
    ("steps", "more", "error"),
    [
        (
            [say("I begin."), {"error": "boom\n\x1b[1mout of memory\n"}, {"exit": 3}],
            {},
            "The agent robot ended with exit code 3: boom \\x1b[1mout of memory.",
        ),
        (
            [{"fail": -32603, "message": "quota\nexceeded"}],
            {},
            "The agent robot reports an error: quota exceeded.",
        ),
        ([{"end": {"stopReason": "refusal"}}], {}, "The agent refused to answer."),
        (
            [{"end": {"stopReason": "dancing"}}],
            {},
            "The agent robot sent an answer (Prompt) that is not of the protocol.",
        ),
        (
            [{"write": "x" * 1000, "times": 17_000}],
            {},
            "The agent robot sent a line that is too long, and was stopped.",
        ),
        (
            [{"write": "banner\n" * 11_000}],
            {},
            "The agent robot sent text that is no message of the protocol, and was stopped.",
        ),
        (
            [],
            {"errors": LOGIN},
            "The agent robot needs a login. Run `qwen` in a terminal and log in, then ask again.",
        ),
        (
            [],
            {"initialize": {"protocolVersion": 2}},
            "The agent robot speaks version 2 of the Agent Client Protocol; Stet speaks version 1.",
        ),
        (
            [],
            {"session": {"sessionId": 7}},
            "The agent robot sent an answer (NewSession) that is not of the protocol.",
        ),
        (
            [],
            {"more": {"mode": "wild"}},
            "The agent robot has no mode 'wild'. Known: none.",
        ),
        (
            [],
            {"more": {"model": "m1", "profile": "generic"}},
            "The agent robot has no model 'm1'. Known: none.",
        ),
        (
            [],
            {"more": {"command": ["no-such-program"]}},
            "The program 'no-such-program' of the agent robot was not found. Install it, or set "
            "agents.servers.robot.command.",
        ),
    ],
)
async def test_failure_is_one_sentence(
    tmp_path: Path, root: Path, steps: list[Step], more: dict[str, Any], error: str
) -> None:
    script = AcpScript(tmp_path / "agent", [steps], **more)
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        turn = await run(editor, "Go.", agent="robot")
    assert (turn["state"], turn["error"], turn["success"]) == ("failed", error, False)


async def test_unknown_agent_and_agent_without_a_program(tmp_path: Path, root: Path) -> None:
    settings: dict[str, Any] = {"agents": {"servers": {"mine": {}}}}
    async with FakeEditor.start(root, settings=settings) as editor:
        turn = await run(editor, "Go.", agent="nobody")
        assert turn["error"].startswith("There is no agent 'nobody'. Known agents: stet, mine, ")
        turn = await run(editor, "Go on.", agent="mine")
        assert turn["error"] == "Set agents.servers.mine.command to the program of the agent."
        turn = await run(editor, "Shorten.", agent="mine", mode="rewrite")
        assert turn["error"] == "The agent mine can't answer in the mode 'rewrite'."


async def test_messages_of_another_form_are_left_out(tmp_path: Path, root: Path) -> None:
    raw = [
        "no json", "[]", "17", '"x"', "[" * 100_000, '{"id": 99, "result": {}}',
        '{"id": [], "result": 1}', '{"id": 1, "error": 7}', '{"method": 5}',
        '{"method": "session/update", "params": []}',
        '{"method": "session/update", "params": {"update": {"sessionUpdate": ["x"]}}}',
        '{"method": "session/update", "params": {"update": {"sessionUpdate": "plan"}}}',
        '{"method": "session/update", "params": {"update": {"sessionUpdate": "unheard"}}}',
        '{"method": "session/unheard", "params": {}}',
    ]  # fmt: skip
    large = {"sessionUpdate": "available_commands_update", "availableCommands": ["x" * 600_000]}
    steps: list[Step] = [
        *({"write": line} for line in raw),
        {"update": large},
        {"request": "terminal/create", "params": {"command": "ls"}},
        {"request": "craft/drainMidTurnQueue", "params": {}},
        {"request": "fs/read_text_file", "params": {}},
        {"request": "session/request_permission", "params": {"options": 7}},
        say("Still here."),
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        assert (await run(editor, "Go.", agent="robot"))["answer"] == "Still here."
    assert [one["code"] for one in script.answers("terminal/create")] == [-32601]
    assert [one["code"] for one in script.answers("craft/drainMidTurnQueue")] == [-32601]
    assert [one["code"] for one in script.answers("fs/read_text_file")] == [-32602]
    assert [one["code"] for one in script.answers("session/request_permission")] == [-32602]
    [initialized] = script.received("initialize")
    assert initialized["clientCapabilities"]["terminal"] is False


async def test_agent_that_ignores_a_cancel_is_killed_with_its_children(
    tmp_path: Path, root: Path
) -> None:
    steps = [{"child": 600}, read(root / "a.txt"), {"wait": "ever"}]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        turn = await ask(editor, "Go.", agent="robot")
        await editor.wait_until(lambda: script.answers("fs/read_text_file"), every=0.02)
        await editor.command("stet.cancel", {"turn": turn})
        assert (await end_of(editor, turn))["state"] == "cancelled"
        await editor.wait_until(lambda: not script.pids(), every=0.05)
        assert len(script.received("session/cancel")) == 1
        (tmp_path / "agent" / "script.json").write_text(
            '{"prompts": [[]], "initialize": {}, "session": {}, "errors": {}, "replay": []}'
        )
        assert (await run(editor, "Again.", agent="robot"))["state"] == "completed"


async def test_agent_ends_with_the_server(tmp_path: Path, root: Path) -> None:
    script = AcpScript(tmp_path / "agent", [[{"child": 600}, say("Yes.")]])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        await run(editor, "Go.", agent="robot")
        assert len(script.pids()) == 2
    assert script.pids() == []


async def test_files_outside_of_the_workspace_are_refused(tmp_path: Path, root: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret\n")
    (root / "link.txt").symlink_to(outside)
    (root / ".env").write_text("KEY=1\n")
    paths = [outside, root / ".." / "secret.txt", root / "link.txt", root / ".env", Path("a.txt")]
    steps = [step for path in paths for step in (read(path), write(path, "mine\n"))]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        await run(editor, "Go.", agent="robot")
        assert await editor.command("stet.proposals") == []
    answers = [*script.answers("fs/read_text_file"), *script.answers("fs/write_text_file")]
    assert len(answers) == 2 * len(paths)
    assert all("code" in one for one in answers), answers
    assert "secret\n" not in str(answers)
    assert outside.read_text() == "secret\n"


async def test_a_project_starts_no_program(tmp_path: Path, root: Path) -> None:
    script = AcpScript(tmp_path / "agent", [[say("Yes.")]])
    server = script.settings()["agents"]["servers"]["robot"]
    command = ", ".join(f"'{word}'" for word in server["command"])
    (root / ".stet.toml").write_text(
        f"[agents]\ndefault = 'robot'\n[agents.servers.robot]\ncommand = [{command}]\n"
    )
    async with FakeEditor.start(root) as editor:
        turn = await run(editor, "Go.", agent="robot")
        assert turn["error"].startswith("There is no agent 'robot'.")
        await editor.wait_until(
            lambda: "setting 'agents.servers' is ignored" in str(editor.messages)
        )
    assert script.log() == []


async def test_environment_is_an_allow_list(tmp_path: Path, root: Path) -> None:
    script = AcpScript(
        tmp_path / "agent",
        [[{"environment": True}]],
        more={"passEnv": ["WANTED"], "profile": "gemini"},
    )
    env = {"WANTED": "1", "UNWANTED": "2", "OPENAI_API_KEY": "3", "GEMINI_API_KEY": "4"}
    async with FakeEditor.start(root, settings=script.settings(), env=env) as editor:
        await run(editor, "Go.", agent="robot")
    [names] = [set(one["environment"]) for one in script.log() if "environment" in one]
    assert names >= {"PATH", "HOME", "WANTED", "GEMINI_API_KEY", "PYTHONPATH"}
    assert names & {"UNWANTED", "OPENAI_API_KEY"} == set()
    assert os.environ.keys() - names


async def test_agent_that_ends_before_its_answer_is_started_again(
    tmp_path: Path, root: Path
) -> None:
    path = root / "a.txt"
    posted = {"post": "fs/read_text_file", "params": {"sessionId": "session-1", "path": str(path)}}
    script = AcpScript(tmp_path / "agent", [[posted, {"exit": 0}]])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        for prompt in ("Go.", "Go on."):
            turn = await run(editor, prompt, agent="robot")
            assert turn["error"] == "The agent robot ended with exit code 0."
    assert len(script.received("session/new")) == 2
