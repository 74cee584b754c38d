"""`stet.steer`: messages of the user to a running turn."""

from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import ask, end_of, provider, run
from tests.support.openai_server import OpenAIServer, Reply

READ = api.call("read_file", file="a.txt")
DONE = api.call("done", summary="Done.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    return folder


def slow(reply: Reply) -> Reply:
    """Return the reply, slow enough for the user to send a message first."""
    return Reply([*reply.events], pause=0.15)


def message(asked: HttpRequest) -> list[tuple[str, Any]]:
    """Return the roles and texts of a request, from its end."""
    return [(one["role"], one["content"]) for one in reversed(asked.body["messages"])]


@pytest.mark.parametrize("first", [READ, DONE], ids=["at a step", "as it was about to end"])
@pytest.mark.parametrize("argument", ["Use tabs", {"prompt": "Use tabs"}])
async def test_steering_reaches_the_model_in_its_next_round(
    root: Path, first: Reply, argument: Any
) -> None:
    async with (
        OpenAIServer([slow(first), DONE]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await ask(editor, "Do it", uri=editor.open("a.txt"))
        await server.asked(1)
        assert await editor.command("stet.steer", argument) == {"turn": turn}
        ended = await end_of(editor, turn)
        assert (ended["state"], ended["steering"]) == ("completed", ["Use tabs"])
        reported, answer, *_ = message(server.requests[1])
        assert reported == ("user", "Use tabs")
        assert answer[0] == "tool"


async def test_steering_is_kept_while_the_turn_waits_for_an_answer(root: Path) -> None:
    question = api.call("ask_user", question="Tabs?", choices=["Yes", "No"])
    async with (
        OpenAIServer([question, DONE]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await ask(editor, "Do it", uri=uri)
        await editor.wait_for_diagnostics(uri)
        waiting = await editor.command("stet.turn", turn)
        assert (waiting["state"], waiting["toolCalls"][0]["state"]) == (
            "waiting",
            "waitingForUserInput",
        )
        await editor.command("stet.steer", {"turn": turn, "prompt": "And be quick"})
        await editor.command("stet.answer", {"choice": "Yes"})
        ended = await end_of(editor, turn)
        assert ended["toolCalls"][0]["state"] == "completed"
        assert message(server.requests[1])[0] == ("user", "And be quick")


async def test_steering_without_a_running_turn_is_refused(root: Path) -> None:
    async with (
        OpenAIServer([DONE]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        with pytest.raises(JsonRpcException, match="no turn is running") as raised:
            await editor.command("stet.steer", "Use tabs")
        assert raised.value.code == -32803
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        with pytest.raises(JsonRpcException, match="it is completed") as raised:
            await editor.command("stet.steer", {"turn": turn["turn"], "prompt": "Use tabs"})
        assert raised.value.code == -32803
        for wrong in ({"turn": "t99", "prompt": "Use tabs"}, {}, {"prompt": "a", "colour": 1}):
            with pytest.raises(JsonRpcException) as raised:
                await editor.command("stet.steer", wrong)
            assert raised.value.code == -32602
