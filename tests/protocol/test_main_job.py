"""The main job through the protocol: ask, review the hunks, accept one, reject one."""

import asyncio
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.live_turns import ask, calls, done, edit, end_of, run, scripted, wait_for_states

GREETINGS = """def hello(name):
    text = "Hello " + name
    return text


def bye(name):
    text = "Bye " + name
    return text
"""
HELLO = ('    text = "Hello " + name\n', '    text = f"Hello {name}"\n')
BYE = ('    text = "Bye " + name\n', '    text = f"Bye {name}"\n')


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one module."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "greet.py").write_text(GREETINGS)
    return folder


def two_edits(folder: Path) -> dict[str, str]:
    """Return the environment of a model that reads the file and changes both functions."""
    return scripted(
        folder,
        calls(("read_file", {"file": "greet.py"}), text="Let me look."),
        calls(edit("greet.py", *HELLO, "Greet"), edit("greet.py", *BYE, "Part")),
        done("Both use f-strings."),
    )


@pytest.mark.parametrize("client", PROFILES)
async def test_one_hunk_is_accepted_and_another_rejected(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        turn = await run(editor, "Use f-strings", uri=uri)
        assert (turn["state"], turn["summary"]) == ("completed", "Both use f-strings.")
        shown = await editor.wait_for_diagnostics(uri, lambda found: len(found) == 2)
        assert [d.message.splitlines()[0] for d in shown] == ["Greet", "Part"]
        assert [(d.source, d.code, d.severity) for d in shown] == [
            ("stet", "proposal", lsp.DiagnosticSeverity.Information)
        ] * 2
        assert editor.text(uri) == GREETINGS

        await editor.choose(uri, '"Hello "', "Stet: Accept hunk 1/2")
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted", turn["hunks"][1]: "pending"})
        await editor.choose(uri, '"Bye "', "Stet: Reject hunk 1/1")
        await wait_for_states(editor, **{turn["hunks"][1]: "rejected"})

        assert editor.text(uri) == GREETINGS.replace(*HELLO)
        await editor.wait_for_diagnostics(uri, lambda found: not found)
        assert len(editor.applied) == 1


async def test_typing_between_asking_and_accepting_disturbs_nothing(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        turn = await run(editor, "Use f-strings", uri=uri)
        editor.type(uri, 0, 0, "import os\n\n\n")
        editor.change(uri, "def bye(name):", "def good_bye(name):\n    # who leaves")
        assert (await editor.command("stet.accept", {"turn": turn["turn"]}))["hunks"] == turn[
            "hunks"
        ]
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        expected = "import os\n\n\n" + GREETINGS.replace(*HELLO).replace(*BYE).replace(
            "def bye(name):", "def good_bye(name):\n    # who leaves"
        )
        assert editor.text(uri) == expected


async def test_typing_beside_what_a_hunk_changes_in_its_line_is_kept(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        turn = await run(editor, "Use f-strings", uri=uri)
        editor.change(uri, '    text = "Hello', '    words = "Hello')
        answer = await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        assert answer["refused"] == []
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text(uri) == GREETINGS.replace(HELLO[0], HELLO[1].replace("text", "words"))


async def test_typing_in_the_word_a_hunk_changes_is_a_conflict_until_it_is_undone(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        turn = await run(editor, "Use f-strings", uri=uri)
        editor.change(uri, '"Hello " + name', '"Hello " + names')
        await editor.wait_for_diagnostics(
            uri, lambda found: [d.code for d in found] == ["conflict", "proposal"]
        )
        with pytest.raises(Exception, match="you edited this text"):
            await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        answer = await editor.command("stet.accept", {"all": True})
        assert answer["hunks"] == turn["hunks"][1:]
        assert [refused["hunk"] for refused in answer["refused"]] == turn["hunks"][:1]
        await wait_for_states(editor, **{turn["hunks"][1]: "accepted"})
        editor.change(uri, '"Hello " + names', '"Hello " + name')
        await wait_for_states(editor, **{turn["hunks"][0]: "pending"})


async def test_a_hunk_keeps_its_place_through_closing_and_other_text(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        turn = await run(editor, "Use f-strings", uri=uri)
        editor.close(uri)
        editor.write(root / "greet.py", "# A module.\n" + GREETINGS)
        editor.open(uri)
        await editor.wait_for_diagnostics(
            uri, lambda found: [d.range.start.line for d in found] == [2, 7]
        )
        await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text(uri) == "# A module.\n" + GREETINGS.replace(*HELLO)


async def test_a_file_that_is_not_open_is_edited_through_the_editor_too(
    root: Path, tmp_path: Path
) -> None:
    (root / "other.py").write_text("x = 1\n")
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "other.py"})),
        calls(edit("other.py", "x = 1", "x = 2")),
        done(),
    )
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("greet.py")
        turn = await run(editor, "Change the other file", file="greet.py")
        await editor.wait_for_diagnostics("other.py")
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text("other.py") == "x = 2\n"
        assert (root / "other.py").read_text() == "x = 1\n"


async def test_a_new_file_exists_only_once_it_is_accepted(root: Path, tmp_path: Path) -> None:
    env = scripted(
        tmp_path, calls(("create_file", {"file": "docs/new.md", "content": "# New\n"})), done()
    )
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("greet.py")
        turn = await run(editor, "Write a page", file="greet.py")
        [hunk] = await editor.command("stet.proposals", {"turn": turn["turn"]})
        assert (hunk["kind"], hunk["state"], hunk["new"]) == ("create", "pending", "# New\n")
        await editor.wait_for_diagnostics("docs/new.md")
        assert not (root / "docs").exists()
        await editor.command("stet.accept", {"hunk": hunk["hunk"]})
        await wait_for_states(editor, **{hunk["hunk"]: "accepted"})
        assert editor.text("docs/new.md") == "# New\n"


async def test_an_addition_is_shown_on_the_line_it_goes_below(root: Path, tmp_path: Path) -> None:
    added = 'def hello(name):\n    """Greet."""\n'
    env = scripted(tmp_path, calls(edit("greet.py", "def hello(name):\n", added)), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("greet.py")
        turn = await run(editor, "Document", uri=uri)
        [shown] = await editor.wait_for_diagnostics(uri)
        assert shown.range.start.line == 0
        [hunk] = await editor.command("stet.proposals")
        assert (hunk["kind"], hunk["range"]["start"]["line"]) == ("add", 1)
        await editor.choose(uri, "def hello(name):", "Stet: Accept hunk 1/1")
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text(uri) == GREETINGS.replace("def hello(name):\n", added)


async def test_a_second_question_waits_for_the_first_in_its_chat(
    root: Path, tmp_path: Path
) -> None:
    held = {**done("First."), "hold": str(tmp_path / "go")}
    env = scripted(tmp_path, held, done("Second."))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("greet.py")
        first = await ask(editor, "One")
        second = await ask(editor, "Two")
        assert (await editor.command("stet.turn", {"turn": second}))["state"] == "queued"
        (tmp_path / "go").touch()
        assert (await end_of(editor, first))["summary"] == "First."
        assert (await end_of(editor, second))["summary"] == "Second."


async def test_a_question_is_answered_at_once_while_a_turn_runs(root: Path, tmp_path: Path) -> None:
    held = {**done("Late."), "hold": str(tmp_path / "never")}
    async with FakeEditor.start(root, env=scripted(tmp_path, held)) as editor:
        uri = editor.open("greet.py")
        await ask(editor, "Hold on", uri=uri)
        seconds = []
        for number in range(20):
            started = perf_counter()
            await ask(editor, f"Next {number}", uri=uri)
            seconds.append(perf_counter() - started)
        assert median(seconds) < 0.05
        assert len((await editor.command("stet.status"))["turns"]) == 21
        assert len((await editor.command("stet.cancel"))["turns"]) == 21


async def test_next_and_previous_go_through_all_hunks(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        assert await editor.command("stet.next") is None
        turn = await run(editor, "Use f-strings", uri=uri)
        found = [
            (await editor.command("stet.next", {"uri": uri, "line": line}))["hunk"]
            for line in (1, 2, 7)
        ]
        assert found == [turn["hunks"][0], turn["hunks"][1], turn["hunks"][0]]
        back = await editor.command("stet.previous", {"uri": uri, "line": 7})
        assert back["hunk"] == turn["hunks"][0]
        await editor.wait_until(lambda: len(editor.shown_documents) == 4)


async def test_the_review_is_a_diff_the_editor_opens(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        await run(editor, "Use f-strings", uri=uri)
        answer = await editor.command("stet.review")
        await editor.wait_until(lambda: editor.shown_documents)
        assert editor.shown_documents[0].uri == answer["uri"]
        text = await asyncio.to_thread(Path(answer["uri"].removeprefix("file://")).read_text)
        assert '-    text = "Hello " + name\n+    text = f"Hello {name}"\n' in text
        assert "--- a/greet.py\n+++ b/greet.py\n" in text


async def test_turn_and_proposals_answer_every_key_of_the_contract(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=two_edits(tmp_path)) as editor:
        uri = editor.open("greet.py")
        turn = await run(editor, "Use f-strings", uri=uri)
        assert set(turn) == {
            "turn",
            "chat",
            "state",
            "mode",
            "prompt",
            "at",
            "endedAt",
            "messages",
            "answer",
            "summary",
            "success",
            "proposals",
            "hunks",
            "replaced",
            "toolCalls",
            "filesRead",
            "filesCopied",
            "steering",
            "notes",
            "sources",
            "rejectedEdits",
            "failedEdits",
            "usage",
            "cost",
            "priceSource",
            "model",
            "agent",
            "iterations",
            "error",
            "question",
        }
        assert [(call["tool"], call["state"]) for call in turn["toolCalls"]] == [
            ("read_file", "completed"),
            ("edit_file", "waitingForUserInput"),
            ("edit_file", "waitingForUserInput"),
            ("done", "completed"),
        ]
        assert (turn["answer"], turn["filesRead"], turn["iterations"]) == (
            "Let me look.",
            ["greet.py"],
            3,
        )
        assert len(turn["usage"]["perRound"]) == 3
        [hunk, _] = await editor.command("stet.proposals", {"uri": uri})
        assert (hunk["kind"], hunk["old"], hunk["new"], hunk["turn"]) == (
            "replace",
            *HELLO,
            turn["turn"],
        )
        assert hunk["range"]["start"]["line"] == 1
        [found] = await editor.command("stet.proposals", {"text": "part"})
        assert found["hunk"] == turn["hunks"][1]
        assert await editor.command("stet.proposals", {"state": "rejected"}) == []
