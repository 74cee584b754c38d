"""Text written in the chat document is sent from it, and answered in it."""

import re
from pathlib import Path

import pytest

from stet.chat.chat_layout import YOU
from tests.support.chat_documents import ended, opened, until, write
from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.live_turns import calls, done, edit, provider, scripted
from tests.support.openai_server import End, OpenAIServer, Reply, delta, say


@pytest.mark.parametrize("client", PROFILES)
async def test_what_is_written_is_sent_and_answered_in_the_document(
    root: Path, tmp_path: Path, client: str
) -> None:
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.txt"}), edit("a.txt", "two", "2"), text="I look."),
        calls(("done", {"summary": "The second line is a digit now."})),
    )
    async with FakeEditor.start(root, client=client, env=env) as editor:
        a = editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Make it a digit\n")
        assert await editor.command("stet.send", {"chat": "main"}) == {"turn": "t1"}
        text = await until(editor, uri, ended("t1"))
        figures = re.search(
            r"^\*asked [\d:TZ-]+ · (?:answered [\d:TZ-]+ · ){2}ended [\d:TZ-]+\*\n\n"
            r"\*completed · about ([\d,]+) tokens in, (\d+) out · script.json\*$",
            text,
            re.MULTILINE,
        )
        assert figures is not None
        assert text == (
            "# Stet: main\n\n*Write below the last `## You` heading, then send it with a code "
            "action or `stet.send`.*\n\n"
            "## You\n\nMake it a digit\n\n## Stet (t1)\n\nI look.\n\n"
            "- read_file a.txt\n- edit_file a.txt\n\n"
            "The second line is a digit now.\n\nProposed: 1 hunk in a.txt\n\n"
            f"{figures[0]}\n\n## You\n\n\n"
        )
        assert editor.text(a) == "one\ntwo\n"


async def test_conversations_are_apart_and_every_one_has_its_document(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, done("First."), done("Second."))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        main = await opened(editor)
        new = await editor.command("stet.newChat")
        assert new["chat"] == "c1"
        assert new["uri"] != main
        editor.open(new["uri"])
        write(editor, new["uri"], "One\n")
        assert await editor.command("stet.send") == {"turn": "t1"}
        await until(editor, new["uri"], ended("t1"))
        assert (await editor.command("stet.turn", "t1"))["chat"] == "c1"
        write(editor, main, "Two\n")
        assert await editor.command("stet.send", {"uri": main}) == {"turn": "t2"}
        await until(editor, main, ended("t2"))
        assert "t1" not in editor.text(main)
        odd = await editor.command("stet.openChat", {"chat": "../../etc/passwd"})
        assert (
            Path(odd["uri"].removeprefix("file://")).parent
            == Path(main.removeprefix("file://")).parent
        )


async def test_nothing_is_sent_where_nothing_is_written(root: Path) -> None:
    async with FakeEditor.start(root) as editor:
        uri = await opened(editor)
        with pytest.raises(Exception, match="nothing to send: write below the last"):
            await editor.command("stet.send")
        with pytest.raises(Exception, match="is not a chat document"):
            await editor.command("stet.send", {"uri": editor.open("a.txt")})
        editor.change(uri, YOU + "\n", "")
        with pytest.raises(Exception, match="nothing to send"):
            await editor.command("stet.send")


async def test_failed_turn_is_reported_with_a_reason(root: Path) -> None:
    cut = Reply([delta(content="Half a")], end=End.CUT)
    async with (
        OpenAIServer([cut, cut, cut, cut, say("late")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Tell me\n")
        await editor.command("stet.send")
        text = await until(editor, uri, ended("t1"))
        turn = await editor.command("stet.turn", "t1")
        if turn["state"] == "failed":
            assert f"**Failed.** {turn['error']}" in text
        assert "Half a" in text


async def test_what_a_message_mentions_is_attached_and_may_be_edited(
    root: Path, tmp_path: Path
) -> None:
    (root / "b c.txt").write_text("bee\n")
    env = scripted(
        tmp_path, calls(edit("b c.txt", "bee", "B"), edit("a.txt", "one", "1")), done("B.")
    )
    async with FakeEditor.start(root, env=env) as editor:
        uri = await opened(editor)
        write(editor, uri, 'Make @"b c.txt" short, and @nope.txt\n')
        turn = (await editor.command("stet.send"))["turn"]
        text = await until(editor, uri, ended("t1"))
        assert "- @nope.txt: There is no file 'nope.txt'." in text
        found = await editor.command("stet.turn", turn)
        assert found["notes"] == ["@nope.txt: There is no file 'nope.txt'."]
        # The other file is not open, was not mentioned, and was not read.
        assert [one["uri"] for one in await editor.command("stet.proposals")] == [
            editor.uri("b c.txt")
        ]
        assert [refused["file"] for refused in found["rejectedEdits"]] == ["a.txt"]


async def test_code_actions_in_the_chat_answer_a_question_and_send_a_message(
    root: Path, tmp_path: Path
) -> None:
    question = ("ask_user", {"question": "Which?", "choices": ["Red", "Green"]})
    env = scripted(tmp_path, calls(question), done("Painted."))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Paint it\n")
        await editor.choose(uri, "# Stet: main", "Stet: Send message")
        await until(editor, uri, lambda text: "**Which?**\n\n1. Red\n2. Green" in text)
        await editor.choose(uri, "# Stet: main", "Stet: Green (turn ")
        text = await until(editor, uri, ended("t1"))
        assert "2. Green\n\n*Your answer: Green*\n\nPainted." in text
        titles = [action.title for action in await editor.actions(uri, "# Stet: main")]
        assert titles == ["Stet: Send message", "Stet: Start a new chat"]
