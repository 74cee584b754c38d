"""The stored data of a chat's messages: their time, and the file they were asked from."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider, run
from tests.support.openai_server import OpenAIServer
from tests.support.restarts import ready

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
READ = api.call("read_file", file="a.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (folder / "b.txt").write_text("two\n")
    return folder


def question(body: dict[str, Any]) -> str:
    """Return the last message of the user in a request."""
    return str([one for one in body["messages"] if one["role"] == "user"][-1]["content"])


async def test_the_model_is_informed_when_the_active_file_is_another_one(root: Path) -> None:
    async with (
        OpenAIServer([api.say("Hello.")] * 4) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        first, second = editor.open("a.txt"), editor.open("b.txt")
        for n, uri in enumerate((first, first, second, first)):
            await run(editor, f"Question {n}", uri=uri)
        asked = [question(one.body) for one in server.requests]
        reported = ["the active file was" in one for one in asked]
        assert reported == [False, False, True, True]
        assert "- the active file was a.txt; it is now b.txt" in asked[2]
        # The text stays in the history, with the record of each turn.
        history = [str(one["content"]) for one in server.requests[3].body["messages"]]
        assert any("the active file was a.txt; it is now b.txt" in one for one in history[:-1])
        assert any('active_file="b.txt" active_file_before="a.txt"' in one for one in history)


async def test_every_message_has_its_time(root: Path) -> None:
    env: dict[str, str] = {"XDG_STATE_HOME": str(root.parent / "state")}
    async with OpenAIServer([]) as server:
        env |= provider(server)
        async with FakeEditor.start(root, env=env) as editor:
            uri = editor.open("a.txt")
            server.add(
                api.Reply([api.delta(content="I look. ")] * 2 + [*READ.events], pause=0.2),
                api.say("It says one."),
                api.say("Hello."),
            )
            turn = await ask(editor, "What is in it?", uri=uri)
            await server.asked(1)
            await editor.command("stet.steer", {"turn": turn, "prompt": "Be brief."})
            ended = await end_of(editor, turn)
            message = [(one["role"], one["text"]) for one in ended["messages"]]
            assert message == [
                ("user", "What is in it?"),
                ("assistant", "I look. I look."),
                ("user", "Be brief."),
                ("assistant", "It says one."),
            ]
            times = [one["at"] for one in ended["messages"]]
            assert all(TIME.fullmatch(one) for one in times)
            assert times == sorted(times)
            assert (times[0], times[-1] <= ended["endedAt"]) == (ended["at"], True)
            chat = (await editor.command("stet.openChat"))["uri"]
            page = await asyncio.to_thread(Path(chat.removeprefix("file://")).read_text)
            first, second, third, last = times
            assert (
                f"*asked {first} · answered {second} · you said more {third} · answered {last} · "
                f"ended {ended['endedAt']}*\n"
            ) in page
        async with FakeEditor.start(root, env=env) as editor:
            await ready(editor)
            again = await editor.command("stet.turn", {"turn": turn})
            assert again["messages"] == ended["messages"]
            await run(editor, "And now?", uri=editor.open("a.txt"))
            history = "".join(str(one["content"]) for one in server.requests[-1].body["messages"])
            assert f'asked="{ended["at"]}" answered="{ended["endedAt"]}"' in history
            assert f"The user said more at: {times[2]}" in history


async def test_summary_of_done_is_a_message(root: Path) -> None:
    async with (
        OpenAIServer([api.call("done", summary="It says one.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "What is in it?", uri=editor.open("a.txt"))
        assert [one["text"] for one in turn["messages"]] == ["What is in it?", "It says one."]
