"""A turn that would send a lot waits for a yes, in every editor, and holds nothing meanwhile."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider
from tests.support.openai_server import OpenAIServer

SETTINGS = {"context": {"warnTokens": 100}, "agent": {"maxSeconds": 1}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


async def waiting(editor: FakeEditor, uri: str) -> str:
    """A turn that waits; gives its id."""
    turn = await ask(editor, "Hello", uri=uri, mode="ask", line=2)
    [shown] = await editor.wait_for_diagnostics(uri)
    assert (shown.code, shown.source, shown.range.start.line) == ("question", "stet", 1)
    found = await editor.command("stet.turn", {"turn": turn})
    assert (found["state"], found["question"]["kind"]) == ("waiting", "context")
    assert "context.warnTokens is 100" in found["question"]["text"]
    assert found["question"]["choices"] == ["Send it", "Don't send"]
    return turn


@pytest.mark.parametrize("client", ["neovim", "helix", "eglot", "vscode"])
async def test_nothing_is_sent_before_the_yes(root: Path, client: str) -> None:
    async with (
        OpenAIServer([api.say("Hi.")]) as server,
        FakeEditor.start(root, client=client, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await waiting(editor, uri)
        assert server.requests == []
        await editor.choose(uri, "two", "Stet: Send it")
        ended = await end_of(editor, turn)
        assert (ended["state"], ended["answer"], ended["question"]) == ("completed", "Hi.", None)
        await editor.wait_for_diagnostics(uri, lambda found: not found)


async def test_a_no_ends_the_turn_and_sends_nothing(root: Path) -> None:
    async with (
        OpenAIServer([api.say("Hi.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await waiting(editor, uri)
        with pytest.raises(JsonRpcException, match="choose of") as raised:
            await editor.command("stet.answer", "perhaps")
        assert raised.value.code == -32803
        assert (await editor.command("stet.answer", {"choice": "Don't send"}))["turn"] == turn
        assert (await end_of(editor, turn))["state"] == "cancelled"
        assert server.requests == []
        with pytest.raises(JsonRpcException, match="no turn waits"):
            await editor.command("stet.answer", "Send it")


async def test_a_button_answers_where_the_editor_has_them(root: Path) -> None:
    async with (
        OpenAIServer([api.say("Hi.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        editor.answer_message = lambda params: (params.actions or [])[0].title
        editor.open("a.txt")
        ended = await end_of(editor, await ask(editor, "Hello", mode="ask"))
        assert ended["state"] == "completed"
        [asked] = editor.asked
        assert asked.type is lsp.MessageType.Info


async def test_a_waiting_turn_is_cancelled_like_any_other(root: Path) -> None:
    async with (
        OpenAIServer([]) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await waiting(editor, uri)
        assert (await editor.command("stet.cancel"))["turns"] == [turn]
        await editor.wait_for_diagnostics(uri, lambda found: not found)
        assert (await editor.command("stet.turn", turn))["question"] is None
