"""The user chooses the agent that answers, and its mode, model and other options."""

from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.acp_scripts import AcpScript, permission, say
from tests.support.chat_documents import ended, opened, until
from tests.support.chat_documents import write as write_question
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider, question_of, run
from tests.support.openai_server import OpenAIServer

MODES = {
    "currentModeId": "default",
    "availableModes": [
        {"id": "default", "name": "Ask"},
        {"id": "plan", "name": "Plan\nonly"},
        {"id": "x" * 101, "name": "Too long"},
    ],
}
MODELS = {
    "currentModelId": "small",
    "availableModels": [{"modelId": "small", "name": "S"}, {"modelId": "large", "name": "L"}],
}


def effort(current: str) -> dict[str, Any]:
    """Make an option of a session that is neither mode nor model."""
    values = [{"value": value, "name": value.title()} for value in ("low", "high")]
    return {
        "id": "effort",
        "name": "Effort",
        "category": "thought_level",
        "type": "select",
        "currentValue": current,
        "options": values,
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    return folder


def scripted(tmp_path: Path, *prompts: list[dict[str, Any]], **fields: Any) -> AcpScript:
    """Make an agent with a mode, a model and another option."""
    session = {"modes": MODES, "models": MODELS, "configOptions": [effort("low")]}
    return AcpScript(tmp_path / "agent", list(prompts), session=session, **fields)


async def listed(editor: FakeEditor, name: str, **place: Any) -> Any:
    """Return an agent of `stet.agents`."""
    agents = await editor.command("stet.agents", place)
    return next(one for one in agents if one["name"] == name)


async def test_agents_are_listed_without_starting_one(tmp_path: Path, root: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("gemini", "other"):
        (programs / name).write_text("#!/bin/sh\ntouch started\n")
        (programs / name).chmod(0o755)
    script = scripted(tmp_path, [say("Yes.")])
    async with FakeEditor.start(
        root, settings=script.settings(), env={"PATH": str(programs)}
    ) as editor:
        await editor.command("stet.proposals")
        agents, times = [], []
        for _ in range(5):
            start = monotonic()
            agents = await editor.command("stet.agents")
            times.append(monotonic() - start)
    assert [(one["name"], one["title"], one["state"], one["current"]) for one in agents] == [
        ("stet", "stet (Stet's own agent)", "ready", True),
        ("robot", "robot (Qwen Code)", "off", False),
        ("gemini", "gemini (Gemini CLI)", "off", False),
    ]
    assert all(one["options"] == [] for one in agents)
    assert min(times) < 0.05, "answered within 50 ms, if the machine is not busy"
    assert script.log() == []
    assert not (root / "started").exists()


async def test_chosen_agent_answers_questions_and_the_chat(tmp_path: Path, root: Path) -> None:
    script = scripted(tmp_path, [say("I am the robot.")])
    async with (
        OpenAIServer([api.say("I am Stet.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=script.settings()) as editor,
    ):
        uri = await opened(editor)
        first = await run(editor, "Who?", mode="ask")
        assert first["agent"] == "stet"
        chosen = await editor.command("stet.chooseAgent", {"agent": "robot", "uri": uri})
        assert chosen == {"agent": "robot", "chat": "main"}
        assert (await listed(editor, "robot", uri=uri))["current"]
        assert (await run(editor, "And now?"))["answer"] == "I am the robot."
        await editor.command("stet.chooseAgent", "stet")
        await until(editor, uri, lambda text: "I am the robot." in text)
        write_question(editor, uri, "And you?")
        turn = await editor.command("stet.send", {"uri": uri, "mode": "ask"})
        assert (await end_of(editor, turn["turn"]))["agent"] == "stet"
        await run(editor, "Explicitly.", agent="robot")
        await until(editor, uri, lambda text: text.count("I am the robot.") == 2)
        write_question(editor, uri, "Who goes on?")
        turn = await editor.command("stet.send", {"uri": uri})
        assert (await end_of(editor, turn["turn"]))["agent"] == "robot"
        with pytest.raises(
            JsonRpcException, match=r"There is no agent 'nobody'\. Known agents: stet"
        ):
            await editor.command("stet.chooseAgent", "nobody")


async def test_options_are_set_and_shown_in_the_chat(tmp_path: Path, root: Path) -> None:
    script = scripted(tmp_path, [say("First.")], [say("Second.")], [say("Third.")])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        uri = await opened(editor)
        await editor.command("stet.chooseAgent", {"agent": "robot"})
        with pytest.raises(JsonRpcException, match="is known after its first answer"):
            await editor.command("stet.chooseAgent", {"option": "mode", "value": "plan"})
        await run(editor, "One.")
        options = (await listed(editor, "robot"))["options"]
        assert options[0] == {
            "id": "mode",
            "name": "mode",
            "current": "default",
            "values": [
                {"value": "default", "name": "Ask"},
                {"value": "plan", "name": options[0]["values"][1]["name"]},
            ],
        }
        assert "\n" not in options[0]["values"][1]["name"]
        assert [(one["id"], one["current"]) for one in options[1:]] == [
            ("model", "small"),
            ("effort", "low"),
        ]
        for option, value in (("mode", "plan"), ("model", "large"), ("effort", "high")):
            await editor.command("stet.chooseAgent", {"option": option, "value": value})
        for wrong in ({"option": "mode", "value": "wild"}, {"option": "colour", "value": "red"}):
            with pytest.raises(JsonRpcException, match="robot has no"):
                await editor.command("stet.chooseAgent", wrong)
        turn = await run(editor, "Two.")
        text = await until(editor, uri, ended(turn["turn"]))
        third = await run(editor, "Three.")
    assert script.received("session/set_mode") == [{"sessionId": "session-1", "modeId": "plan"}]
    assert script.received("session/set_model") == [{"sessionId": "session-1", "modelId": "large"}]
    [option] = script.received("session/set_config_option")
    assert (option["configId"], option["value"]) == ("effort", "high")
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("- mode: Plan"))
    assert lines[start + 1 : start + 3] == ["- model: L", "- Effort: High"]
    assert third["toolCalls"] == []


async def test_choice_holds_for_a_session_that_begins_later(tmp_path: Path, root: Path) -> None:
    script = scripted(tmp_path, [say("Yes."), {"exit": 1}], [say("Again.")])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        await run(editor, "One.", agent="robot")
        chosen = {"agent": "robot", "option": "model", "value": "large"}
        await editor.command("stet.chooseAgent", chosen)
        assert (await listed(editor, "robot"))["state"] == "off"
        await run(editor, "Two.", agent="robot")
        await run(editor, "Elsewhere.", agent="robot", chat="b")
    assert script.received("session/set_model") == [{"sessionId": "session-1", "modelId": "large"}]
    assert len(script.received("session/new")) == 3


async def test_mode_that_the_agent_changes_itself_is_shown(tmp_path: Path, root: Path) -> None:
    changed = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}}
    unknown = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "what"}}
    more = {"update": {"sessionUpdate": "config_option_update", "configOptions": [effort("high")]}}
    script = scripted(tmp_path, [say("I plan."), changed, unknown, more, say("Done.")])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        turn = await run(editor, "Go.", agent="robot")
        tools = [one["tool"] for one in turn["toolCalls"]]
        assert tools[0].startswith("mode: Plan")
        assert tools[1:] == ["Effort: High"]
        options = (await listed(editor, "robot"))["options"]
        assert [one["current"] for one in options] == ["plan", "small", "high"]


async def test_refused_option_is_a_warning(tmp_path: Path, root: Path) -> None:
    errors = {"session/set_model": {"code": -32603, "message": "no such plan"}}
    script = scripted(tmp_path, [say("Yes.")], errors=errors)
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        await run(editor, "Go.", agent="robot")
        chosen = {"agent": "robot", "option": "model", "value": "large"}
        await editor.command("stet.chooseAgent", chosen)
        text = "The model was not set: The agent robot reports an error: no such plan."
        await editor.wait_until(lambda: any(text in one.message for one in editor.messages))
        assert (await run(editor, "Again.", agent="robot"))["answer"] == "Yes."


async def test_buttons_are_the_picker_of_editors_without_one(tmp_path: Path, root: Path) -> None:
    script = scripted(tmp_path, [say("Yes.")])
    wanted = iter(["robot (Qwen Code)", "mode: Ask …", "Plan"])

    def choose(params: lsp.ShowMessageRequestParams) -> str:
        titles, start = [one.title for one in params.actions or ()], next(wanted)
        return next(one for one in titles if one.startswith(start))

    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.answer_message = choose
        await editor.command("stet.chooseAgent")
        await editor.wait_until(lambda: "Stet: robot answers from now on." in shown(editor))
        await run(editor, "Go.")
        await editor.command("stet.chooseAgent")
        await editor.wait_until(lambda: any("robot, mode: Plan" in one for one in shown(editor)))
        await run(editor, "Go on.")
    assert len(script.received("session/set_mode")) == 1


def shown(editor: FakeEditor) -> list[str]:
    """Return the messages that the editor has shown."""
    return [one.message for one in editor.messages]


async def test_steering_another_agent_is_its_next_prompt(tmp_path: Path, root: Path) -> None:
    script = scripted(tmp_path, [permission("Run", kind="execute"), say("One.")], [say("Two.")])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.leaves_buttons = True
        uri = await opened(editor)
        first = await ask(editor, "Go.", agent="robot")
        question = await question_of(editor, first)
        second = (await editor.command("stet.steer", "And then?"))["turn"]
        assert second != first
        assert (await editor.command("stet.turn", second))["state"] == "queued"
        await until(editor, uri, lambda text: "And then?" in text)
        await editor.command("stet.answer", {"question": question, "choice": "Allow"})
        assert (await end_of(editor, first))["state"] == "completed"
        # The turn may be over before the editor has a progress for it.
        text = await until(editor, uri, ended(second))
        found = await editor.command("stet.turn", second)
        assert (found["answer"], found["agent"]) == ("Two.", "robot")
        assert text.index("One.") < text.index("And then?") < text.index("Two.")
    assert script.prompt_texts().endswith("And then?")


async def test_message_in_the_chat_waits_for_the_turn_of_another_agent(
    tmp_path: Path, root: Path
) -> None:
    script = scripted(tmp_path, [say("One."), {"wait": "cancel"}], [say("Two.")])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        uri = await opened(editor)
        first = await ask(editor, "Go.", agent="robot")
        await until(editor, uri, lambda text: "One." in text)
        write_question(editor, uri, "And then?")
        second = (await editor.command("stet.send", {"uri": uri}))["turn"]
        assert (await editor.command("stet.turn", second))["state"] == "queued"
        await editor.command("stet.cancel", {"turn": first})
        text = await until(editor, uri, ended(second))
        assert (await editor.command("stet.turn", second))["agent"] == "robot"
        assert text.index("One.") < text.index("And then?") < text.index("Two.")


@pytest.mark.parametrize("takes", [True, False])
async def test_other_folders_are_sent_to_an_agent_that_takes_them(
    takes: bool, tmp_path: Path, root: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    of_sessions: dict[str, object] = {"additionalDirectories": {}} if takes else {}
    capable = {"agentCapabilities": {"sessionCapabilities": of_sessions}}
    script = scripted(tmp_path, [say("Yes.")], initialize=capable)
    async with FakeEditor.start([root, other], settings=script.settings()) as editor:
        await run(editor, "Go.", agent="robot")
    [begun] = script.received("session/new")
    assert begun["cwd"] == str(root)
    assert begun.get("additionalDirectories") == ([str(other)] if takes else None)
    assert begun["mcpServers"] == []


async def test_menu_of_a_chat_offers_the_agents_where_there_are_no_buttons(
    tmp_path: Path, root: Path
) -> None:
    script = scripted(tmp_path, [say("Yes.")])
    for client, titles in (
        ("helix", ["Stet: Let stet answer", "Stet: Let robot answer"]),
        ("helix-master", ["Stet: Choose who answers"]),
    ):
        async with FakeEditor.start(root, client=client, settings=script.settings()) as editor:
            uri = await opened(editor)
            found = [one.title for one in await editor.actions(uri, "# Stet")]
            assert found[-len(titles) :] == titles
            if client == "helix":
                with pytest.raises(JsonRpcException, match="this editor shows no buttons"):
                    await editor.command("stet.chooseAgent")
