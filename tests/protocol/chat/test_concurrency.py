"""Edits of the chat document by the server while its user types in it, or in another document."""

from pathlib import Path

import pytest

from tests.support.chat_documents import ended, opened, until, write
from tests.support.chat_text import draft, parts, written
from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.live_turns import ask, calls, done, end_of, provider, scripted
from tests.support.openai_server import OpenAIServer, Reply, delta, usage


@pytest.mark.parametrize("client", PROFILES)
async def test_nothing_that_is_typed_while_an_answer_comes_is_lost(root: Path, client: str) -> None:
    words = [f"word{n} " for n in range(30)]
    streamed = Reply(
        [*(delta(content=word) for word in words), delta(finish="stop"), usage(9, 9)], pause=0.03
    )
    async with (
        OpenAIServer([streamed]) as server,
        FakeEditor.start(root, client=client, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Tell me\n")
        await editor.command("stet.send", {"uri": uri})
        typed = [0, 0]
        # The user types below, and into earlier words of their own, at every received piece.
        while not ended("t1")(editor.text(uri)):
            arrived = editor.n_news
            if editor.edits_within:  # this editor applies edits only for a moment after a command
                await editor.command("stet.openChat")
            if "## Stet (t1)" in editor.text(uri):
                write(editor, uri, f"<{typed[0]}>")
                typed[0] += 1
                if typed[0] % 3 == 0:
                    editor.change(uri, "Tell me", f"[{typed[1]}]Tell me")
                    typed[1] += 1
            await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]
        text = editor.text(uri)
    assert typed[0] > 5
    last = draft(text)
    assert last is not None
    assert last.text == "".join(f"<{n}>" for n in range(typed[0]))
    assert parts(text)[0].text == "".join(f"[{n}]" for n in range(typed[1])) + "Tell me"
    assert written(text, "t1").startswith("".join(words).strip())


@pytest.mark.parametrize("client", ["neovim", "vscode", "kakoune"])
async def test_what_is_sent_while_a_turn_runs_steers_it(
    root: Path, tmp_path: Path, client: str
) -> None:
    hold = tmp_path / "go"
    held = {**calls(("read_file", {"file": "a.txt"}), text="Looking."), "hold": str(hold)}
    env = scripted(tmp_path, held, done("Shorter."))
    async with FakeEditor.start(root, client=client, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Tell me\n")
        await editor.command("stet.send", {"chat": "main"})
        text = await until(editor, uri, lambda text: "## Stet (t1)" in text)
        write(editor, uri, "Be brief\n")
        assert await editor.command("stet.send", {"chat": "main"}) == {"turn": "t1"}
        await until(editor, uri, lambda text: text.count("## Stet (t1)") == 2)
        hold.touch()
        text = await until(editor, uri, ended("t1"))
        assert [(part.turn, part.text.split("\n")[0]) for part in parts(text)] == [
            ("", "Tell me"), ("t1", ""), ("", "Be brief"), ("t1", "Looking."), ("", ""),
        ]  # fmt: skip
        assert "Shorter." in written(text, "t1")


@pytest.mark.parametrize("client", ["neovim", "helix", "kate"])
async def test_a_question_is_answered_in_the_document(
    root: Path, tmp_path: Path, client: str
) -> None:
    settings: dict[str, object] = {"context": {"warnTokens": 1}}
    env = scripted(tmp_path, done("Sent."))
    async with FakeEditor.start(root, client=client, env=env, options=settings) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Tell me\n")
        await editor.command("stet.send", {"chat": "main"})
        await until(editor, uri, lambda text: "1. Send it\n2. Don't send" in text)
        write(editor, uri, "what?\n")
        with pytest.raises(Exception, match=r"is not an answer to .*'Send it'"):
            await editor.command("stet.send", {"chat": "main"})
        editor.change(uri, "what?", "2")
        assert await editor.command("stet.send", {"chat": "main"}) == {"turn": "t1"}
        text = await until(editor, uri, ended("t1"))
        assert [part.text.split("\n")[0] for part in parts(text)][2:] == [
            "2", "*Your answer: Don't send*", "",
        ]  # fmt: skip
        assert "\n\n**Cancelled.** Not sent: you declined.\n" in text


async def test_question_from_a_command_is_inserted_before_the_draft(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, done("There."))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "I am writing")
        await end_of(editor, await ask(editor, "Where?"))
        text = await until(editor, uri, ended("t1"))
        assert [part.text.split("\n")[0] for part in parts(text)] == [
            "Where?",
            "There.",
            "I am writing",
        ]


async def test_steering_and_outcomes_of_files_are_in_the_answer(root: Path, tmp_path: Path) -> None:
    (root / "b.txt").write_text("old\n")
    env = scripted(
        tmp_path,
        calls(("delete_file", {"file": "b.txt"}), text="It is old."),
        calls(("read_file", {"file": "a.txt"}), text="I look."),
        done("Tidy."),
    )
    settings: dict[str, object] = {"agent": {"disabledTools": []}}
    async with FakeEditor.start(root, env=env, settings=settings) as editor:
        editor.open("a.txt")
        editor.open("b.txt")
        uri = await opened(editor)
        write(editor, uri, "Tidy up\n")
        turn = (await editor.command("stet.send"))["turn"]
        await until(editor, uri, lambda text: "1. Delete\n2. Keep" in text)
        await editor.command("stet.steer", {"turn": turn, "prompt": "Be quick,\nplease"})
        await editor.command("stet.answer", "Delete")
        message = written(await until(editor, uri, ended("t1")), "t1")
    _, _, after = message.partition("2. Keep\n\n")
    assert after.startswith(
        "*Your answer: Delete*\n\n- delete_file b.txt\n\n> **You:** Be quick,\n> please\n\n"
        "I look.\n\n- read_file a.txt\n\nTidy.\n\n"
        "Deleted: b.txt; undo with `stet.undo`\n\n"
    )
    assert "Proposed" not in message
