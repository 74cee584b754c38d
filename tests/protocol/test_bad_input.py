"""Invalid input: each gets a clear message, the server continues, nothing is lost."""

from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted

TEXT = "one\ntwo\nthree\n"
INVALID, FAILED, MODIFIED = -32602, -32803, -32801


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("stet.aks", {"prompt": "x"}, INVALID, "Did you mean 'stet.ask'?"),
    ("stet.ask", {}, INVALID, "needs 'prompt'"),
    ("stet.ask", {"prompt": "  "}, INVALID, "needs 'prompt'"),
    ("stet.ask", {"prompt": 7}, INVALID, "'prompt' must be a string, not 7"),
    ("stet.ask", {"prompt": "x", "mod": "ask"}, INVALID, "did you mean 'mode'?"),
    ("stet.ask", {"prompt": "x", "mode": "agnet"}, INVALID, "'agent', 'ask', 'rewrite'"),
    ("stet.ask", {"prompt": "x", "file": "../b.txt"}, INVALID, "contains `..`"),
    ("stet.ask", {"prompt": "x", "file": "/etc/passwd"}, INVALID, "outside the workspace"),
    ("stet.ask", {"prompt": "x", "file": "none.txt"}, INVALID, "none.txt"),
    ("stet.ask", {"prompt": "x", "uri": "file:///etc/passwd"}, INVALID, "outside"),
    ("stet.ask", {"prompt": "x", "file": "a.txt", "from": 9}, INVALID, "has 3 lines"),
    ("stet.ask", {"prompt": "x", "file": "a.txt", "line": 0}, INVALID, "starting at 1"),
    ("stet.ask", {"prompt": "x", "range": {"start": 1}}, INVALID, "range"),
    (
        "stet.ask",
        {
            "prompt": "x",
            "file": "a.txt",
            "range": {
                "start": {"line": 90, "character": 0},
                "end": {"line": 91, "character": 0},
            },
        },
        INVALID,
        "line 90",
    ),
    ("stet.turn", {"turn": "t99"}, INVALID, "no turn 't99'"),
    ("stet.cancel", {"turn": "t99"}, INVALID, "no turn 't99'"),
    ("stet.accept", {"hunk": "h99"}, INVALID, "no hunk 'h99'"),
    ("stet.accept", {}, INVALID, "exactly one of"),
    ("stet.accept", {"hunk": "h1", "all": True}, INVALID, "exactly one of"),
    ("stet.accept", {"all": "yes"}, INVALID, "true or false"),
    ("stet.accept", {"turn": "t99"}, INVALID, "no pending hunks for 't99'"),
    ("stet.reject", {"hunk": "h99"}, INVALID, "no hunk 'h99'"),
    ("stet.proposals", {"state": "done"}, INVALID, "'state' must be one of"),
    ("stet.review", {}, FAILED, "no pending hunks"),
    ("stet.next", {"line": -3}, INVALID, "starting at 1"),
    ("stet.status", {"verbose": True}, INVALID, "verbose"),
]


async def test_wrong_arguments_are_answered_with_a_sentence(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        uri = editor.open("a.txt")
        for command, arguments, code, message in WRONG:
            with pytest.raises(JsonRpcException) as raised:
                await editor.command(command, arguments)
            assert (raised.value.code, message in raised.value.message) == (code, True), (
                raised.value
            )
        assert (await editor.command("stet.status"))["turns"] == []
        assert editor.text(uri) == TEXT


async def test_arguments_may_be_strings_and_objects_mixed(root: Path, tmp_path: Path) -> None:
    env = scripted(tmp_path, {"text": "Two words."})
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        answer = await editor.command("stet.ask", "what", {"mode": "ask"}, "is this?")
        assert (await editor.command("stet.turn", answer["turn"]))["prompt"] == "what is this?"
        await editor.wait_for_message("Two words.")


async def test_a_hunk_that_is_decided_or_replaced_is_not_accepted(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(edit("a.txt", "two", "2")), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Numbers", uri=uri)
        with pytest.raises(JsonRpcException) as raised:
            await editor.command("stet.accept", {"hunk": turn["hunks"][0], "hash": "0" * 16})
        assert raised.value.code == MODIFIED
        await editor.command("stet.reject", {"hunk": turn["hunks"][0], "reason": "no"})
        with pytest.raises(JsonRpcException, match="already rejected") as raised:
            await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        assert raised.value.code == FAILED
        [hunk] = await editor.command("stet.proposals")
        assert (hunk["state"], hunk["reason"]) == ("rejected", "no")
        assert editor.text(uri) == TEXT


async def test_a_setting_of_the_wrong_kind_is_named_and_the_rest_holds(
    root: Path, tmp_path: Path
) -> None:
    settings = {
        "agent": {"maxIterations": 99, "maxToken": 5},
        "edit": {"canAdd": "perhaps", "canCreate": False},
    }
    env = scripted(tmp_path, calls(("create_file", {"file": "b.txt", "content": "b"})), done())
    async with FakeEditor.start(root, settings=settings, env=env) as editor:
        shown_text = await editor.wait_for_message("settings")
        for part in ("maxIterations", "maxTokens", "canAdd"):
            assert part in shown_text
        editor.open("a.txt")
        turn = await run(editor, "Make a file")
        assert [refused["rule"] for refused in turn["rejectedEdits"]] == ["edit.canCreate"]
        assert turn["hunks"] == []


async def test_a_provider_without_its_key_names_the_variable(root: Path) -> None:
    settings = {"model": {"provider": "groq", "name": "m"}}
    async with FakeEditor.start(root, settings=settings) as editor:
        editor.open("a.txt")
        turn = await run(editor, "Hello")
        assert (turn["state"], "GROQ_API_KEY" in turn["error"]) == ("failed", True), turn["error"]


async def test_no_model_at_all_fails_with_the_way_to_get_one(root: Path) -> None:
    async with FakeEditor.start(root) as editor:
        editor.open("a.txt")
        turn = await run(editor, "Hello")
        assert turn["state"] == "failed"
        assert "stet model install" in turn["error"]
        assert "OPENAI_API_KEY" in turn["error"]
        await editor.wait_for_message("stet model install")
