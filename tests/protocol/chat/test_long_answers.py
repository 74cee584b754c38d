"""An answer that is too long for a message is read in the chat document, which opens beside the
code.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from stet.llm.scripted_model import call, combine
from stet.llm.scripted_model import say as words
from tests.support import openai_server as api
from tests.support.chat_documents import ended, opened, until, write
from tests.support.chat_text import parts, written
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider, run
from tests.support.openai_server import OpenAIServer, Reply, delta, usage

LONG = "It has two lines.\n\n- one is first\n- two is second\n\nThat is all."
SHORT = "It has two lines."
EDIT = api.call("edit_file", file="a.txt", old_text="two", new_text="2")
PAUSED = Reply(
    [*(delta(content=f"{word} ") for word in (LONG + LONG * 3).split(" ")), delta(finish="stop"), usage(9, 9)],
    pause=0.02,
)  # fmt: skip


def messages(editor: FakeEditor) -> list[str]:
    """Return all messages that the user was shown, without the usage at the end."""
    return [re.sub(r" \(\d+ rounds?, .*\)\Z", "", one.message) for one in editor.messages]


def progress_messages(editor: FakeEditor) -> list[str]:
    """Return the messages of all progress, in order."""
    tokens = list(editor.progress_reports)
    return [one.message or "" for token in tokens for one in editor.progress_of(token)]


async def test_chat_is_opened_while_a_long_answer_is_streamed(root: Path) -> None:
    async with (
        OpenAIServer([PAUSED]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.opens_shown = True
        editor.open("a.txt")
        turn = await ask(editor, "What is in it?")
        await editor.wait_until(lambda: editor.shown_documents)
        [shown] = editor.shown_documents
        assert shown == lsp.ShowDocumentParams(shown.uri, take_focus=False)
        assert messages(editor) == []  # the turn still runs
        text = await until(editor, shown.uri, lambda text: "two is second" in text)
        assert not ended(turn)(text)
        await end_of(editor, turn)
        text = await until(editor, shown.uri, ended(turn))
        assert [(part.turn, part.text.split("\n")[0]) for part in parts(text)] == [
            ("", "What is in it?"), (turn, "It has two lines."), ("", ""),
        ]  # fmt: skip
        assert written(text, turn).count("That is all.") == 4
        assert messages(editor) == ["Stet: It has two lines. The answer is in the chat."]
        assert [one.take_focus for one in editor.shown_documents] == [False]


@pytest.mark.parametrize("answer", [SHORT, "One.\n\nTwo.", "word " * 40])
async def test_short_answer_is_a_message_of_one_line(root: Path, answer: str) -> None:
    async with (
        OpenAIServer([api.say(answer)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        await run(editor, "What is in it?", uri=editor.open("a.txt"))
        assert messages(editor) == [f"Stet: {' '.join(answer.split())}"]
        await editor.command("stet.status")
        assert editor.shown_documents == []


@pytest.mark.parametrize(
    ("wanted", "answer", "is_opened"),
    [("never", LONG, False), ("always", SHORT, True), ("long", SHORT, False)],
)
async def test_setting_decides_which_answers_open_the_chat(
    root: Path, wanted: str, answer: str, *, is_opened: bool
) -> None:
    settings = {"chat": {"openAnswers": wanted}}
    async with (
        OpenAIServer([api.say(answer)]) as server,
        FakeEditor.start(root, env=provider(server), settings=settings) as editor,
    ):
        await run(editor, "What is in it?", uri=editor.open("a.txt"))
        if is_opened:
            await editor.wait_until(lambda: editor.shown_documents)
        await editor.command("stet.status")
        assert len(editor.shown_documents) == is_opened
        assert all("\n" not in message for message in messages(editor))


async def test_chat_that_opens_with_a_long_answer_has_the_earlier_turns_first(root: Path) -> None:
    async with (
        OpenAIServer([api.say(SHORT), api.say(SHORT), api.say(LONG)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.opens_shown = True
        uri = editor.open("a.txt")
        for question in ("First?", "Second?"):
            await run(editor, question, uri=uri)
        turn = await ask(editor, "Third?")
        await editor.wait_until(lambda: editor.shown_documents)
        text = await until(editor, editor.shown_documents[0].uri, ended(turn))
        questions = [part.text for part in parts(text) if not part.turn]
        assert questions == ["First?", "Second?", "Third?", ""]


async def test_chat_that_the_user_closes_is_opened_again_only_in_the_next_turn(root: Path) -> None:
    async with (
        OpenAIServer([PAUSED, PAUSED]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.opens_shown = True
        editor.open("a.txt")
        first = await ask(editor, "What is in it?")
        await editor.wait_until(lambda: editor.shown_documents)
        uri = editor.shown_documents[0].uri
        await until(editor, uri, lambda text: "two is second" in text)
        editor.close(uri)
        await end_of(editor, first)
        await editor.command("stet.status")
        assert len(editor.shown_documents) == 1
        second = await ask(editor, "And now?")
        await editor.wait_until(lambda: len(editor.shown_documents) == 2)
        await end_of(editor, second)
        text = await until(editor, uri, ended(second))
        assert written(text, first).count("That is all.") == 4
        assert written(text, second).count("That is all.") == 4


async def test_chat_that_is_open_is_not_shown_again_even_if_the_user_closes_it(root: Path) -> None:
    async with (
        OpenAIServer([PAUSED]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "What is in it?\n")
        turn = (await editor.command("stet.send"))["turn"]
        await until(editor, uri, lambda text: "It has" in text)
        editor.close(uri)
        await end_of(editor, turn)
        await editor.command("stet.status")
        assert [one.take_focus for one in editor.shown_documents] == [True]  # by the user


@pytest.mark.parametrize("client", ["vscode", "kate"])
async def test_editor_that_opens_chats_itself_is_notified(root: Path, client: str) -> None:
    declared = {"stet": {"opensChat": True}}
    async with (
        OpenAIServer([PAUSED]) as server,
        FakeEditor.start(
            root, client=client, env=provider(server), experimental=declared
        ) as editor,
    ):
        editor.open("a.txt")
        turn = await ask(editor, "What is in it?", chat="main")
        await editor.wait_until(lambda: editor.shown_chats)
        [shown] = editor.shown_chats
        assert (shown.chat, shown.takeFocus) == ("main", False)
        assert shown.uri.endswith("-main.md")
        await end_of(editor, turn)
        assert editor.shown_documents == []
        assert len(editor.shown_chats) == 1


async def test_editor_that_focuses_what_it_shows_is_only_referred_to_the_chat(root: Path) -> None:
    async with (
        OpenAIServer([api.say(f"{LONG}\n\n{LONG}")]) as server,
        FakeEditor.start(root, client="helix", env=provider(server)) as editor,
    ):
        await run(editor, "What is in it?", uri=editor.open("a.txt"))
        assert "The answer is in the chat." in messages(editor)[0]
        await editor.command("stet.status")
        assert editor.shown_documents == []
        uri = await opened(editor)
        await until(editor, uri, lambda text: "That is all." in text)


async def test_editor_without_show_document_has_the_whole_answer_as_a_message(root: Path) -> None:
    async with (
        OpenAIServer([api.say(LONG)]) as server,
        FakeEditor.start(root, client="kate", env=provider(server)) as editor,
    ):
        await run(editor, "What is in it?", uri=editor.open("a.txt"))
        assert messages(editor) == [f"Stet: {LONG}"]
        assert editor.shown_documents == []


async def test_long_answer_of_several_messages_opens_the_chat_at_its_end(root: Path) -> None:
    read = api.of(combine(words("I look.\n\nAt a.txt."), call("read_file", file="a.txt")))
    async with (
        OpenAIServer([read, api.say("It is short.\n\nTwo lines.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        await run(editor, "What is in it?", uri=editor.open("a.txt"))
        await editor.wait_until(lambda: editor.shown_documents)
        assert messages(editor)[0].startswith("Stet: It is short. The answer is in the chat.")


async def test_narrated_edits_open_no_chat(root: Path) -> None:
    edit = api.of(combine(words("I edit.\n\nThe second line."), call("read_file", file="a.txt")))
    async with (
        OpenAIServer([edit, EDIT, api.say("I wrote it\n\nas a figure.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn: Any = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert len(turn["hunks"]) == 1
        await editor.command("stet.status")
        assert editor.shown_documents == []
        assert messages(editor) == ["Stet: I wrote it. 1 hunk to review."]


async def test_progress_names_the_edited_file_and_counts_its_edits(root: Path) -> None:
    both = api.of(
        combine(
            call("edit_file", file="a.txt", old_text="one", new_text="1"),
            call("edit_file", file="a.txt", old_text="two", new_text="2"),
        )
    )
    again = api.call("edit_file", file="a.txt", old_text="1\n2", new_text="1\n2\n3")
    async with (
        OpenAIServer([both, again, api.say("Done.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        await run(editor, "Count", uri=editor.open("a.txt"))
        edits = [one for one in progress_messages(editor) if "editing" in one]
        assert edits == ["editing a.txt (1)", "editing a.txt (2)", "editing a.txt (3)"]


async def test_progress_of_a_wait_begins_with_the_seconds(root: Path) -> None:
    async with (
        OpenAIServer([api.error(429, "Slow down.", retry_after="1"), api.say("Done.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        await run(editor, "Count", uri=editor.open("a.txt"))
        [waited] = [one for one in progress_messages(editor) if "rate limit exceeded" in one]
        assert re.fullmatch(
            r"Waiting 1 s: openai \(127.0.0.1:\d+\) rate limit exceeded \(HTTP 429\): Slow down\."
            r" Attempt 2 of \d\.",
            waited,
        )
