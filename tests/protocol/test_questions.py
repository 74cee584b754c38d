"""A turn with a question waits for the answer, in every editor, and blocks nothing meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.chat_documents import ended, opened, until, write
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
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


async def waiting(editor: FakeEditor, uri: str, prompt: str) -> str:
    """Start a turn that waits; return its id."""
    turn = await ask(editor, prompt, uri=uri, mode="ask", line=2)
    [shown] = await editor.wait_for_diagnostics(uri)
    assert (shown.code, shown.source, shown.range.start.line) == ("question", "stet", 1)
    found = await editor.command("stet.turn", {"turn": turn})
    assert (found["state"], found["question"]["kind"]) == ("waiting", "context")
    assert "context.warnTokens is 100" in found["question"]["text"]
    assert found["question"]["choices"] == ["Send it", "Don't send"]
    return turn


async def test_nothing_is_sent_before_the_yes(root: Path) -> None:
    async with (
        OpenAIServer([api.say("Hi."), api.say("Hi again.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("a.txt")
        # A button is pressed at once, if the editor has buttons.
        editor.answer_message = lambda params: (params.actions or [])[0].title
        ended = await end_of(editor, await ask(editor, "By button", mode="ask"))
        assert (ended["state"], ended["answer"], len(server.requests)) == ("completed", "Hi.", 1)
        [shown] = editor.asked
        assert shown.type is lsp.MessageType.Info
        editor.leaves_buttons = True

        turn = await waiting(editor, uri, "By action")
        assert len(server.requests) == 1
        await editor.choose(uri, "two", "Stet: Send it")
        ended = await end_of(editor, turn)
        assert (ended["state"], ended["answer"], ended["question"]) == (
            "completed",
            "Hi again.",
            None,
        )
        await editor.wait_for_diagnostics(uri, lambda found: not found)
        assert len(server.requests) == 2


async def test_a_no_and_a_cancel_end_the_turn_and_send_nothing(root: Path) -> None:
    async with (
        OpenAIServer([api.say("Hi.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        editor.leaves_buttons = True
        uri = editor.open("a.txt")
        turn = await waiting(editor, uri, "To be refused")
        with pytest.raises(JsonRpcException, match="choose one of") as raised:
            await editor.command("stet.answer", "perhaps")
        assert raised.value.code == -32803
        assert (await editor.command("stet.answer", {"choice": "Don't send"}))["turn"] == turn
        assert (await end_of(editor, turn))["state"] == "cancelled"
        with pytest.raises(JsonRpcException, match="no turn is waiting"):
            await editor.command("stet.answer", "Send it")
        await editor.wait_for_diagnostics(uri, lambda found: not found)

        turn = await waiting(editor, uri, "To be cancelled")
        assert (await editor.command("stet.cancel"))["turns"] == [turn]
        await editor.wait_for_diagnostics(uri, lambda found: not found)
        assert (await editor.command("stet.turn", turn))["question"] is None
        assert server.requests == []


# -- questions of the agent ----------------------------------------------------------------------

CLIENTS = sorted(PROFILES)
RED_OR_GREEN: dict[str, Any] = {"question": "Which\u202e colour?", "choices": ["Red", "Green"]}
FREE: dict[str, Any] = {"question": "What is it called?"}


def asking(folder: Path, *questions: dict[str, Any]) -> dict[str, str]:
    """Return the environment of a model that asks, and repeats the answer at the end."""
    return scripted(folder, *(calls(("ask_user", one)) for one in questions), done())


async def asked(editor: FakeEditor, uri: str | None, prompt: str = "Hello") -> tuple[str, str]:
    """Start a turn that waits with its question; return the ids of both."""
    turn = await ask(editor, prompt, **({"uri": uri, "line": 2} if uri else {}))
    return turn, await question_of(editor, turn)


async def received(editor: FakeEditor, turn: str) -> list[str]:
    """Return the states of a finished turn's calls; check that nothing of its question is left."""
    ended = await end_of(editor, turn)
    assert (ended["state"], ended["question"]) == ("completed", None)
    await editor.wait_until(lambda: not any(editor.diagnostics.values()))
    await editor.wait_until(lambda: editor.n_buttons == 0)
    return [call["state"] for call in ended["toolCalls"]]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_question_is_answered_in_every_way_there_is(
    root: Path, tmp_path: Path, client: str
) -> None:
    questions = (RED_OR_GREEN, RED_OR_GREEN, FREE, RED_OR_GREEN, RED_OR_GREEN)
    replies = [(calls(("ask_user", one)), done()) for one in questions]
    env = scripted(tmp_path, *(reply for pair in replies for reply in pair))
    async with FakeEditor.start(root, client=client, env=env) as editor:
        uri = editor.open("a.txt")
        window = PROFILES[client].params().capabilities.window
        await by_button(editor, uri, has_any=window is not None and window.show_message is not None)
        editor.leaves_buttons = True
        await by_action(editor, uri)
        await by_command(editor, uri)
        await in_chat(editor)
        await never(editor, uri)


async def by_button(editor: FakeEditor, uri: str, *, has_any: bool) -> None:
    """Answer with a message's button, if the editor has any."""
    editor.answer_message = lambda params: (params.actions or [])[1].title
    turn = await ask(editor, "By button", uri=uri, line=2)
    if not has_any:
        # Without buttons, the message names the command.
        await editor.wait_for_message("`stet.answer`: 1: Red / 2: Green")
        await editor.command("stet.answer", "2")
    assert await received(editor, turn) == ["completed", "completed"]


async def by_action(editor: FakeEditor, uri: str) -> None:
    """Answer with a code action at the question's place."""
    turn, _ = await asked(editor, uri, "By action")
    [shown] = await editor.wait_for_diagnostics(uri)
    assert (shown.code, shown.range.start.line) == ("question", 1)
    assert shown.message == "Which\\u202e colour?"
    await editor.choose(uri, "two", "Stet: Green (turn ")
    assert await received(editor, turn) == ["completed", "completed"]


async def by_command(editor: FakeEditor, uri: str) -> None:
    """Answer with the command, in any words."""
    turn, question = await asked(editor, uri, "By command")
    await editor.wait_for_diagnostics(uri)
    # The action for other words explains how to answer.
    before = len(editor.messages)
    await editor.choose(
        uri, "two", f"Stet: Answer turn {turn} in your own words: What is it called?"
    )
    await editor.wait_until(lambda: len(editor.messages) > before)
    assert "`stet.answer`" in editor.messages[-1].message
    assert await editor.command("stet.answer", "It is", "Stet") == {"turn": turn}
    await received(editor, turn)
    with pytest.raises(JsonRpcException, match="was already answered") as raised:
        await editor.command("stet.answer", {"question": question, "text": "Late"})
    assert raised.value.code == -32803


async def in_chat(editor: FakeEditor) -> None:
    """Answer with words under the last heading of the chat document."""
    chat = await opened(editor, "stet.newChat")
    write(editor, chat, "In the chat\n")
    turn = (await editor.command("stet.send", {"uri": chat}))["turn"]
    await until(editor, chat, lambda text: "1. Red\n2. Green" in text)
    write(editor, chat, "Green\n")
    assert await editor.command("stet.send", {"uri": chat}) == {"turn": turn}
    text = await until(editor, chat, ended(turn))
    assert "Green\n\n" in text
    assert "*Your answer: Green*" in text
    assert await received(editor, turn) == ["completed", "completed"]


async def never(editor: FakeEditor, uri: str) -> None:
    """Do not answer: the question ends with its turn."""
    turn, question = await asked(editor, uri, "Never")
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
        # The repeated question shows one message, not two.
        assert await editor.command("stet.answer", {"question": question}) == {"turn": turn}
        await editor.wait_until(lambda: len(editor.asked) == 2 and editor.n_buttons == 1)
        with pytest.raises(JsonRpcException, match="choose one of 'Red', 'Green'"):
            await editor.command("stet.answer", {"choice": "Blue"})
        await editor.command("stet.answer", {"choice": "gr"})
        await received(editor, turn)


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
        await question_of(editor, turn, after=first)
        [shown] = await editor.wait_for_diagnostics(
            uri, lambda found: found and "called" in found[0].message
        )
        assert shown.range.start.line == 2
        await editor.command("stet.answer", "Stet")
        await received(editor, turn)


async def test_a_question_without_a_place_is_answered_from_any_file(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=asking(tmp_path, RED_OR_GREEN)) as editor:
        turn, _ = await asked(editor, None)
        uri = editor.open("a.txt")
        await editor.choose(uri, "one", "Stet: Red (turn ")
        await received(editor, turn)


async def test_no_message_holds_a_link_that_a_click_would_run(root: Path, tmp_path: Path) -> None:
    evil = "See [the report](command:workbench.action.terminal.new)"
    asks = calls(("ask_user", {"question": evil, "choices": ["a", "b"]}))
    env = scripted(tmp_path, {"text": evil}, asks, done(evil))
    async with FakeEditor.start(root, env=env, client="vscode") as editor:
        editor.answer_message = lambda params: (params.actions or [])[0].title
        uri = editor.open("a.txt")
        ended = await end_of(editor, await ask(editor, "What?", uri=uri, mode="ask"))
        assert ended["answer"] == evil
        ended = await end_of(editor, await ask(editor, "Do it", uri=uri))
        assert ended["summary"] == evil
        shown = [asked.message for asked in editor.asked]
        shown += [message.message for message in editor.messages]
        reported = [text for text in shown if "the report] (command:" in text]
        assert len(reported) == 3
        assert "](" not in "".join(shown)


async def test_the_beginning_of_a_choice_answers_the_agents_own_question(root: Path) -> None:
    asks = api.call(
        "ask_user", question="Which?", choices=["The first line", "The second line", "None"]
    )
    async with (
        OpenAIServer([asks, asks, asks, api.say("Thanks.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn, last = await ask(editor, "Ask me", uri=editor.open("a.txt")), ""
        for shown_text in ("the sec", "nobody", "NO"):
            last = await question_of(editor, turn, after=last)
            for unclear in ("the", " The ", ""):
                with pytest.raises(
                    JsonRpcException, match="choose one of 'The first line', 'The sec"
                ):
                    await editor.command("stet.answer", {"question": last, "text": unclear})
            await editor.command("stet.answer", {"question": last, "text": shown_text})
        await end_of(editor, turn)
        received = [
            one["content"].strip()
            for one in server.requests[-1].body["messages"]
            if one["role"] == "tool"
        ]
        answers = ("The second line", "nobody", "None")
        assert received == [f"The user answers: {one}" for one in answers]
