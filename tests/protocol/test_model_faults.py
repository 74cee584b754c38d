"""Faults of a model, through a real provider on loopback: the turn ends with a sentence."""

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider, run
from tests.support.openai_server import End, OpenAIServer, Reply
from tests.support.proposals import IMPATIENT_SERVER

TEXT = "one\ntwo\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


async def turn_with(root: Path, *replies: api.Scripted, mode: str = "agent") -> Any:
    """Run a whole turn with these replies; check that server and text are as before."""
    async with (
        OpenAIServer(list(replies)) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await run(editor, "Do it", uri=uri, mode=mode)
        assert (await editor.command("stet.status"))["ready"]
        assert editor.text(uri) == TEXT
        return turn


async def test_an_unknown_tool_is_reported_to_the_model_which_goes_on(root: Path) -> None:
    turn = await turn_with(
        root, api.call("make_coffee", sugar=2), api.call("done", summary="No coffee.")
    )
    assert (turn["state"], turn["summary"]) == ("completed", "No coffee.")
    [coffee, _] = turn["toolCalls"]
    assert (coffee["tool"], coffee["state"]) == ("make_coffee", "error")
    assert coffee["error"] == "There is no tool 'make_coffee'."


async def test_broken_arguments_are_reported_to_the_model_and_kept_out_of_the_history(
    root: Path,
) -> None:
    broken = Reply(
        [
            api.delta(tool_calls=[api.piece(id="c1", name="read_file", arguments='{"file": "a')]),
            api.delta(finish="tool_calls"),
        ]
    )
    async with (
        OpenAIServer([broken, api.call("done", summary="Well.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        turn = await run(editor, "Do it")
        assert turn["state"] == "completed"
        assert "not a JSON object" in turn["toolCalls"][0]["error"]
        second = server.requests[1].body["messages"]
        assert second[-2]["tool_calls"][0]["function"]["arguments"] == "{}"
        assert second[-1]["role"] == "tool"


@pytest.mark.parametrize(
    ("replies", "state", "shown_text"),
    [
        ([api.say(""), api.say("")], "failed", "two empty answers"),
        ([Reply([api.delta(content="Hel")], end=End.CUT)] * 2, "failed", "cut off"),
        ([Reply([api.delta(content="Hel")], end=End.EOF)] * 2, "failed", "cut off"),
        ([Reply(body="<html>Log in</html>", content_type="text/html")], "failed", "web page"),
        ([api.error(401, "bad key")], "failed", "OPENAI_API_KEY"),
        ([api.error(404, "no such model")], "failed", "model.name"),
    ],
)
async def test_a_faulty_model_ends_the_turn_with_a_sentence(
    root: Path, replies: list[Reply], state: str, shown_text: str
) -> None:
    turn = await turn_with(root, *replies)
    assert (turn["state"], shown_text.lower() in turn["error"].lower()) == (state, True), turn[
        "error"
    ]
    assert "test-key" not in turn["error"]
    assert turn["hunks"] == []


async def test_a_provider_that_is_not_there_is_named(root: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        # The server is closed at once: then nothing listens at its address.
    env = {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": address, "no_proxy": "*"}
    settings = {"model": {"name": "m"}}
    async with FakeEditor.start(
        root, env=env, settings=settings, command=IMPATIENT_SERVER
    ) as editor:
        editor.open("a.txt")
        turn = await run(editor, "Do it")
        assert turn["state"] == "failed"
        assert "127.0.0.1" in turn["error"]


async def test_what_was_proposed_before_the_model_died_stays(root: Path) -> None:
    proposal = api.call("edit_file", file="a.txt", old_text="two", new_text="2")
    async with (
        OpenAIServer([proposal, api.error(401, "revoked")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await run(editor, "Do it", uri=uri)
        assert turn["state"] == "failed"
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await editor.wait_until(lambda: editor.text(uri) == "one\n2\n")


async def test_a_package_that_is_missing_is_reported_with_what_to_do(root: Path) -> None:
    without = "import sys; sys.modules['openai'] = None; from stet.cli.main import main; main()"
    command = (sys.executable, "-I", "-c", without, "serve")
    async with (
        OpenAIServer() as server,
        FakeEditor.start(root, env=provider(server), command=command) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert (turn["state"], turn["error"]) == (
            "failed",
            "A package that Stet needs can't be loaded (import of openai halted; None in "
            "sys.modules). Reinstall `stet-lsp` in Stet's environment.",
        )
        assert (await editor.command("stet.status"))["ready"]


@pytest.mark.parametrize("n_chunks", [0, 1, 4])
async def test_cancel_is_silence_within_200_ms_at_any_point(root: Path, n_chunks: int) -> None:
    chunks = [api.delta(content=f"word {n} ") for n in range(n_chunks)]
    async with (
        OpenAIServer([Reply(chunks, end=End.HANG)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await ask(editor, "Go on for ever", uri=uri)
        await server.asked(1)
        async with asyncio.timeout(0.2):
            assert (await editor.command("stet.cancel", {"turn": turn}))["turns"] == [turn]
            await server.left()
        ended = await end_of(editor, turn)
        assert (ended["state"], ended["hunks"]) == ("cancelled", [])


async def test_the_progress_in_the_editor_stops_a_turn(root: Path) -> None:
    async with (
        OpenAIServer([Reply([], end=End.HANG)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        turn = await ask(editor, "Go on for ever")
        await server.asked(1)
        await editor.wait_until(lambda: editor.progress_reports)
        editor.stop_progress(next(iter(editor.progress_reports)))
        assert (await end_of(editor, turn))["state"] == "cancelled"
        await server.left()


async def test_server_without_tool_calls_gets_the_text_protocol_from_then_on(root: Path) -> None:
    refused = api.error(400, "Unrecognized request argument supplied: tools")
    words = '<tool_call>\n{"name": "done", "arguments": {"summary": "Well."}}\n</tool_call>'
    async with (
        OpenAIServer([refused, api.say(words), api.say(words)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        first, second = await run(editor, "Do it"), await run(editor, "Again")
        assert [turn["state"] for turn in (first, second)] == ["completed", "completed"]
        [note] = first["notes"]
        assert "does not support tool calls (Unrecognized request argument supplied: tools)" in note
        assert second["notes"] == []
        assert ["tools" in asked.body for asked in server.requests] == [True, False, False]
        assert len([one for one in editor.messages if note in one.message]) == 1


async def test_uncertain_tool_refusal_counts_only_if_the_text_protocol_works_and_no_call_did(
    root: Path,
) -> None:
    doubtful = api.error(400, "bad tools")
    async with (
        OpenAIServer([doubtful, doubtful, api.call("done", summary="Well."), doubtful]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.txt")
        turns = [await run(editor, prompt) for prompt in ("One", "Two", "Three")]
        assert [turn["state"] for turn in turns] == ["failed", "completed", "failed"]
        assert ["tools" in asked.body for asked in server.requests] == [True, False, True, True]
