"""A turn that asks waits for its answer, in every editor, and holds nothing meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.live_turns import (
    ask,
    calls,
    done,
    end_of,
    provider,
    question_of,
    scripted,
)
from tests.support.openai_server import OpenAIServer

SETTINGS = {"context": {"warnTokens": 100}, "agent": {"maxSeconds": 30}}


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


# -- what the agent asks -------------------------------------------------------------------------

CLIENTS = sorted(PROFILES)
RED_OR_GREEN: dict[str, Any] = {"question": "Which\u202e colour?", "choices": ["Red", "Green"]}
FREE: dict[str, Any] = {"question": "What is it called?"}


def asking(folder: Path, *questions: dict[str, Any]) -> dict[str, str]:
    """A model that asks, and says in the end what it heard."""
    return scripted(folder, *(calls(("ask_user", one)) for one in questions), done())


async def asked(editor: FakeEditor, uri: str | None) -> tuple[str, str]:
    """A turn that waits with its question; gives its id and the question's."""
    turn = await ask(editor, "Hello", **({"uri": uri, "line": 2} if uri else {}))
    return turn, await question_of(editor, turn)


async def heard(editor: FakeEditor, turn: str) -> list[str]:
    """The states of a turn's calls, once it is over and nothing of its question is left."""
    ended = await end_of(editor, turn)
    assert (ended["state"], ended["question"]) == ("completed", None)
    await editor.wait_until(lambda: not any(editor.diagnostics.values()))
    await editor.wait_until(lambda: editor.n_buttons == 0)
    return [call["state"] for call in ended["toolCalls"]]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_question_is_answered_by_code_action(
    root: Path, tmp_path: Path, client: str
) -> None:
    env = asking(tmp_path, RED_OR_GREEN)
    async with FakeEditor.start(root, client=client, env=env) as editor:
        editor.leaves_buttons = True
        uri = editor.open("a.txt")
        turn, _ = await asked(editor, uri)
        [shown] = await editor.wait_for_diagnostics(uri)
        assert (shown.code, shown.range.start.line) == ("question", 1)
        assert shown.message == "Which\\u202e colour?"
        await editor.choose(uri, "two", "Stet: Green (turn ")
        assert await heard(editor, turn) == ["completed", "completed"]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_question_is_answered_by_command_in_any_words(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=asking(tmp_path, FREE)) as editor:
        editor.leaves_buttons = True
        uri = editor.open("a.txt")
        turn, question = await asked(editor, uri)
        await editor.wait_for_diagnostics(uri)
        # The action for words says how.
        before = len(editor.messages)
        await editor.choose(uri, "two", f"Stet: Answer turn {turn} in words: What is it called?")
        await editor.wait_until(lambda: len(editor.messages) > before)
        assert "`stet.answer`" in editor.messages[-1].message
        assert await editor.command("stet.answer", "It is", "Stet") == {"turn": turn}
        await heard(editor, turn)
        with pytest.raises(JsonRpcException, match="waits no more") as raised:
            await editor.command("stet.answer", {"question": question, "text": "Late"})
        assert raised.value.code == -32803


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_question_is_answered_by_button_where_there_are_any(
    root: Path, tmp_path: Path, client: str
) -> None:
    env = asking(tmp_path, RED_OR_GREEN)
    async with FakeEditor.start(root, client=client, env=env) as editor:
        editor.answer_message = lambda params: (params.actions or [])[1].title
        uri = editor.open("a.txt")
        turn = await ask(editor, "Hello", uri=uri, line=2)
        window = PROFILES[client].params().capabilities.window
        if window is None or window.show_message is None:
            # There are none: the message says how else.
            await editor.wait_for_message("`stet.answer`: 1: Red / 2: Green")
            await editor.command("stet.answer", "2")
        await heard(editor, turn)


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_question_that_is_never_answered_goes_with_its_turn(
    root: Path, tmp_path: Path, client: str
) -> None:
    env = asking(tmp_path, RED_OR_GREEN)
    settings = {"agent": {"maxSeconds": 30}}
    async with FakeEditor.start(root, client=client, env=env, settings=settings) as editor:
        editor.leaves_buttons = True
        uri = editor.open("a.txt")
        turn, question = await asked(editor, uri)
        await editor.wait_for_diagnostics(uri)
        assert (await editor.command("stet.cancel", turn))["turns"] == [turn]
        await editor.wait_for_diagnostics(uri, lambda found: not found)
        await editor.wait_until(lambda: editor.n_buttons == 0)
        titles = [action.title for action in await editor.actions(uri, "two")]
        assert not any("(turn" in title for title in titles)
        for arguments, code in (
            ({"question": question, "choice": "Red"}, -32803),
            ({"choice": "Red"}, -32803),
            ({}, -32803),
            ({"question": "q9", "choice": "Red"}, -32602),
            ({"text": "Red", "choice": "Red"}, -32602),
        ):
            with pytest.raises(JsonRpcException) as raised:
                await editor.command("stet.answer", arguments)
            assert raised.value.code == code
        found = await editor.command("stet.turn", turn)
        assert (found["state"], found["question"]) == ("cancelled", None)
        assert found["toolCalls"][0]["state"] == "canceled"


async def test_buttons_of_a_question_that_is_answered_elsewhere_go(
    root: Path, tmp_path: Path
) -> None:
    env = asking(tmp_path, RED_OR_GREEN)
    async with FakeEditor.start(root, client="vscode", env=env) as editor:
        editor.leaves_buttons = True
        uri = editor.open("a.txt")
        turn, question = await asked(editor, uri)
        await editor.wait_until(lambda: editor.n_buttons == 1)
        # Asked again, there is one message, not two.
        assert await editor.command("stet.answer", {"question": question}) == {"turn": turn}
        await editor.wait_until(lambda: len(editor.asked) == 2 and editor.n_buttons == 1)
        with pytest.raises(JsonRpcException, match="choose of 'Red', 'Green'"):
            await editor.command("stet.answer", {"choice": "Blue"})
        await editor.command("stet.answer", {"choice": "gr"})
        await heard(editor, turn)


async def test_questions_come_one_after_the_other_where_the_user_typed_on(
    root: Path, tmp_path: Path
) -> None:
    env = asking(tmp_path, RED_OR_GREEN, FREE)
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn, first = await asked(editor, uri)
        await editor.wait_for_diagnostics(uri)
        editor.change(uri, "one", "zero\none")
        await editor.choose(uri, "two", "Stet: Red (turn ")
        await question_of(editor, turn, behind=first)
        [shown] = await editor.wait_for_diagnostics(
            uri, lambda found: found and "called" in found[0].message
        )
        assert shown.range.start.line == 2
        await editor.command("stet.answer", "Stet")
        await heard(editor, turn)


async def test_a_question_without_a_place_is_answered_from_any_file(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=asking(tmp_path, RED_OR_GREEN)) as editor:
        turn, _ = await asked(editor, None)
        uri = editor.open("a.txt")
        await editor.choose(uri, "one", "Stet: Red (turn ")
        await heard(editor, turn)
