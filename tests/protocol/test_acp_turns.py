"""Questions that another agent answers over the Agent Client Protocol: a real process each."""

import asyncio
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.acp_scripts import (
    OPTIONS,
    AcpScript,
    permission,
    plan,
    progress,
    read,
    say,
    think,
    tool,
    write,
)
from tests.support.chat_documents import ended, opened, until
from tests.support.chat_documents import write as write_question
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider, question_of, run, run_answering
from tests.support.openai_server import OpenAIServer

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


async def test_edit_of_unsaved_text_becomes_a_hunk(tmp_path: Path, root: Path) -> None:
    path = root / "a.txt"
    located = [{"path": str(path)}]
    steps = [
        read(path),
        tool("Edit it", kind="edit", locations=located, status="in_progress"),
        write(path, "one, unsaved\n2\nthree\n"),
        read(path),
        progress("Edit it", status="completed"),
        say("I changed "),
        say("line 2."),
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one\n", "one, unsaved\n")
        turn = await run(editor, "Change line 2.", agent="robot")
        assert (turn["state"], turn["agent"]) == ("completed", "robot")
        assert (turn["answer"], turn["filesRead"]) == ("I changed line 2.", ["a.txt"])
        assert turn["toolCalls"] == [
            {"id": "Edit it", "tool": "edit", "state": "completed", "file": "a.txt"}
        ]
        [item] = await editor.command("stet.proposals")
        assert (item["new"], item["author"], item["turn"]) == ("2\n", "robot", turn["turn"])
        first, second = script.answers("fs/read_text_file")
        assert first == {"content": "one, unsaved\ntwo\nthree\n"}
        assert second == {"content": "one, unsaved\n2\nthree\n"}
        assert path.read_text() == TEXT
        assert editor.text("a.txt") == "one, unsaved\ntwo\nthree\n"
        await editor.command("stet.accept", {"hunk": item["hunk"]})
        await editor.wait_until(lambda: editor.text("a.txt") == "one, unsaved\n2\nthree\n")


async def test_chat_is_the_transcript(tmp_path: Path, root: Path) -> None:
    todo = [("Read", "completed"), ("Write", "in_progress")]
    steps = [
        think("Hm. I should read\nfirst."),
        plan(*todo),
        tool("Read", kind="read", locations=[{"path": str(root / "a.txt")}], status="completed"),
        tool("npm test", kind="execute", status="failed"),
        say("# Done\nAll is well."),
        plan(("Read", "completed"), ("Write", "completed")),
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        uri = await opened(editor)
        turn = await run(editor, "Do it.", agent="robot")
        text = await until(editor, uri, ended(turn["turn"]))
    lines = [line for line in text.splitlines() if line.strip()]
    start = lines.index("- thought: Hm. I should read first.")
    assert lines[start : start + 11] == [
        "- thought: Hm. I should read first.",
        "Plan:",
        "- [x] Read",
        "- [ ] Write",
        "- read a.txt",
        "- npm test: failed",
        "### Done",
        "All is well.",
        "Plan:",
        "- [x] Read",
        "- [x] Write",
    ]


async def test_permission_is_a_question_and_the_user_types_before_the_edit(
    tmp_path: Path, root: Path
) -> None:
    path = root / "a.txt"
    command = {"command": "rm -rf build"}
    steps = [
        read(path),
        permission("Run a command", kind="execute", rawInput=command),
        permission("Again", kind="execute"),
        write(path, "one\n2\nthree\n"),
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.open("a.txt")
        editor.leaves_buttons = True
        turn = await ask(editor, "Clean up.", agent="robot")
        first = await question_of(editor, turn)
        found = await editor.command("stet.turn", {"turn": turn})
        assert found["state"] == "waiting"
        assert found["question"]["text"] == (
            "robot asks for permission: Run a command\n    rm -rf build"
        )
        assert found["question"]["choices"] == ["Allow", "Reject"]
        editor.change("a.txt", "three\n", "three, typed\n")
        editor.flush()
        await editor.command("stet.answer", {"question": first, "choice": "Allow"})
        second = await question_of(editor, turn, after=first)
        await editor.command("stet.answer", {"question": second, "choice": "no"})
        assert (await end_of(editor, turn))["state"] == "completed"
        assert [one["outcome"] for one in script.answers("session/request_permission")] == [
            {"outcome": "selected", "optionId": "yes"},
            {"outcome": "selected", "optionId": "no"},
        ]
        [item] = await editor.command("stet.proposals")
        await editor.command("stet.accept", {"hunk": item["hunk"]})
        await editor.wait_until(lambda: editor.text("a.txt") == "one\n2\nthree, typed\n")


async def test_permission_question_indents_the_command(tmp_path: Path, root: Path) -> None:
    steps = [
        permission(
            "Clean",
            kind="execute",
            rawInput={"command": "rm -r \\\nfile: harmless.txt"},
            locations=[{"path": "/etc/hosts\nfile: harmless.txt"}],
        )
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.leaves_buttons = True
        turn = await ask(editor, "Clean up.", agent="robot")
        question = await question_of(editor, turn)
        found = await editor.command("stet.turn", {"turn": turn})
        assert found["question"]["text"].split("\n") == [
            "robot asks for permission: Clean",
            "file: /etc/hosts file: harmless.txt",
            "    rm -r \\",
            "    file: harmless.txt",
        ]
        await editor.command("stet.answer", {"question": question, "choice": "Reject"})
        assert (await end_of(editor, turn))["state"] == "completed"


async def test_question_names_the_command_and_can_be_refused(tmp_path: Path, root: Path) -> None:
    """The title mentions the command, and the agent offers no answer that refuses."""
    command = {"command": "rm -rf build"}
    steps = [permission("Explain rm -rf build", OPTIONS[:1], kind="execute", rawInput=command)]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.leaves_buttons = True
        turn = await ask(editor, "Clean up.", agent="robot")
        asked = await question_of(editor, turn)
        question = (await editor.command("stet.turn", {"turn": turn}))["question"]
        await editor.command("stet.answer", {"question": asked, "choice": "no"})
        await end_of(editor, turn)
    assert question["text"].splitlines()[1:] == ["    rm -rf build"]
    assert question["choices"] == ["Allow", "Refuse"]
    assert script.answers("session/request_permission") == [{"outcome": {"outcome": "cancelled"}}]


async def test_edit_that_becomes_a_hunk_needs_no_permission(tmp_path: Path, root: Path) -> None:
    diff = {"type": "diff", "path": str(root / "a.txt"), "oldText": TEXT, "newText": "x"}
    outside = {**diff, "path": str(tmp_path / "b.txt")}
    steps = [
        permission("Edit a.txt", kind="edit", content=[diff]),
        permission("Edit b.txt", kind="edit", content=[outside]),
        permission("Edit a.txt", content=[diff], rawInput={"command": "ls"}),
        permission("Edit a.txt", content=[diff], locations=[{"path": "/etc/hosts"}]),
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.leaves_buttons = True
        await run_answering(editor, "Edit.", *["Reject"] * 3, agent="robot")
    assert [one["outcome"]["optionId"] for one in script.answers("session/request_permission")] == [
        "yes",
        *["no"] * 3,
    ]


async def test_decisions_are_sent_with_the_next_prompt(tmp_path: Path, root: Path) -> None:
    path = root / "a.txt"
    script = AcpScript(
        tmp_path / "agent",
        [[read(path), write(path, "1\ntwo\n3\n"), say("Done.")], [say("Seen.")]],
    )
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.open("a.txt")
        await run(editor, "Go.", agent="robot")
        first, second = await editor.command("stet.proposals")
        await editor.command("stet.reject", {"hunk": first["hunk"], "reason": "it is a word"})
        await editor.command("stet.accept", {"hunk": second["hunk"], "new": "III\n"})
        await editor.wait_until(lambda: "III" in editor.text("a.txt"))
        await editor.command("stet.proposals")
        await run(editor, "Go on.", agent="robot")
        prompt = script.prompt_texts()
        assert "it is a word" in prompt
        assert "III" in prompt
        assert prompt.endswith("\n\nGo on.")
        assert "with Stet: each becomes a proposal" in script.prompt_texts(0)
        assert "with Stet: each becomes a proposal" not in prompt
        assert len(script.received("session/new")) == 1


async def test_cancel_ends_the_turn_and_the_session_goes_on(tmp_path: Path, root: Path) -> None:
    steps = [say("I begin."), permission("Run", kind="execute"), {"wait": "cancel"}]
    script = AcpScript(tmp_path / "agent", [steps, [say("Here.")]])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.leaves_buttons = True
        turn = await ask(editor, "Go.", agent="robot")
        await question_of(editor, turn)
        await editor.command("stet.cancel", {"turn": turn})
        found = await end_of(editor, turn)
        assert (found["state"], found["answer"], found["question"]) == (
            "cancelled",
            "I begin.",
            None,
        )
        assert (await run(editor, "Again.", agent="robot"))["answer"] == "Here."
    assert script.answers("session/request_permission") == [{"outcome": {"outcome": "cancelled"}}]
    assert len(script.received("session/new")) == 1


async def test_default_agent_answers_and_stet_when_named(tmp_path: Path, root: Path) -> None:
    script = AcpScript(tmp_path / "agent", [[say("From the robot.")]])
    settings = script.settings()
    settings["agents"]["default"] = "robot"
    async with (
        OpenAIServer([api.say("From Stet.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=settings) as editor,
    ):
        turn = await run(editor, "Who?")
        assert (turn["answer"], turn["agent"], turn["model"]) == (
            "From the robot.",
            "robot",
            "robot",
        )
        with pytest.raises(JsonRpcException, match="the agent robot would answer: what it sends"):
            await editor.command("stet.showContext", {"prompt": "Who?"})
        shown = await editor.command("stet.showContext", {"prompt": "Who?", "agent": "stet"})
        assert shown["sections"]
        turn = await run(editor, "Who are you?", agent="stet", mode="ask")
        assert (turn["answer"], turn["agent"]) == ("From Stet.", "stet")
        assert (await editor.command("stet.status"))["agents"] == [
            {"name": "robot", "state": "ready", "capture": "client-fs", "isolation": "none"}
        ]


async def test_session_is_loaded_after_a_restart(tmp_path: Path, root: Path) -> None:
    can_load = {"agentCapabilities": {"loadSession": True}}
    script = AcpScript(
        tmp_path / "agent", [[say("Yes.")]], initialize=can_load, replay=[say("Old.")["update"]]
    )
    settings, env = script.settings(), {"XDG_STATE_HOME": str(tmp_path / "state")}
    for _ in range(2):
        async with FakeEditor.start(root, settings=settings, env=env) as editor:
            assert (await run(editor, "Go.", agent="robot"))["answer"] == "Yes."
    assert len(script.received("session/new")) == 1
    [loaded] = script.received("session/load")
    assert (loaded["sessionId"], loaded["cwd"]) == ("session-1", str(root))


async def test_tokens_and_cost_of_each_turn(tmp_path: Path, root: Path) -> None:
    def spend(total: float) -> dict[str, object]:
        cost = {"amount": total, "currency": "USD"}
        return {"update": {"sessionUpdate": "usage_update", "used": 9, "size": 99, "cost": cost}}

    usage = {"totalTokens": 130, "inputTokens": 20, "outputTokens": 10, "cachedReadTokens": 100}
    end = {"end": {"usage": usage}}
    script = AcpScript(tmp_path / "agent", [[spend(0.5), end], [spend(0.75), end]])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        first = await run(editor, "One.", agent="robot")
        second = await run(editor, "Two.", agent="robot")
        log = (await editor.command("stet.ledger"))["uri"]
        text = await asyncio.to_thread(Path(log.removeprefix("file://")).read_text)
    assert [one["cost"] for one in (first, second)] == [0.5, 0.25]
    assert first["usage"]["promptTokens"] == 120
    assert first["usage"]["cachedTokens"] == 100
    assert first["usage"]["completionTokens"] == 10
    assert text.count(": agent `robot` at `this machine`") == 2


async def test_question_changes_no_file(tmp_path: Path, root: Path) -> None:
    path = root / "a.txt"
    script = AcpScript(tmp_path / "agent", [[read(path), write(path, "x\n"), say("No.")]])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        turn = await run(editor, "Why?", agent="robot", mode="ask")
        assert await editor.command("stet.proposals") == []
    [error] = script.answers("fs/write_text_file")
    assert error["message"] == "The user has only asked a question: don't change files."
    assert turn["failedEdits"] == [{"file": "a.txt", "message": error["message"]}]
    assert "This is a question" in script.prompt_texts()


async def test_agent_that_reads_the_disk_is_sent_unsaved_text(tmp_path: Path, root: Path) -> None:
    (root / "same.txt").write_text("same\n")
    script = AcpScript(tmp_path / "agent", [[say("Yes.")]], profile="gemini")
    key = "AKIA2J7QWXPL5TZ9MKRB"
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        for name in ("a.txt", "same.txt"):
            editor.open(name)
        editor.change("a.txt", "two\n", f"two, unsaved\n{key}\n")
        await run(editor, f"What is {key}?", agent="robot", uri=editor.uri("a.txt"), line=2)
    prompt = script.prompt_texts()
    assert "a.txt:\n```\none\ntwo, unsaved\n" in prompt
    assert "same.txt" not in prompt
    assert key not in prompt
    assert prompt.count("[redacted: ") == 2


MODES = {
    "currentModeId": "auto",
    "availableModes": [{"id": "auto", "name": "Auto"}, {"id": "default", "name": "Ask"}],
}


def choice(category: str, *values: str) -> dict[str, object]:
    """Make an option of a session."""
    options = [{"value": value, "name": value} for value in values]
    return {
        "id": f"the-{category}",
        "name": category,
        "category": category,
        "type": "select",
        "currentValue": values[0],
        "options": options,
    }


async def test_mode_and_model_are_set(tmp_path: Path, root: Path) -> None:
    options = [choice("mode", "auto", "plan"), choice("model", "small", "large")]
    script = AcpScript(tmp_path / "agent", [[say("Yes.")]], session={"modes": MODES})
    other = AcpScript(
        tmp_path / "other",
        [[say("Yes.")]],
        session={"configOptions": options},
        profile="generic",
        more={"mode": "plan", "model": "large"},
    )
    settings = script.settings()
    settings["agents"]["servers"]["other"] = other.settings()["agents"]["servers"]["robot"]
    async with FakeEditor.start(root, settings=settings) as editor:
        await run(editor, "Go.", agent="robot")
        await run(editor, "You too.", agent="other", chat="b")
    assert script.received("session/set_mode") == [{"sessionId": "session-1", "modeId": "default"}]
    assert [
        (one["configId"], one["value"]) for one in other.received("session/set_config_option")
    ] == [("the-mode", "plan"), ("the-model", "large")]


async def test_variable_chooses_how_to_log_in(tmp_path: Path, root: Path) -> None:
    methods = [{"id": "oauth", "name": "Log in"}, {"id": "gemini-api-key", "name": "Key"}]
    script = AcpScript(
        tmp_path / "agent", [[say("Yes.")]], initialize={"authMethods": methods}, profile="gemini"
    )
    env = {"GEMINI_API_KEY": "none"}
    async with FakeEditor.start(root, settings=script.settings(), env=env) as editor:
        await run(editor, "Go.", agent="robot")
    assert script.received("authenticate") == [{"methodId": "gemini-api-key"}]


async def test_chat_document_goes_on_with_its_agent(tmp_path: Path, root: Path) -> None:
    script = AcpScript(tmp_path / "agent", [[say("I am the robot.")], [say("Still I.")]])
    async with (
        OpenAIServer([api.say("I am Stet.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=script.settings()) as editor,
    ):
        uri = await opened(editor)
        await run(editor, "Who?", agent="robot")
        await until(editor, uri, lambda text: "I am the robot." in text)
        text = editor.text(uri)
        write_question(editor, uri, "And now?")
        turn = await editor.command("stet.send", {"uri": uri})
        found = await end_of(editor, turn["turn"])
        assert (found["agent"], found["answer"]) == ("robot", "Still I.")
        await until(editor, uri, ended(turn["turn"]))
        write_question(editor, uri, "And you?")
        turn = await editor.command("stet.send", {"uri": uri, "agent": "stet", "mode": "ask"})
        found = await end_of(editor, turn["turn"])
        assert (found["agent"], found["answer"]) == ("stet", "I am Stet.")
    assert text.count("I am the robot.") == 1
