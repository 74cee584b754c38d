"""Text answers to a question in every mode, and their display."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from stet.llm.scripted_model import call, combine, say
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer

TEXT = "one\ntwo\n"
ANSWER = "It has two lines.\n\n- one\n- two"
EDIT = api.call("edit_file", file="a.txt", old_text="two", new_text="2")
READ = api.call("read_file", file="a.txt")
WRITTEN = '```json\n{"name": "edit_file", "arguments": {"path": "a.txt"}}\n```'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


def last_message(editor: FakeEditor) -> lsp.ShowMessageParams:
    """Return the last message shown to the user."""
    return editor.messages[-1]


@pytest.mark.parametrize("mode", ["agent", "ask"])
@pytest.mark.parametrize("before", [[], [READ]], ids=["at once", "after reading"])
async def test_text_answer_ends_the_turn_and_a_message_says_where_it_is(
    root: Path, mode: str, before: list[api.Reply]
) -> None:
    async with (
        OpenAIServer([*before, api.say(ANSWER)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "What is in it?", uri=editor.open("a.txt"), mode=mode)
        assert (turn["state"], turn["success"], turn["error"]) == ("completed", True, None)
        assert (turn["answer"], len(server.requests)) == (ANSWER, len(before) + 1)
        shown = last_message(editor)
        assert shown.message.startswith("Stet: It has two lines. The answer is in the chat. (")
        assert shown.type == lsp.MessageType.Info


async def test_an_answer_that_comes_with_done_is_shown_and_what_done_adds_too(root: Path) -> None:
    both = api.of(combine(say(ANSWER), call("done", summary="Counted the lines.")))
    async with (
        OpenAIServer([both]) as server,
        FakeEditor.start(root, client="kate", env=provider(server)) as editor,
    ):
        turn = await run(editor, "What is in it?", uri=editor.open("a.txt"))
        assert turn["state"] == "completed"
        assert ANSWER in last_message(editor).message
        assert "Counted the lines." in last_message(editor).message


async def test_where_edits_wait_the_end_is_one_line(root: Path) -> None:
    async with (
        OpenAIServer([EDIT, api.say("I wrote it as a figure.\n\nMore words.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert (turn["state"], len(turn["hunks"])) == ("completed", 1)
        shown = last_message(editor).message
        assert shown.startswith("Stet: I wrote it as a figure. 1 hunk to review. (2 rounds, ")
        assert "More words" not in shown


@pytest.mark.parametrize("mode", ["agent", "ask"])
async def test_call_written_as_text_is_reported_once_and_then_fails_the_turn(
    root: Path, mode: str
) -> None:
    async with (
        OpenAIServer([api.say(WRITTEN), api.say(WRITTEN)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"), mode=mode)
        assert (turn["state"], turn["answer"], turn["hunks"]) == ("failed", "", [])
        assert "as text" in turn["error"]
        assert "Its proposals are kept" not in turn["error"]
        reported = server.requests[1].body["messages"][-1]
        assert reported["role"] == "user"
        assert '{"name": "edit_file", "arguments": {...}}' in reported["content"]
        assert turn["error"] in last_message(editor).message


async def test_a_model_that_heeds_the_report_goes_on(root: Path) -> None:
    async with (
        OpenAIServer([api.say(WRITTEN), EDIT, api.say("Done.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert (turn["state"], turn["answer"], len(turn["hunks"])) == ("completed", "Done.", 1)


async def test_message_of_a_limit_mentions_proposals_only_if_there_are_any(root: Path) -> None:
    reads = [api.call("read_file", file="a.txt", start_line=n) for n in range(1, 12)]
    async with (
        OpenAIServer([*reads[:5], EDIT, *reads[:4]]) as server,
        FakeEditor.start(
            root, env=provider(server), settings={"agent": {"maxIterations": 5}}
        ) as editor,
    ):
        uri = editor.open("a.txt")
        nothing = await run(editor, "Read on", uri=uri)
        assert (nothing["state"], nothing["hunks"]) == ("limited", [])
        assert nothing["error"] == (
            "Stopped after 5 rounds (agent.maxIterations). Ask again to continue."
        )
        some = await run(editor, "Edit it", uri=uri)
        assert (some["state"], len(some["hunks"])) == ("limited", 1)
        assert some["error"].endswith("Its proposals are kept; ask again to continue.")
