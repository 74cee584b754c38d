"""`stet.chats` lists the conversations with their titles; `stet.openChat` opens one of them."""

from pathlib import Path

from tests.support.chat_documents import opened
from tests.support.chat_files import is_on_disk
from tests.support.chat_text import written
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, done, run, scripted
from tests.support.restarts import ready


async def test_chats_are_listed_with_titles_the_latest_first(root: Path, tmp_path: Path) -> None:
    env = scripted(tmp_path, done("One."), done("Two."), done("Three."))
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, env={**env, **state}) as editor:
        editor.open("a.txt")
        assert await editor.command("stet.chats") == []
        await run(editor, "Where is it?", chat="main")
        await ask(editor, f"{'long ' * 20}\nmore", chat="other")
        await editor.wait_for_message("Two.")
        listed = await editor.command("stet.chats")
        titles = [(one["chat"], one["title"], one["turns"]) for one in listed]
        cut = f"{'long ' * 11}long…"
        # Both may have ended in the same second.
        assert sorted(titles) == [("main", "Where is it?", 1), ("other", cut, 1)]
        await run(editor, "And now?", chat="main")
        [main, other] = await editor.command("stet.chats")
        assert (main["chat"], main["title"], main["turns"]) == ("main", "Where is it?", 2)
        assert main["updated"] >= other["updated"] > "2000"
        # The list does not make documents.
        assert not is_on_disk(other["uri"])
        uri = await opened(editor, chat="other")
        assert uri == other["uri"]
        assert "Two." in written(editor.text(uri), "t2")
        before = await editor.command("stet.chats")
    async with FakeEditor.start(root, env=state) as editor:
        await ready(editor)
        assert await editor.command("stet.chats") == before


async def test_headings_of_an_answer_are_below_those_of_the_chat(
    root: Path, tmp_path: Path
) -> None:
    answer = "# Plan\n\n```py\n# a comment\n```\n\n## You\n\nDo it."
    env = scripted(tmp_path, {"text": answer, "tool_calls": []})
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        turn = await run(editor, "What is the plan?")
        assert turn["answer"] == answer
        text = editor.text(await opened(editor))
        assert "### Plan\n\n```py\n# a comment\n```\n\n#### You\n\nDo it.\n" in written(text, "t1")
