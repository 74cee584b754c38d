"""The chat document, in every editor: what is sent from it, and what comes into it meanwhile."""

import asyncio
import re
from pathlib import Path

import pytest

from stet.lsp.chat.layout import YOU, draft, parts, written
from tests.support.chat_documents import ended, opened, until, write
from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES, Quirk
from tests.support.live_turns import ask, calls, done, edit, end_of, provider, scripted
from tests.support.openai_server import End, OpenAIServer, Reply, delta, say, usage
from tests.support.proposing import HURRIED_SERVER
from tests.support.restarts import proposals, ready, until_killed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


def on_disk(uri: str) -> str:
    return Path(uri.removeprefix("file://")).read_text()


def append(uri: str, text: str) -> None:
    """Write in the document with another program."""
    path = Path(uri.removeprefix("file://"))
    path.write_text(path.read_text() + text)


def mode_of(uri: str) -> int:
    return Path(uri.removeprefix("file://")).stat().st_mode & 0o777


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
            r"^\*completed · about ([\d,]+) tokens in, (\d+) out · script.json\*$",
            text,
            re.MULTILINE,
        )
        assert figures is not None
        assert text == (
            "# Stet: main\n\n*Write under the last heading `## You` and send it: by code action, or `stet.send`.*\n\n"
            "## You\n\nMake it a digit\n\n## Stet (t1)\n\nI look.\n\n"
            f"- read_file [a.txt]({a})\n- edit_file [a.txt]({a})\n\n"
            f"The second line is a digit now.\n\nProposed: 1 hunk in [a.txt]({a})\n\n"
            f"{figures[0]}\n\n## You\n\n\n"
        )
        assert editor.text(a) == "one\ntwo\n"


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
        # The user types below, and into their own words above, at every piece that comes.
        while not ended("t1")(editor.text(uri)):
            arrived = editor.n_news
            if editor.edits_within:  # this one takes edits only for a moment behind a command
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
        with pytest.raises(Exception, match=r"is no answer to .*'Send it'"):
            await editor.command("stet.send", {"chat": "main"})
        editor.change(uri, "what?", "2")
        assert await editor.command("stet.send", {"chat": "main"}) == {"turn": "t1"}
        text = await until(editor, uri, ended("t1"))
        assert [part.text.split("\n")[0] for part in parts(text)][2:] == [
            "2", "*Your answer: Don't send*", "",
        ]  # fmt: skip
        assert "\n\n**Cancelled.** Not sent: you did not want it to be.\n" in text


async def test_a_question_asked_elsewhere_stands_before_what_is_being_written(
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


@pytest.mark.parametrize("quirk", [Quirk.REFUSE, Quirk.LIE, Quirk.NULL])
async def test_an_editor_that_takes_no_edits_has_the_answer_in_the_file(
    root: Path, tmp_path: Path, quirk: Quirk
) -> None:
    env = scripted(tmp_path, done("There."))
    async with FakeEditor.start(root, quirk=quirk, env=env, command=HURRIED_SERVER) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Where?\n")
        turn = (await editor.command("stet.send", {"chat": "main"}))["turn"]
        await end_of(editor, turn)
        async with asyncio.timeout(60):
            while not ended("t1")(on_disk(uri)):
                await editor.command("stet.status")
        assert [part.text.split("\n")[0] for part in parts(on_disk(uri))] == [
            "Where?",
            "There.",
            "",
        ]
        assert editor.text(uri).endswith("## You\n\nWhere?\n")


async def test_a_document_that_was_never_shown_is_written_and_sent_from_the_disk(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, done("There."))
    async with FakeEditor.start(root, client="eglot", env=env) as editor:
        uri = (await editor.command("stet.openChat"))["uri"]
        assert mode_of(uri) == 0o600
        append(uri, "Where?\n")
        await end_of(editor, (await editor.command("stet.send"))["turn"])
        async with asyncio.timeout(60):
            while not ended("t1")(on_disk(uri)):
                await editor.command("stet.status")
        editor.open(uri)
        assert [part.text.split("\n")[0] for part in parts(editor.text(uri))] == [
            "Where?",
            "There.",
            "",
        ]


async def test_a_chat_is_no_context_nobodys_place_and_not_editable(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, done("There."))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        await ready(editor)
        editor.focus(uri)
        write(editor, uri, "Something secret")
        shown = await editor.command("stet.showContext", {"prompt": "What is this?"})
        told = "\n".join(section["text"] for section in shown["sections"])
        assert "Something secret" not in told
        assert "a.txt" in told
        offered = [action.title for action in await editor.actions(uri, "Something secret")]
        assert offered == ["Stet: Send what I have written", "Stet: Begin a new chat"]


async def test_what_is_said_elsewhere_and_what_became_of_a_file_stand_in_the_answer(
    root: Path, tmp_path: Path
) -> None:
    (root / "b.txt").write_text("old\n")
    env = scripted(
        tmp_path,
        calls(("delete_file", {"file": "b.txt"}), text="It is old."),
        calls(("read_file", {"file": "a.txt"}), text="I look."),
        done("Tidy."),
    )
    settings: dict[str, object] = {"agent": {"disabledTools": []}}
    async with FakeEditor.start(root, env=env, settings=settings) as editor:
        a, b = editor.open("a.txt"), editor.uri("b.txt")
        editor.open("b.txt")
        uri = await opened(editor)
        write(editor, uri, "Tidy up\n")
        turn = (await editor.command("stet.send"))["turn"]
        await until(editor, uri, lambda text: "1. Delete\n2. Keep" in text)
        await editor.command("stet.steer", {"turn": turn, "prompt": "Be quick,\nplease"})
        await editor.command("stet.answer", "Delete")
        said = written(await until(editor, uri, ended("t1")), "t1")
    _, _, after = said.partition("2. Keep\n\n")
    assert after.startswith(
        f"*Your answer: Delete*\n\n- delete_file [b.txt]({b})\n\n> **You:** Be quick,\n> please\n\n"
        f"I look.\n\n- read_file [a.txt]({a})\n\nTidy.\n\n"
        f"Deleted: [b.txt]({b}); `stet.undo` brings it back\n\n"
    )
    assert "Proposed" not in said


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
        with pytest.raises(Exception, match="nothing to send: write under the last heading"):
            await editor.command("stet.send")
        with pytest.raises(Exception, match="is no chat document"):
            await editor.command("stet.send", {"uri": editor.open("a.txt")})
        editor.change(uri, YOU + "\n", "")
        with pytest.raises(Exception, match="nothing to send"):
            await editor.command("stet.send")


async def test_a_failed_turn_says_why(root: Path) -> None:
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
    # Its document was never saved: what stood in it is written again from what was kept.
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
        said = [message["content"] or "" for message in messages if message["role"] != "system"]
        assert "Make it a digit" in said[0]
        assert "I look." in "".join(said[1:-1])
        # What was decided between is told, once it was the model's own.
        assert "I like words" in said[-1]
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
            assert found["error"].startswith("Stet was ended while this turn was under way")
        assert (await editor.command("stet.turn", "t1"))["hunks"] == ["h1"]
        assert (await proposals(editor))["h1"]["state"] == "pending"
        with pytest.raises(Exception, match="no turn waits"):
            await editor.command("stet.answer", "a")
        uri = await opened(editor)
        text = editor.text(uri)
        assert text.count("## Stet (t1)") == 1
        assert "**Failed.** Stet was ended" in written(text, "t1")
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
        # The other file is not open, not mentioned, and was not read.
        assert [one["uri"] for one in await editor.command("stet.proposals")] == [
            editor.uri("b c.txt")
        ]
        assert [refused["file"] for refused in found["rejectedEdits"]] == ["a.txt"]


async def test_a_question_is_answered_and_words_are_sent_by_code_action_in_the_chat(
    root: Path, tmp_path: Path
) -> None:
    question = ("ask_user", {"question": "Which?", "choices": ["Red", "Green"]})
    env = scripted(tmp_path, calls(question), done("Painted."))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Paint it\n")
        await editor.choose(uri, "# Stet: main", "Stet: Send what I have written")
        await until(editor, uri, lambda text: "**Which?**\n\n1. Red\n2. Green" in text)
        await editor.choose(uri, "# Stet: main", "Stet: Green (turn ")
        text = await until(editor, uri, ended("t1"))
        assert "2. Green\n\n*Your answer: Green*\n\nPainted." in text
        titles = [action.title for action in await editor.actions(uri, "# Stet: main")]
        assert titles == ["Stet: Send what I have written", "Stet: Begin a new chat"]
