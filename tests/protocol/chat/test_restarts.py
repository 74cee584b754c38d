"""Conversations and their documents outlive the server."""

from pathlib import Path

import pytest

from tests.support.chat_documents import ended, opened, until, write
from tests.support.chat_text import parts, written
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, calls, done, edit, provider, scripted
from tests.support.openai_server import OpenAIServer, say
from tests.support.restarts import proposals, ready, until_killed


async def test_conversations_outlive_the_server(root: Path, tmp_path: Path) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    env = scripted(
        tmp_path, calls(edit("a.txt", "two", "2"), edit("b.txt", "none", "x"), text="I look."), done("It is a digit.")
    )  # fmt: skip
    async with until_killed(root, {**env, **state}) as editor:
        editor.open("a.txt")
        chat = await editor.command("stet.newChat")
        uri = editor.open(chat["uri"])
        write(editor, uri, "Make it a digit\n")
        await editor.command("stet.send", {"uri": uri})
        text = await until(editor, uri, ended("t1"))
        await editor.command("stet.reject", {"hunk": "h1", "reason": "I like words"})
        before = await editor.command("stet.turn", "t1")
    # Its document was never saved: the text is rebuilt from the stored turns.
    async with OpenAIServer([say("As you like.")]) as server:
        async with FakeEditor.start(root, env={**provider(server), **state}) as editor:
            editor.open("a.txt")
            await ready(editor)
            assert await editor.command("stet.turn", "t1") == before
            assert (await editor.command("stet.status"))["turns"] == []
            shown = await editor.command("stet.openChat")
            assert shown == chat
            editor.open(uri)
            assert parts(editor.text(uri))[0].text == "Make it a digit"
            assert "I look." in written(editor.text(uri), "t1")
            assert ended("t1")(editor.text(uri))
            write(editor, uri, "Then not\n")
            assert await editor.command("stet.send") == {"turn": "t2"}
            await until(editor, uri, ended("t2"))
        messages = server.requests[0].body["messages"]
        shown_text = [
            message["content"] or "" for message in messages if message["role"] != "system"
        ]
        assert "Make it a digit" in shown_text[0]
        assert "I look." in "".join(shown_text[1:-1])
        # A decision made in between is reported, if the text was the model's own.
        assert "I like words" in shown_text[-1]
    assert "Make it a digit" in text


async def test_a_turn_that_waited_when_the_server_died_has_failed(
    root: Path, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    env = scripted(
        tmp_path,
        calls(edit("a.txt", "two", "2")),
        calls(("ask_user", {"question": "Which?", "choices": ["a", "b"]})),
    )
    async with until_killed(root, {**env, **state}) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Make it a digit\n")
        await editor.command("stet.send")
        await until(editor, uri, lambda text: "1. a\n2. b" in text)
        queued = await ask(editor, "And then?")
        assert (await editor.command("stet.turn", "t1"))["state"] == "waiting"
        editor.save(uri)
    async with FakeEditor.start(root, env=state) as editor:
        await ready(editor)
        for turn in ("t1", queued):
            found = await editor.command("stet.turn", turn)
            assert (found["state"], found["question"], found["success"]) == ("failed", None, False)
            assert found["error"].startswith("Stet was stopped during this turn")
        assert (await editor.command("stet.turn", "t1"))["hunks"] == ["h1"]
        assert (await proposals(editor))["h1"]["state"] == "pending"
        with pytest.raises(Exception, match="no turn is waiting"):
            await editor.command("stet.answer", "a")
        uri = await opened(editor)
        text = editor.text(uri)
        assert text.count("## Stet (t1)") == 1
        assert "**Failed.** Stet was stopped" in written(text, "t1")
        assert "And then?" in text


@pytest.mark.parametrize("client", ["neovim", "vscode"])
async def test_a_document_that_stayed_open_over_a_restart_goes_on(
    root: Path, tmp_path: Path, client: str
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state"), **scripted(tmp_path, done("There."))}
    async with FakeEditor.start(root, client=client, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Where?\n")
        await editor.command("stet.send")
        text = await until(editor, uri, ended("t1"))
    async with FakeEditor.start(root, client=client, env=env) as editor:
        editor.open("a.txt")
        editor.open(uri, f"{text}And you?")
        await ready(editor)
        assert await editor.command("stet.send", {"uri": uri}) == {"turn": "t2"}
        new = await until(editor, uri, ended("t2"))
        assert [(part.turn, part.text.split("\n")[0]) for part in parts(new)] == [
            ("", "Where?"), ("t1", "There."), ("", "And you?"), ("t2", "There."), ("", ""),
        ]  # fmt: skip
